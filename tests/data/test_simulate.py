import hashlib

import numpy as np
import pytest
from scipy import stats

from slimline.data import PopulationModel, simulate_genotypes
from slimline.data import _simulate as model_module
from tests.refusals import refuses


def test_shapes_types_and_values():
    people = simulate_genotypes(101, 700, n_populations=4, fst=0.05, seed=1)
    assert people.X.shape == (101, 700) and people.X.dtype == np.int8
    assert set(np.unique(people.X)) == {0, 1, 2}
    assert sorted(np.bincount(people.populations)) == [25, 25, 25, 26]
    assert people.frequencies.shape == (4, 700)
    assert people.X.flags.c_contiguous


def test_same_seed_same_people():
    one, two = (simulate_genotypes(50, 600, seed=3) for _ in range(2))
    assert np.array_equal(one.X, two.X) and np.array_equal(one.populations, two.populations)
    assert not np.array_equal(one.X, simulate_genotypes(50, 600, seed=4).X)


def test_fewer_variants_are_the_first_of_more():
    few, many = simulate_genotypes(40, 700, seed=0), simulate_genotypes(40, 2000, seed=0)
    assert np.array_equal(few.X, many.X[:, :700])
    assert np.array_equal(few.frequencies, many.frequencies[:, :700])


def test_blocks_do_not_show(monkeypatch):
    whole = simulate_genotypes(200, 600, n_populations=2, seed=0)
    monkeypatch.setattr(model_module, "_BLOCK_ENTRIES", 1024 * 7)
    assert np.array_equal(whole.X, simulate_genotypes(200, 600, n_populations=2, seed=0).X)


def test_blocks_do_not_show_in_what_is_missing(monkeypatch):
    settings = {"n_populations": 4, "n_regions": 2, "missing_rate": 0.2, "seed": 5}
    whole = simulate_genotypes(200, 600, **settings)
    monkeypatch.setattr(model_module, "_BLOCK_ENTRIES", 1024 * 3)
    assert np.array_equal(whole.X, simulate_genotypes(200, 600, **settings).X)


@pytest.mark.parametrize(
    "arguments, digest",
    [
        ((101, 700, 4, 0.05, 1), "38e8158dfd0263620c99c8b804f0aaae2762c50def5eab5f1a677638382a9bb4"),
        ((37, 1300, 5, 0.02, 0), "187b969a222c4fe1f04f64e7586e53a5a5c95b7cd2bf91c390c921d50d8225b8"),
        ((9000, 40, 3, 0.1, 7), "00e8d8bd241d7c90bba4f2e9230b99e9ab730f2a758b8a066c3471fb40ca78c6"),
    ],
)
def test_a_seed_means_the_same_people_for_ever(arguments, digest):
    """Digests of the first version; a change of them breaks what users have written down about their seeds."""
    people = simulate_genotypes(*arguments)
    content = people.X.tobytes() + people.populations.tobytes() + people.frequencies.tobytes()
    assert hashlib.sha256(content).hexdigest() == digest


def test_genotypes_follow_the_frequencies(global_random_seed):
    """Hardy-Weinberg: each sum below is within 6 standard deviations, so fails with probability < 1e-8."""
    people = simulate_genotypes(600, 4096, n_populations=3, fst=0.05, seed=global_random_seed)
    f = people.frequencies.astype(float)[people.populations]
    for observed, probability in (
        (people.X == 0, (1 - f) ** 2),
        (people.X == 1, 2 * f * (1 - f)),
        (people.X == 2, f**2),
    ):
        spread = np.sqrt(np.sum(probability * (1 - probability)))
        assert abs(observed.sum() - probability.sum()) < 6 * spread
    # two copies of a person are independent, and so are people: the variance of allele counts is binomial
    z = np.sum((people.X - 2 * f) ** 2) / np.sum(2 * f * (1 - f))
    assert z == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("fst", [0.01, 0.1])
def test_populations_drift_as_far_as_fst_says(fst, global_random_seed):
    """E (f₁ - f₂)² = 2 F E p(1 - p) = 0.365 F; the mean over 40,960 variants has a spread below 0.9 %: 7 of them."""
    f = simulate_genotypes(4, 40960, n_populations=2, fst=fst, seed=global_random_seed).frequencies
    assert np.mean((f[0] - f[1]) ** 2, dtype=float) == pytest.approx(0.365 * fst, rel=0.063)
    assert np.mean(f, dtype=float) == pytest.approx(0.5, abs=0.012)


