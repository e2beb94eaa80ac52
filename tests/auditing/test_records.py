"""The record of an audit: JSON, text, what it holds."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from slimline import audit
from slimline.auditing import Audit
from slimline.auditing._words import counted
from tests.auditing.clouds import clouds, several

pytestmark = pytest.mark.filterwarnings("ignore:The number of components is higher")


def cases():
    X, y = clouds(12, 30, 3.0, seed=0)
    three, codes = several(12, 3, 30, seed=1)
    contradiction = np.r_[X, X[:1]], np.r_[y, 1 - y[:1]]
    return {
        "two classes": (X, y, {"n_components": 8}),
        "not separable": (*contradiction, {"n_components": 8}),
        "three classes": (three, codes, {"n_components": 8}),
        "no labels": (X, None, {"n_components": 8}),
        "one row": (X[:1], None, {"n_components": 8}),
        "zeros": (np.zeros((3, 30)), None, {"n_components": 8}),
        "equal rows": (np.ones((4, 30)), [0, 1, 0, 1], {"n_components": 8}),
        "one dimension": (X, y, {"n_components": 1}),
        "more than features": (X, y, {"n_components": 500}),
        "hidden rank": (1.0 + 1e-9 * X, y, {"n_components": 8}),
        "sparse": (X * (X > 1.0) + 1e-3, y, {"n_components": 8, "projection": "cw"}),
        "float32": (X.astype(np.float32), y, {"n_components": 8}),
    }


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [one for item in value for one in numbers(item)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("name", cases())
def test_json_round_trip(name):
    X, y, settings = cases()[name]
    found = audit(X, y, repeats=2, **settings)
    record = found.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    # plain values, none of NumPy's, whose types other libraries choke on
    assert {type(one) for one in numbers(record)} <= {int, float, str, bool, type(None)}
    fields = set(Audit.__dataclass_fields__) - {"cosines_before", "cosines_after"}
    assert set(record) == fields
    assert record["outcome"] == found.outcome and record["verdict"] == list(found.verdict)
    for kept, plain in zip(found.margins, record["margins"], strict=True):
        assert plain["after"] == list(kept.after) and plain["before"] == kept.before
        assert len(kept.after) == len(kept.after_lower) == len(kept.after_upper) == 2
        for value, low, high in zip(kept.after, kept.after_lower, kept.after_upper, strict=True):
            assert low <= value <= high


@pytest.mark.parametrize("name", cases())
def test_text(name):
    X, y, settings = cases()[name]
    found = audit(X, y, repeats=2, **settings)
    lines = str(found).splitlines()
    assert lines[0].endswith(f"{found.family} projection to {counted(found.n_components, 'component')}, 2 draws")
    assert lines[2] == f"Verdict: {found.outcome.upper()}"
    assert lines[3 : 3 + len(found.verdict)] == [f"- {said}" for said in found.verdict]
    for kept in (*found.margins, found.ball, found.embedding):
        assert sum(line.startswith(f"{kept.name:36}") for line in lines) == 1
    table = [line for line in lines if line.startswith(("margin", "normalised", "enclosing", "embedding", "largest"))]
    assert {len(line.rstrip()) for line in table} <= set(range(80, 105))
    assert [line for line in lines if line.startswith("Note: ")] == [f"Note: {note}" for note in found.notes]


def test_one_draw_is_one():
    X, y, settings = cases()["two classes"]
    assert str(audit(X, y, repeats=1, **settings)).splitlines()[0].endswith(", 1 draw")


def test_repr_is_short_and_records_can_be_compared():
    X, y = clouds(40, 300, 3.0, seed=0)
    found, again = (audit(X, y, n_components=16, repeats=2) for _ in range(2))
    assert "array(" not in repr(found) and len(repr(found)) < 20_000
    assert found.margins == again.margins and found.pairs == again.pairs and found.ball == again.ball
    with pytest.raises(FrozenInstanceError):
        found.outcome = "kept"


def test_samples_for_pictures():
    X, y = clouds(30, 100, 3.0, seed=2)
    found = audit(X, y, n_components=16, repeats=3)
    assert found.cosines_before.shape == found.cosines_after.shape == (30,)
    same = next(kept for kept in found.margins if kept.name.endswith("same separator"))
    assert found.cosines_before.min() == same.before and found.cosines_after.min() == same.after[0]
    for pairs in found.pairs:
        assert pairs.sample_before.shape == pairs.sample_after.shape == (435,)
    assert audit(X, n_components=16, repeats=1).cosines_before.size == 0


def test_ratios():
    X, y = clouds(12, 30, 3.0, seed=0)
    found = audit(X, y, n_components=8, repeats=3)
    assert np.isnan(found.embedding.ratios).all() and found.embedding.ratios.shape == (3,)
    assert found.ball.ratios.tolist() == [after / found.ball.before for after in found.ball.after]
