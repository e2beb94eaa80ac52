"""`slimline audit` with what cannot work: one line that says what to do, and no traceback."""

from pathlib import Path

import numpy as np
import pytest

from tests.cli.command import refusals, run_here
from tests.snapshots import check_snapshot

SNAPSHOTS = Path(__file__).parent / "snapshots"
N, D = 30, 80


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    np.save("data.npy", rng.standard_normal((N, D)) + y[:, None])
    np.save("labels.npy", y)
    np.save("one.npy", np.zeros(N))
    np.save("short.npy", y[:20])
    np.save("measured.npy", rng.standard_normal(N))
    lines = [f"s{k}\t{'ab'[c]}\t{k}" for k, c in enumerate(y)]
    Path("labels.tsv").write_text("\n".join(["sample\tstatus\tage", *lines]))


def _changed(name, **places):
    """Save the data with other rows or values."""
    X = np.load("data.npy")
    for place, value in places.values():
        X[place] = value
    np.save(name, X)


@pytest.mark.slow
def test_mistakes_come_before_any_work(monkeypatch, capsys, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())

    def no_work(*_, **__):
        raise AssertionError("work was begun")

    monkeypatch.setattr("slimline.auditing._auditor.measure_original", no_work)
    said = refusals(
        monkeypatch,
        capsys,
        "audit",
        [
            ["nowhere.npy"],
            ["data.unknown"],
            ["data.npy", "--format", "hdf6"],
            ["data.npy", "--labels", "none.tsv"],
            ["data.npy", "--labels", "labels.tsv"],
            ["data.npy", "--labels", "labels.tsv", "--target", "x"],
            ["data.npy", "--labels", "one.npy"],
            ["data.npy", "--labels", "short.npy"],
            ["data.npy", "--labels", "measured.npy"],
            ["data.npy", "--labels", "labels.npy", "--target", "x"],
            ["data.npy", "--target", "status"],
            ["data.npy", "--id", "who"],
            ["data.npy", "--dataset", "X"],
            ["data.npy", "--eps", "1"],
            ["data.npy", "--eps", "nan"],
            ["data.npy", "--delta", "0"],
            ["data.npy", "--rows", "1"],
            ["data.npy", "--rows", "-5"],
            ["data.npy", "--rows", "10001"],
            ["data.npy", "--rows", "many"],
            ["data.npy", "--seed", str(2**64)],
            ["data.npy", "--components", str(2**40)],
            ["data.npy", "--components", "1000000000"],
            ["data.npy", "--json", "no/folder/audit.json"],
            ["data.npy", "--figure", "no/folder/audit.png"],
            ["data.npy", "--figure", "audit.gif"],
        ],
    )
    check_snapshot(SNAPSHOTS / "audit mistakes.txt", said)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "arguments", [["--projection", "magic"], ["--components", "0"], ["--repeats", "0"], ["--seed", "-1"], ["--rows"]]
)
def test_options_that_are_none(monkeypatch, capsys, arguments):
    assert run_here(monkeypatch, "audit", "data.npy", *arguments) == 2
    said = capsys.readouterr()
    assert arguments[0] in said.err and "Traceback" not in said.err and not said.out
    if "magic" in arguments:
        assert "gaussian" in said.err and "osnap" in said.err


@pytest.mark.parametrize("family, parts", [("osnap", 4), ("generalised_cw", 16)])
def test_parameters_that_are_no_options_are_not_named(monkeypatch, capsys, family, parts):
    asked = ["data.npy", "--labels", "labels.npy", "--projection", family, "--components", "30"]
    said = refusals(monkeypatch, capsys, "audit", [asked])
    assert f"--components must be a multiple of {parts} " in said and "got 30." in said
    assert not any(name in said for name in ("nnz_per_feature", "n_stacks", "bucket_width"))


def test_places_are_those_of_the_file(monkeypatch, capsys):
    """Rows without a label are left out, and the others are not numbered anew."""
    _changed("missing.npy", one=((20, 5), np.nan))
    _changed("zeros.npy", one=(3, 0.0), two=(20, 0.0))
    np.save("some.npy", np.where(np.arange(N) % 7 == 1, np.nan, np.arange(N) % 2))
    assert "row 20, column 5" in refusals(monkeypatch, capsys, "audit", [["missing.npy", "--labels", "some.npy"]])
    assert "rows 3, 20 of" in refusals(monkeypatch, capsys, "audit", [["zeros.npy", "--labels", "some.npy"]])


def test_what_the_messages_advise_helps(monkeypatch, capsys):
    few = ["--components", "20", "--repeats", "1"]
    _changed("missing.npy", one=((20, 5), np.nan))
    assert run_here(monkeypatch, "audit", "missing.npy", "--labels", "labels.npy", *few, "--standardize") == 0
    _changed("zeros.npy", one=(3, 0.0), two=(20, 0.0))
    np.save("some.npy", np.where(np.isin(np.arange(N), [3, 20]), np.nan, np.arange(N) % 2))
    assert run_here(monkeypatch, "audit", "zeros.npy", "--labels", "some.npy", *few) == 0
    assert run_here(monkeypatch, "audit", "zeros.npy", *few) == 0  # without labels they are points like others


def test_data_that_cannot_be_measured(monkeypatch, capsys):
    X = np.load("data.npy")
    Path("junk.npy").write_text("nothing of the kind")
    Path("cut.npy").write_bytes(Path("data.npy").read_bytes()[:5000])
    np.save("words.npy", np.array([["a", "b"], ["c", "d"]]))
    np.save("empty.npy", np.zeros((0, D)))
    np.save("narrow.npy", np.zeros((N, 0)))
    np.save("flat.npy", np.zeros(N))
    np.save("huge.npy", 1e200 * X)
    np.save("tiny.npy", 1e-200 * X)
    np.save("many.npy", np.zeros((10_001, 2)))
    np.save("eleven.npy", np.arange(N) % 11)
    _changed("missing.npy", one=((20, 5), np.nan))
    _changed("infinite.npy", one=((20, 5), np.inf))
    _changed("zeros.npy", one=(3, 0.0), two=(20, 0.0))
    said = refusals(
        monkeypatch,
        capsys,
        "audit",
        [
            *([f"{name}.npy"] for name in ("cut", "words", "empty", "narrow", "flat", "infinite")),
            *([f"{name}.npy", "--labels", "labels.npy"] for name in ("huge", "tiny", "zeros")),
            ["missing.npy", "--labels", "labels.npy", "--rows", "29", "--seed", "2"],
            ["many.npy", "--rows", "all"],
            ["data.npy", "--labels", "eleven.npy", "--rows", "5"],
        ],
    )
    check_snapshot(SNAPSHOTS / "audit of bad data.txt", said)
    assert "junk.npy is not" in refusals(monkeypatch, capsys, "audit", [["junk.npy"]])  # the rest is NumPy's


def test_more_components_than_features_is_a_note_and_no_warning(monkeypatch, capsys):
    assert run_here(monkeypatch, "audit", "data.npy", "--components", "100", "--repeats", "1") == 0
    said = capsys.readouterr()
    assert not said.err and "The projection makes nothing smaller: 100 components of 80 features." in said.out