def _require_zero_mean(values):
    """7 standard errors, 3e-12 for a normal mean; the means below are over 40,960 and more independent terms."""
    error = values.std() / np.sqrt(values.size)
    assert abs(values.mean()) < 7 * error


@pytest.mark.parametrize("fst, fst_region", [(0.01, 0.1), (0.05, 0.03), (0.2, 0.4)])
def test_each_level_drifts_by_its_own_fst(fst, fst_region, global_random_seed):
    """Given p: E f = p, Var f = (Fr + F - F Fr) p(1 - p); Cov is Fr p(1 - p) within a region and 0 between two."""
    d = 40960
    settings = {"n_populations": 6, "n_regions": 3, "fst": fst, "fst_region": fst_region, "seed": global_random_seed}
    f = simulate_genotypes(6, d, **settings).frequencies.astype(float)
    streams = (PopulationModel(6, **settings)._generator(1, k) for k in range(d // 512))
    p = np.concatenate([rng.uniform(0.05, 0.95, 512) for rng in streams])  # the first that a stream is used for
    unit = p * (1 - p)
    shift = f - p
    for k in range(6):
        _require_zero_mean(shift[k])
        _require_zero_mean(shift[k] ** 2 - (fst_region + fst - fst * fst_region) * unit)
        for other in range(k):
            same = k // 2 == other // 2
            _require_zero_mean(shift[k] * shift[other] - (fst_region * unit if same else 0.0))


def test_one_region_is_no_level(global_random_seed):
    f = simulate_genotypes(2, 40960, n_populations=2, fst=0.05, fst_region=0.9, seed=global_random_seed).frequencies
    p = np.concatenate(
        [PopulationModel(2, 2, seed=global_random_seed)._generator(1, k).uniform(0.05, 0.95, 512) for k in range(80)]
    )
    _require_zero_mean((f[0] - p) ** 2 - 0.05 * p * (1 - p))


def test_regions_that_lost_an_allele_do_not_break_the_draws():
    people = simulate_genotypes(8, 5000, n_populations=4, n_regions=2, fst=0.5, fst_region=0.99, seed=0)
    assert np.isfinite(people.frequencies).all()
    assert np.mean((people.frequencies < 1e-3) | (people.frequencies > 1 - 1e-3)) > 0.8


def test_populations_are_shared_out_among_regions():
    people = simulate_genotypes(100, 10, n_populations=7, n_regions=3, seed=0)
    region_of = dict(zip(people.populations.tolist(), people.regions.tolist(), strict=True))
    assert [region_of[k] for k in range(7)] == [0, 0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("rate", [0.0005, 0.1, 0.9])
def test_calls_are_lost_at_the_given_rate_and_change_nothing_else(rate, global_random_seed):
    """The number lost is binomial, and so is that of pairs of neighbours: both tails at 1e-8."""
    n, d = 500, 2000
    lost = simulate_genotypes(n, d, seed=global_random_seed, missing_rate=rate).X
    whole = simulate_genotypes(n, d, seed=global_random_seed).X
    gone = lost == -127
    assert np.array_equal(lost[~gone], whole[~gone])
    across, along = gone[0::2] & gone[1::2], gone[:, 0::2] & gone[:, 1::2]
    for events, probability in ((gone, rate), (across, rate**2), (along, rate**2)):
        law, seen = stats.binom(events.size, probability), int(events.sum())
        assert law.cdf(seen) > 1e-8 and law.sf(seen - 1) > 1e-8


def test_progress_is_told():
    seen = []
    simulate_genotypes(10, 1300, seed=0, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(512, 1300), (1024, 1300), (1300, 1300)]


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_samples", 0), ("n_samples", 2.5), ("n_samples", True), ("n_features", -1), ("n_populations", 0),
        ("n_populations", 11), ("fst", 0.0), ("fst", 1.0), ("fst", float("nan")), ("fst", "far"), ("seed", -1),
        ("seed", 0.5), ("n_regions", 3), ("n_regions", 0), ("fst_region", 1.0), ("missing_rate", 1.0),
        ("missing_rate", -0.1), ("missing_rate", float("nan")), ("missing_rate", True),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(name, value):
    good = {"n_samples": 10, "n_features": 20, "n_populations": 2, "fst": 0.1, "seed": 0}
    with refuses(name):
        simulate_genotypes(**(good | {name: value}))
