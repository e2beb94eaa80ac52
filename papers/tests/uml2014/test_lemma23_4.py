"""Lemma 23.4: the largest distortion over a finite set."""

import numpy as np
import pytest
from scipy import stats

from papers.tests.doctored import with_column
from papers.tests.replayed import replayed
from slimline.projections import Gaussian
from slimline_papers.uml2014 import lemma23_4


def test_what_holds_and_what_does_not():
    _, (small, large, union) = replayed("uml2014.lemma23_4")
    assert small.holds
    assert not large.holds and large.corrected_holds
    assert union.holds


def test_the_printed_lemma_fails_as_often_as_the_law_says():
    # 22 % where 5 % are allowed: 400 matrices, 6 standard deviations
    table, _ = replayed("uml2014.lemma23_4")
    row = table.where(kind="orthogonal vectors", vectors=2_000, r=8)
    eps = np.sqrt(6 * np.log(2 * 2_000 / 0.05) / 8)
    assert row["printed_eps"][0] == pytest.approx(eps)
    chance = 1 - (1 - stats.chi2.sf(8 * (1 + eps), 8)) ** 2_000
    assert chance > 0.2
    assert abs(row["beyond_printed"][0] / 400 - chance) < 6 * np.sqrt(chance * (1 - chance) / 400)


def test_the_union_over_exact_tails():
    for r, vectors in [(8, 2_000), (128, 10)]:
        eps = lemma23_4._exact_eps(r, vectors)
        tails = stats.chi2.sf(r * (1 + eps), r) + stats.chi2.cdf(r * max(1 - eps, 0), r)
        assert vectors * tails == pytest.approx(0.05, rel=1e-6)


def test_the_largest_distortions_by_hand():
    R = np.asarray(Gaussian(2_000, 8, 3).rows(0, 2_000))
    off = np.abs(np.sum(R**2, axis=1) - 1)
    assert lemma23_4._worst_of_vectors(8, 3) == pytest.approx([off[:n].max() for n in (10, 100, 1_000, 2_000)])

    points = np.random.default_rng(3).standard_normal((64, 500))
    R = np.asarray(Gaussian(500, 8, 3).rows(0, 500))
    pairs = [points[i] - points[j] for i in range(15) for j in range(i)]
    off = [abs(np.sum((x @ R) ** 2) / np.sum(x**2) - 1) for x in pairs]
    assert lemma23_4._worst_of_differences(8, 3)[1] == pytest.approx(max(off))


def test_a_larger_distortion_is_noticed():
    table, _ = replayed("uml2014.lemma23_4")
    more = with_column(table, "beyond_printed", lambda row: row["matrices"] // 2)
    assert not lemma23_4.LEMMA23_4.judge(more)[0].holds
    more = with_column(table, "beyond_exact", lambda row: row["matrices"] // 4)
    _, large, union = lemma23_4.LEMMA23_4.judge(more)
    assert not union.holds and not large.corrected_holds
    none = with_column(table, "beyond_printed", lambda row: 0)
    assert lemma23_4.LEMMA23_4.judge(none)[1].holds
