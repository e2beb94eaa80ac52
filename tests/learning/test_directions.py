"""The model of K after some directions are known: exact on their span, positive semi-definite, never further off."""

import numpy as np
import pytest

from slimline.learning.problem import ExactSubspace, orthonormal_part
from slimline.learning.surrogate import FeatureSurrogate, GramSurrogate, gram_of, squares_are_safe


def case(seed, n=12, d=30, r=6, m=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1, d)
    Z = X @ rng.standard_normal((d, r)) / r**0.5
    K = X @ X.T
    directions, betas = ExactSubspace(n), []
    for _ in range(m):
        beta = rng.standard_normal(n)
        directions.add(beta, K @ beta)
        betas.append(beta)
    return K, Z, directions, np.array(betas).T


def written_out(model, directions, n):
    return np.column_stack([model.times(column, directions) for column in np.eye(n)])


@pytest.mark.parametrize("kind", [GramSurrogate, FeatureSurrogate])
def test_the_model_agrees_with_the_data_on_the_span_and_is_psd(kind, global_random_seed):
    for trial in range(10):
        K, Z, directions, betas = case(global_random_seed + trial)
        model = GramSurrogate(Z @ Z.T, 6) if kind is GramSurrogate else FeatureSurrogate(Z, 0.0)
        corrected = written_out(model, directions, 12)
        size = np.linalg.norm(K)
        np.testing.assert_allclose(corrected @ betas, K @ betas, atol=1e-10 * size * np.linalg.norm(betas))
        np.testing.assert_allclose(corrected, corrected.T, atol=1e-11 * size)
        assert np.linalg.eigvalsh(0.5 * (corrected + corrected.T))[0] >= -1e-10 * size


def test_it_is_the_block_update_of_its_formula(global_random_seed):
    K, Z, directions, B = case(global_random_seed)
    Khat = Z @ Z.T
    expected = (
        Khat
        - Khat @ B @ np.linalg.pinv(B.T @ Khat @ B, rcond=1e-12) @ B.T @ Khat
        + K @ B @ np.linalg.inv(B.T @ K @ B) @ B.T @ K
    )
    np.testing.assert_allclose(
        written_out(GramSurrogate(Khat, 6), directions, 12), expected, atol=1e-9 * np.linalg.norm(K)
    )


def test_directions_that_the_data_do_not_see_are_left_out():
    # one constant feature, and β of sum 0 beside a free intercept: βᵀKβ is rounding, and would be scaled up to 1
    beta = np.random.default_rng(0).standard_normal(5)
    beta -= beta.mean()
    K, directions = np.full((5, 5), 1e10), ExactSubspace(5)
    directions.add(beta, K @ beta)
    assert len(directions) == 0
    directions.add(beta + 1.0, K @ (beta + 1.0))
    assert len(directions) == 1


def test_both_models_are_one_with_a_constant_column():
    K, Z, directions, _ = case(1)
    gram, rows = GramSurrogate(gram_of(Z, 3.0), 6), FeatureSurrogate(Z, 3.0)
    size = np.linalg.norm(K)
    np.testing.assert_allclose(written_out(gram, directions, 12), written_out(rows, directions, 12), atol=1e-10 * size)
    np.testing.assert_allclose(gram.K, Z @ Z.T + 9.0, rtol=1e-13)


def test_more_directions_than_the_sketch_has_components():
    # all of the sketch is taken out then, and the data alone are left
    K, Z, directions, betas = case(2, n=12, r=3, m=7)
    for model in (GramSurrogate(Z @ Z.T, 3), FeatureSurrogate(Z, 0.0)):
        corrected = written_out(model, directions, 12)
        np.testing.assert_allclose(corrected @ betas, K @ betas, atol=1e-8 * np.linalg.norm(K) * np.linalg.norm(betas))


def test_directions_are_orthonormal_and_a_known_one_is_not_taken_in_twice():
    K, _, directions, betas = case(3)
    assert len(directions) == 4
    np.testing.assert_allclose(directions.vectors.T @ K @ directions.vectors, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(directions.products, K @ directions.vectors, atol=1e-9 * np.linalg.norm(K))
    directions.add(betas @ [1.0, 2.0, 3.0, 4.0], K @ betas @ [1.0, 2.0, 3.0, 4.0])
    directions.add(np.zeros(12), np.zeros(12))
    directions.add(betas[:, 0], -K @ betas[:, 0])  # not what a Gram matrix does
    assert len(directions) == 4


def test_orthonormal_part_leaves_out_what_is_zero():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 2))
    images = rng.standard_normal((7, 2)) @ A.T
    square = A @ A.T
    V = orthonormal_part(square, images)
    assert V.shape == (7, 2)
    np.testing.assert_allclose(V @ V.T, images @ np.linalg.pinv(square) @ images.T, atol=1e-10)
    assert orthonormal_part(np.zeros((0, 0)), np.zeros((7, 0))).shape == (7, 0)


def test_gram_of_a_sketch_far_from_one():
    rng = np.random.default_rng(0)
    for scale in (1e-25, 1e-10, 1.0, 1e10, 1e25):
        Z = (rng.standard_normal((6, 9)) * scale).astype(np.float32)
        wide = Z.astype(np.float64)
        K = gram_of(Z, 0.0)
        assert K.dtype == np.float64
        np.testing.assert_allclose(K, wide @ wide.T, rtol=1e-5, atol=1e-5 * scale**2)
        np.testing.assert_array_equal(K, K.T)
    assert squares_are_safe(np.zeros((2, 2)))
    assert not squares_are_safe(np.array([1e20]))
    assert not squares_are_safe(np.array([-1e-20]))


def test_a_small_penalty_asks_for_a_gram_matrix_without_negative_eigenvalues():
    """Centred rows: one eigenvalue is 0, and float32 would make it negative by more than a small penalty."""
    rng = np.random.default_rng(0)
    Z = (rng.standard_normal((40, 5000)) * 3.0).astype(np.float32)
    Z -= Z.mean(axis=0)
    wide = Z.astype(np.float64)
    lowest = {}
    for penalty in (None, 1e3, 1e-3):
        K = gram_of(Z, 0.0, penalty)
        np.testing.assert_allclose(K, wide @ wide.T, rtol=1e-4, atol=1e-4 * 5000)
        np.testing.assert_array_equal(K, K.T)
        lowest[penalty] = np.linalg.eigvalsh(K)[0]
    assert abs(lowest[1e3]) > 1e-6  # narrow is enough there
    assert abs(lowest[1e-3]) < 1e-7
    np.testing.assert_allclose(gram_of(Z, 2.0, 1e-3), wide @ wide.T + 4.0, rtol=1e-12, atol=1e-9)
