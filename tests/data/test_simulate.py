import numpy as np
import pytest

from slimline.data import simulate, simulate_genotypes
from slimline.errors import InvalidParameterError


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
    monkeypatch.setattr(simulate, "_BLOCK_ENTRIES", 1024 * 7)
    assert np.array_equal(whole.X, simulate_genotypes(200, 600, n_populations=2, seed=0).X)


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


def test_progress_is_told():
    seen = []
    simulate_genotypes(10, 1300, seed=0, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(512, 1300), (1024, 1300), (1300, 1300)]


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_samples", 0), ("n_samples", 2.5), ("n_samples", True), ("n_features", -1), ("n_populations", 0),
        ("n_populations", 11), ("fst", 0.0), ("fst", 1.0), ("fst", float("nan")), ("fst", "far"), ("seed", -1),
        ("seed", 0.5),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(name, value):
    good = {"n_samples": 10, "n_features": 20, "n_populations": 2, "fst": 0.1, "seed": 0}
    with pytest.raises(InvalidParameterError, match=name):
        simulate_genotypes(**(good | {name: value}))
