import numpy as np
import pytest
from scipy.optimize import minimize

from slimline import plan
from slimline.planning import Curve
from slimline.report._plan_figure import curve_labels, run_together, spread_out


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_places_are_the_nearest_that_do_not_overlap(size, global_random_seed):
    rng = np.random.default_rng([size, global_random_seed])
    wanted, heights = rng.random(size), rng.uniform(0.02, 0.1, size)
    places = spread_out(wanted, heights, 0.0, 1.0)
    order = np.argsort(wanted)
    x, h, w = places[order], heights[order], wanted[order]
    assert (np.diff(x) - (h[1:] + h[:-1]) / 2 > -1e-12).all()
    assert x[0] - h[0] / 2 > -1e-12 and x[-1] + h[-1] / 2 < 1 + 1e-12

    def room(x):  # between neighbours, and to both ends: none may be negative
        return np.concatenate([[x[0] - h[0] / 2], np.diff(x) - (h[1:] + h[:-1]) / 2, [1 - x[-1] - h[-1] / 2]])

    start = np.cumsum(h) - h / 2  # one above the other, from the bottom: allowed
    best = minimize(lambda x: np.sum((x - w) ** 2), start, constraints={"type": "ineq", "fun": room}, tol=1e-14)
    assert best.success and np.sum((x - w) ** 2) == pytest.approx(best.fun, abs=1e-9)


def test_those_that_have_room_stay_and_too_many_share_what_there_is():
    wanted, heights = np.array([0.8, 0.2, 0.5]), np.full(3, 0.1)
    np.testing.assert_allclose(spread_out(wanted, heights, 0.0, 1.0), wanted)
    places = spread_out(np.full(30, 0.5), np.full(30, 0.1), 0.0, 1.0)
    np.testing.assert_allclose(np.sort(places), (np.arange(30) + 0.5) / 30)
    np.testing.assert_allclose(spread_out(np.array([0.0, 0.0]), np.full(2, 0.2), 0.0, 1.0), [0.1, 0.3])
    assert spread_out(np.empty(0), np.empty(0), 0.0, 1.0).size == 0


def _curve(name, kind, low, high, factor):
    eps = np.geomspace(low, high, 20)
    return Curve(name, kind, tuple(eps), tuple(factor / eps**2))


def test_curves_run_together_where_the_eye_cannot_tell_them_apart():
    a = _curve("a", "theorem", 0.02, 0.9, 10.0)
    same = _curve("b", "theorem", 0.02, 0.3, 10.05)
    other_kind = _curve("c", "printed", 0.02, 0.9, 10.0)
    apart = _curve("d", "theorem", 0.02, 0.9, 11.0)
    elsewhere = _curve("e", "theorem", 0.95, 0.99, 10.0)
    assert run_together([a, other_kind, same, apart, elsewhere]) == [[a, same], [other_kind], [apart], [elsewhere]]


@pytest.fixture(scope="module")
def labels():
    found = plan(n_samples=200, n_features=5000, n_classes=4, margin=0.3, density=0.02)
    return found, curve_labels(found, 60)


def test_every_curve_has_one_label_of_lines_that_fit(labels):
    found, words = labels
    inside = [curve for label in words for curve in label.curves]
    assert sorted(map(id, inside)) == sorted(map(id, found.curves))
    assert max(len(line) for label in words for line in (*label.keeps, *label.names)) <= 60
    for label in words:
        assert label.lines == len(label.keeps) + len(label.names) >= 1
        assert label.end == (label.curves[0].eps[0], label.curves[0].dimension[0])


def test_labels_say_what_is_kept_and_by_whom(labels):
    _, words = labels
    said = [" ".join((*label.keeps, *label.names)) for label in words]
    assert "all distances · uml2014.23.4" in said
    assert "exact law: all distances" in said
    assert "inner products with all 100-sparse vectors · fard2012.2" in said
    assert any("as printed: does not hold" in text and "vaswani2013.c2" in text for text in said)
    assert any("as printed, constant 1" in text and text.endswith("paul2013.srht") for text in said)
    (gaussian,) = [label for label in words if len(label.curves) == 4 and "Gaussian" in " ".join(label.keeps)]
    assert " ".join(gaussian.keeps) == "the row space, margin of an SVM, objective of an SVM, enclosing ball, Gaussian"
    assert gaussian.names == ("vaswani2013.c2, paul2013.1, .1.soft, .2",)
