"""Fig. 2: people from sketched genotypes."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from papers.tests.doctored import finding, with_column
from papers.tests.replayed import replayed
from slimline.data import open_matrix, simulate_genotypes, write_genotypes
from slimline_papers.paul2013 import fig2

NAME = "paul2013.fig2"


def test_genotypes_are_coded_as_in_the_paper(tmp_path):
    arguments = {"missing_rate": 0.2, "seed": 3}
    write_genotypes(tmp_path / "people", 60, 3_000, **arguments)
    calls = simulate_genotypes(60, 3_000, **arguments).X
    X = fig2.coded(open_matrix(tmp_path / "people.bed"), seed=1)
    known = calls >= 0
    assert np.array_equal(X[known], calls[known] - 1)
    filled = X[~known]
    assert set(filled) == {-1, 0, 1}
    # 36,000 draws: 5.4 standard deviations of each frequency
    frequencies = np.array([np.mean(filled == value) for value in (-1, 0, 1)])
    assert np.all(np.abs(frequencies - 1 / 3) < 5.4 * np.sqrt(2 / 9 / filled.size))


def test_a_kernel_made_once_gives_the_machines_of_a_linear_one():
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 30)
    Z = rng.standard_normal((90, 12)) + 2.5 * np.eye(12)[:3].repeat(30, axis=0)
    shuffled = KFold(10, shuffle=True, random_state=0)
    wrong = 0
    for train, test in shuffled.split(labels):
        wrong += np.sum(SVC(kernel="linear", C=1000).fit(Z[train], labels[train]).predict(Z[test]) != labels[test])
    # two machines that stop at 1e-3 may differ by a point near the border
    assert abs(fig2._errors(Z @ Z.T, labels, shuffled)[0] - 100 * wrong / 90) <= 100 / 90 + 1e-9


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_the_claims_about_the_stand_ins():
    table, findings = replayed(NAME)
    assert [found.holds for found in findings] == [None, None, True, None, True]
    errors = [table.where(task="populations", r=r).mean("error_out") for r in table.distinct("r")]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_false_claims_are_found_out():
    table, _ = replayed(NAME)
    apart = with_column(table, "error_out", lambda row: row["error_out"] + 30 * (row["family"] == "FHT"))
    assert finding(NAME, apart, "three families").holds is False
    assert finding(NAME, with_column(table, "error_in", lambda row: 0.1), "trained on").holds is False
    assert finding(NAME, with_column(table, "error_out", lambda row: 5.0), "several times as hard").holds is False
