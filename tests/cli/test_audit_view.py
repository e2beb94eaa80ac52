"""An audit in the terminal: every number stands in it, at any width; no guarantee is not shown as kept."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from slimline import audit
from slimline._base.text import amount, short_percent
from slimline.cli._audit import audit_code, audit_view
from tests.snapshots import check_snapshot
from tests.tiers import each_once


def _classes(n, d, classes, apart, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((classes, d))[y], y


def _intercept():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.standard_normal((40, 3)) * 0.1 + np.outer(10.0 + 3.0 * y, [1.0, 0.0, 0.0]), y


CASES = {
    "kept": lambda: audit(*_classes(40, 400, 2, 1.0), n_components=300, repeats=3),
    "lost": lambda: audit(*_classes(40, 60, 2, 0.3), n_components=4, repeats=3, projection="cw"),
    "several": lambda: audit(*_classes(40, 400, 4, 1.0), n_components=200, repeats=3, projection="osnap"),
    "not separable": lambda: audit(*_classes(90, 5, 2, 0.0), n_components=4, repeats=3),
    "not separable, several": lambda: audit(*_classes(90, 5, 3, 0.0), n_components=4, repeats=3),
    "with an intercept": lambda: audit(*_intercept(), n_components=3, repeats=3),
    "no labels": lambda: audit(_classes(40, 400, 2, 1.0)[0], n_components=300, repeats=3, projection="very_sparse"),
    "one draw, large numbers": lambda: audit(1e5 * _classes(40, 400, 2, 1.0)[0], n_components=100, repeats=1),
    "one point": lambda: audit(np.ones((1, 400)), n_components=100, repeats=2),
    "origin": lambda: audit(np.zeros((3, 400)), n_components=100, repeats=2),
}  # fmt: skip


@pytest.fixture(scope="module")
def made():
    return {name: make() for name, make in CASES.items()}


def _text(found, width=100):
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(audit_view(found, "labels of somewhere"))
    return capture.get()


def _section(text, begins):
    """Return what stands below a heading, up to the next."""
    parts = re.split(r"^(\S.*) ─+$", text, flags=re.MULTILINE)
    (below,) = [parts[k + 1] for k in range(1, len(parts), 2) if parts[k].startswith(begins)]
    return below


@pytest.mark.parametrize("name, widths", each_once(CASES, [(44, 80), (60, 100), (75, 160), (76, 77), (72, 79)]))
def test_it_fits_its_terminal_and_nothing_is_cut(made, name, widths):
    found = made[name]
    for width in widths:
        text = _text(found, width)
        assert max(map(len, text.splitlines())) <= width
        assert "nan" not in text and "inf" not in re.split(r"\W+", text) and "None" not in text
        assert "…" not in (text if width >= 80 else _section(text, "Before, and after"))
        lines = _section(text, "Before, and after").splitlines()
        for kept in (*found.margins, found.ball, found.embedding):
            first = kept.name.split()[0]
            least = amount(min(kept.after))
            assert any(
                re.match(rf"  {first}.* {re.escape(amount(kept.before))} +{re.escape(least)}( |$)", line)
                for line in lines
            )


@pytest.mark.parametrize("name", ["lost", "several", "origin"])
def test_the_whole_view(made, name):
    text = _text(replace(made[name], seconds=0.25))
    check_snapshot(Path(__file__).parent / "snapshots" / f"audit, {name}.txt", text)


@pytest.mark.parametrize("name", CASES)
def test_every_number_stands_in_its_line(made, name):
    found, text = made[name], _text(made[name], 160)
    for kept in (*found.margins, found.ball, found.embedding):
        (line,) = [line for line in text.splitlines() if re.match(rf"  {kept.name} +[-\d]", line)]
        values = [kept.before, min(kept.after), np.median(kept.after), max(kept.after)]
        shown = line.removeprefix(f"  {kept.name}").split()
        assert shown[:4] == [amount(value) for value in values]
        assert shown[4] == (f"{np.median(kept.ratios):.2f}" if kept.before > 0 else "–")
        assert (f"{kept.within.held} of {kept.within.draws}" in line) if kept.within else shown[5:] == ["–", "–"]
    for pairs in found.pairs:
        lines = [line for line in text.splitlines() if re.match(rf"  {pairs.name} +[>\d]", line)]
        assert len(lines) == (pairs.n_pairs > 0)
        if lines:
            shown = lines[0].removeprefix(f"  {pairs.name}").split()
            assert shown[0] == short_percent(np.mean(pairs.share_within)) and shown[1] == short_percent(pairs.predicted)
            assert shown[4] == amount(max(pairs.largest))
    for sentence in (*found.verdict, *found.notes):
        assert sentence.replace(" %", "%") in " ".join(text.replace("│", " ").split())
    for check in found.brackets:
        assert f"{check.about}, {check.bound}" in text
    assert ("Bounds from the embedding error" in text) == bool(found.brackets)


@pytest.mark.parametrize("name", CASES)
def test_promises_are_shown_where_they_say_something_and_named_where_not(made, name):
    found = made[name]
    table, _, rest = _section(_text(found, 160), "Guarantees of theorems").partition("•")
    rows = [" ".join(line.split()) for line in table.splitlines()]
    points = [" ".join(point.split()) for point in rest.split("•")]
    numbers = [(kept.name, one) for kept in (*found.margins, found.ball, found.embedding) for one in kept.promises]
    numbers += [(f"change of {pairs.name}", one) for pairs in found.pairs for one in pairs.promises]
    for about, promise in numbers:
        here = [row for row in rows if re.match(rf"{re.escape(f'{about}, {promise.bound}')}\*? [≥≤>\d]", row)]
        margin = promise.kind == "theorem" and promise.low is not None and promise.high is None
        empty = (margin and promise.low <= 0.0) or (about == "change of angles" and (promise.high or 0.0) >= 2.0)
        if promise.frequency is None or empty:
            assert not here
            assert any(point.startswith(f"{promise.bound} guarantees no") and about in point for point in points)
        else:
            held = f"{promise.frequency.held} of {promise.frequency.draws}"
            assert any(held in row and ("* " in row) == bool(promise.note) for row in here), (about, promise.bound)
            assert not promise.note or f"* {promise.note}." in " ".join(rows)
    assert ("No guarantee applies to these numbers." in rows) == (not numbers)


def test_numbers_as_they_are_written():
    said = [amount(x) for x in (0.0, -0.0, 0.12345, -0.0087, 12.3, 999.4, 1000.0, 123456.7, 1.5e6, 2e-15)]
    assert said == ["0", "0", "0.123", "-0.0087", "12.3", "999", "1,000", "123,457", "1.5e+06", "2e-15"]
    said = [short_percent(x) for x in (0.0, 1e-5, 0.123456, 0.9994, 0.99951, 1.0 - 1e-12, 1.0)]
    assert said == ["0%", "<0.1%", "12.3%", "99.9%", ">99.9%", ">99.9%", "100%"]


def test_the_code_leaves_out_what_was_not_given():
    settings = {"projection": "cw", "n_components": None, "repeats": 2, "rows": None}
    code = audit_code("open_matrix('x.npy')", settings, False, True)
    assert code.splitlines()[2:] == [
        "X = open_matrix('x.npy')",
        'found = audit(X, projection="cw", repeats=2, rows=None)',
        "print(found)",
    ]
    code = audit_code("open_matrix('x.npy')", settings | {"n_components": 7}, True, False)
    assert 'X = open_matrix(\'x.npy\').standardised("mean", "std", "mean")' in code
    assert 'audit(X, y, projection="cw", n_components=7, repeats=2, rows=None)  # y: the label of each row' in code
