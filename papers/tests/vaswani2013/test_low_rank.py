"""Figs. 5a and 5b: errors against the rank."""

import numpy as np
import pytest

from papers.tests.doctored import judged
from papers.tests.replayed import replayed
from papers.tests.vaswani2013.changed import changed, verdicts
from slimline import CertifiedClassifier, GaussianProjection, geometry
from slimline.projections import Projection
from slimline_papers import Table, find_items
from slimline_papers.vaswani2013.corollary2 import error_in_the_limit, fluctuations
from slimline_papers.vaswani2013.low_rank import _RowSpace, projections_for, recovery_error


def _data(n=30, d=400):
    rng = np.random.default_rng(0)
    return 40 * rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # errors too large for a proof
def test_errors_are_those_of_the_classifier_on_the_approximation():
    X, y = _data()
    left, S, right = np.linalg.svd(X, full_matrices=False)
    approximation = (left[:, :12] * S[:12]) @ right[:12]
    model = CertifiedClassifier(
        loss="squared", recovery="dual", method="sketch", projection="gaussian", n_components=120, fit_intercept=False,
        random_state=3,
    ).fit(approximation, y)  # fmt: skip
    exact = approximation.T @ np.linalg.solve(approximation @ approximation.T + np.eye(30), y)
    projection = Projection.from_json(model.projections_[0])
    error, embedding = _RowSpace(X, y).errors(X @ projection.rows(0, 400), 12)
    np.testing.assert_allclose(error, np.linalg.norm(model.coef_[0] - exact) / np.linalg.norm(exact), rtol=1e-3)
    np.testing.assert_allclose(embedding, geometry.embedding_error(approximation, projection).value, rtol=1e-6)


def test_the_law_of_the_error_is_that_of_an_inverse_wishart_matrix():
    # 4,000 matrices; the squared error has a standard deviation of about half its mean: 6 standard errors are 5 %
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4000, 8, 60))
    inverse = np.linalg.inv(A @ A.swapaxes(1, 2) / 60)
    squares = np.sum((inverse[:, :, 0] - np.eye(8)[0]) ** 2, axis=1)
    spread = squares.std() / np.sqrt(4000)
    assert abs(squares.mean() - recovery_error(8, 60) ** 2) < 6 * spread


def test_fewer_projections_make_larger_errors():
    assert recovery_error(20, projections_for(0.5, 20)) == pytest.approx(0.5)
    assert recovery_error(20, 10_000) == pytest.approx(np.sqrt(21 / 10_000), rel=0.01)


def test_columns_of_a_sketch_are_a_sketch():
    X, _ = _data()
    large = GaussianProjection(200, random_state=1).fit_transform(X)
    small = large[:, :100] * np.sqrt(2)
    np.testing.assert_allclose((small**2).sum(), (X**2).sum(), rtol=0.2)


def _table(error, ranks=(5, 10, 20, 40, 60, 80, 100, 150, 200, 300)):
    """Ten runs at r = 900 with an error that is a function of the rank; embedding errors as they are on average."""
    limit = error_in_the_limit(np.array(ranks), 900)
    rows = []
    for rank, found in zip(ranks, limit, strict=True):
        embedding = found - 1.2 * found / fluctuations(rank, 900, 2 * found)  # one fluctuation being the quotient
        rows += [("dorothea", rank, 900, run, float(error(rank)), float(embedding)) for run in range(10)]
    return Table(find_items(["vaswani2013.fig5a"])[0].experiment.columns, tuple(rows))


def _verdict(table):
    (finding,) = judged("vaswani2013.fig5a", table)
    return finding.holds, finding.corrected_holds


@pytest.mark.parametrize("most", [100, 200, 300])
def test_fig5a_is_told_from_a_line_whatever_the_highest_rank(most):
    ranks = [rank for rank in (5, 10, 20, 40, 60, 80, 100, 150, 200, 300) if rank <= most]
    by_law = _table(lambda rank: recovery_error(rank, 900), ranks)
    assert _verdict(by_law) == (False, True)
    assert _verdict(_table(lambda rank: 0.0038 * rank, ranks)) == (True, False)
    linear_embedding = changed(by_law, "embedding", lambda row: 3 * row["rank"] / row["r"])
    assert _verdict(linear_embedding) == (False, False)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_fig5a_follows_the_law_and_not_a_line():
    table, findings = replayed("vaswani2013.fig5a")
    assert [finding.holds for finding in findings] == [False, False]
    assert [finding.corrected_holds for finding in findings] == [True, True]
    straight = changed(table, "error", lambda row: 3 * row["rank"] / row["r"])
    assert [finding.holds for finding in judged("vaswani2013.fig5a", straight)] == [True, True]
    assert [finding.corrected_holds for finding in judged("vaswani2013.fig5a", straight)] == [False, False]


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_fig5a_doubles_where_the_rank_is_four_times_as_high():
    table, _ = replayed("vaswani2013.fig5a")
    rows = table.where(data="arcene", r=900)
    embedding = [rows.where(rank=rank).mean("embedding") for rank in (20, 80)]
    assert 1.8 < embedding[1] / embedding[0] < 2.6  # a line: 4
    assert np.all(np.abs(embedding / error_in_the_limit([20, 80], 900) - 1) < 0.2)


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_fig5b_is_linear_in_the_rank_but_not_for_the_printed_reason():
    table, findings = replayed("vaswani2013.fig5b")
    assert [finding.holds for finding in findings] == [True, True, False] * 2
    assert [finding.corrected_holds for finding in findings] == [None, None, True] * 2
    kept = changed(table, "embedding", lambda _: 0.3)
    assert verdicts("vaswani2013.fig5b", kept) == [True, True, True] * 2
    # an error that is 0.5 at r = 3 ρ ln ρ
    product = changed(table, "error", lambda row: 0.5 * np.sqrt(3 * row["rank"] * np.log(row["rank"]) / row["r"]))
    assert verdicts("vaswani2013.fig5b", product)[0] is False
