"""`slimline audit` with what cannot work: one line that says what to do, and no traceback."""

from pathlib import Path

import numpy as np
import pytest

from tests.cli.command import run_here

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


def _refused(monkeypatch, capsys, *arguments):
    """Return the one line that is said."""
    assert run_here(monkeypatch, "audit", *arguments) == 2, arguments
    said = capsys.readouterr()
    assert said.err.startswith("slimline: ") and said.err.count("\n") == 1, said.err
    assert not said.out
    return said.err.removeprefix("slimline: ").rstrip()


def _changed(name, **places):
    """Save the data with other rows or values."""
    X = np.load("data.npy")
    for place, value in places.values():
        X[place] = value
    np.save(name, X)


def test_mistakes_come_before_any_work(monkeypatch, capsys, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())

    def no_work(*_, **__):
        raise AssertionError("work was begun")

    monkeypatch.setattr("slimline.auditing._auditor.measure_original", no_work)
    for arguments, said in (
        (["nowhere.npy"], "nowhere.npy: no such file."),
        (["data.unknown"], "data.unknown: the ending of the name does not"),
        (["data.npy", "--format", "hdf6"], "--format must be one of"),
        (["data.npy", "--labels", "none.tsv"], "none.tsv: no such file."),
        (["data.npy", "--labels", "labels.tsv"], "labels.tsv has the columns sample, status, age: say which with --"),
        (["data.npy", "--labels", "labels.tsv", "--target", "x"], "--target x: labels.tsv has no such column."),
        (["data.npy", "--labels", "one.npy"], "labels (one.npy, in the order of the rows) holds only one class, 0"),
        (["data.npy", "--labels", "short.npy"], "short.npy holds an array of shape (20,): give a vector of 30 labels"),
        (
            ["data.npy", "--labels", "measured.npy"],
            "labels (measured.npy, in the order of the rows) holds measurements",
        ),
        (["data.npy", "--labels", "labels.npy", "--target", "x"], "--target x: labels.npy has no columns"),
        (["data.npy", "--target", "status"], "--target does not apply to data.npy, of format npy. Give a file"),
        (["data.npy", "--id", "who"], "--id does not apply to data.npy"),
        (["data.npy", "--dataset", "X"], "--dataset does not apply to data.npy"),
        (["data.npy", "--eps", "1"], "--eps must be a number in (0, 1); got"),
        (["data.npy", "--eps", "nan"], "--eps must be a number in (0, 1); got"),
        (["data.npy", "--delta", "0"], "--delta must be a number in (0, 1); got"),
        (["data.npy", "--rows", "1"], "--rows must be a whole number from 2 to 10,000, auto or all; got 1."),
        (["data.npy", "--rows", "-5"], "--rows must be a whole number from 2 to 10,000, auto or all; got -5."),
        (["data.npy", "--rows", "10001"], "--rows must be a whole number from 2 to 10,000, auto or all; got 10001."),
        (["data.npy", "--rows", "many"], "--rows must be a whole number from 2 to 10,000, auto or all; got many."),
        (["data.npy", "--seed", str(2**64)], "--seed must be a whole number, at least 0 and at most"),
        (["data.npy", "--components", str(2**40)], "--components must be at most 2**30"),
        (["data.npy", "--components", "1000000000"], "--components must be at most 35,791,394 for 30 rows"),
        (["data.npy", "--json", "no/folder/audit.json"], "--json no/folder/audit.json: give a file"),
        (["data.npy", "--figure", "no/folder/audit.png"], "no/folder/audit.png: there is no folder no/folder"),
        (["data.npy", "--figure", "audit.gif"], "audit.gif: the name of a figure must end in .png, .svg, .pdf."),
    ):
        assert _refused(monkeypatch, capsys, *arguments).startswith(said), arguments
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_the_ending_is_said_with_an_option_and_the_components_that_would_do(monkeypatch, capsys):
    said = _refused(monkeypatch, capsys, "data.unknown")
    assert "formats: npy, npz, svmlight, csv" in said and "--format NAME" in said and "open_matrix" not in said
    said = _refused(monkeypatch, capsys, "data.npy", "--components", "1000000000")
    assert said.startswith(f"--components must be at most {2**30 // N:,} for {N} rows")


@pytest.mark.parametrize(
    "arguments", [["--projection", "magic"], ["--components", "0"], ["--repeats", "0"], ["--seed", "-1"], ["--rows"]]
)
def test_options_that_are_none(monkeypatch, capsys, arguments):
    assert run_here(monkeypatch, "audit", "data.npy", *arguments) == 2
    said = capsys.readouterr()
    assert arguments[0] in said.err and "Traceback" not in said.err and not said.out
    if "magic" in arguments:
        assert "gaussian" in said.err and "osnap" in said.err


def test_values_that_are_no_numbers_are_named_as_in_the_file(monkeypatch, capsys):
    _changed("missing.npy", one=((20, 5), np.nan))
    _changed("infinite.npy", one=((20, 5), np.inf))
    labels = np.where(np.arange(N) % 7 == 0, np.nan, np.arange(N) % 2)  # the rows that are read are not numbered anew
    np.save("some.npy", labels)
    for more in ([], ["--labels", "some.npy"], ["--labels", "labels.npy", "--rows", "29", "--seed", "2"]):
        said = _refused(monkeypatch, capsys, "missing.npy", *more)
        assert said.startswith("missing.npy: the value in row 20, column 5, counted from 0, is missing"), said
        assert said.endswith("--standardize imputes the mean.")
    assert "row 20, column 5" in _refused(monkeypatch, capsys, "infinite.npy")
    filled = ["--standardize", "--components", "20", "--repeats", "1"]
    assert run_here(monkeypatch, "audit", "missing.npy", "--labels", "labels.npy", *filled) == 0
    capsys.readouterr()


def test_rows_of_zeros_are_named_as_in_the_file_and_have_no_margin(monkeypatch, capsys):
    _changed("zeros.npy", one=(3, 0.0), two=(20, 0.0))
    labels = np.where(np.arange(N) == 1, np.nan, np.arange(N) % 2)
    np.save("some.npy", labels)
    said = _refused(monkeypatch, capsys, "zeros.npy", "--labels", "some.npy")
    assert said.startswith("rows 3, 20 of zeros.npy, counted from 0: nothing but zeros") and "an empty label" in said
    labels[[3, 20]] = np.nan  # what the message advises
    np.save("some.npy", labels)
    few = ["--components", "20", "--repeats", "1"]
    assert run_here(monkeypatch, "audit", "zeros.npy", "--labels", "some.npy", *few) == 0
    assert run_here(monkeypatch, "audit", "zeros.npy", *few) == 0  # without labels they are points like others
    capsys.readouterr()


def test_files_that_are_not_what_they_seem(monkeypatch, capsys):
    Path("junk.npy").write_text("nothing of the kind")
    Path("cut.npy").write_bytes(Path("data.npy").read_bytes()[:5000])
    np.save("words.npy", np.array([["a", "b"], ["c", "d"]]))
    np.save("empty.npy", np.zeros((0, D)))
    np.save("narrow.npy", np.zeros((N, 0)))
    np.save("flat.npy", np.zeros(N))
    for name, said in (
        ("junk.npy", "junk.npy is not a sound .npy file"),
        ("cut.npy", "truncated"),
        ("words.npy", "words.npy holds elements of type <U1"),
        ("empty.npy", "there is no point to measure"),
        ("narrow.npy", "there is no point to measure"),
        ("flat.npy", "flat.npy"),
    ):
        assert said in _refused(monkeypatch, capsys, name)


def test_values_beyond_float64(monkeypatch, capsys):
    X = np.load("data.npy")
    np.save("huge.npy", 1e200 * X)
    np.save("tiny.npy", 1e-200 * X)
    assert "exceed the largest float64" in _refused(monkeypatch, capsys, "huge.npy", "--labels", "labels.npy")
    assert "multiply" in _refused(monkeypatch, capsys, "tiny.npy", "--labels", "labels.npy")


def test_more_rows_than_can_be_paired(monkeypatch, capsys):
    np.save("many.npy", np.zeros((10_001, 2)))
    said = _refused(monkeypatch, capsys, "many.npy", "--rows", "all")
    assert said.startswith("--rows must be at most 10,000, since all pairs of rows are measured")
    np.save("eleven.npy", np.arange(N) % 11)
    said = _refused(monkeypatch, capsys, "data.npy", "--labels", "eleven.npy", "--rows", "5")
    assert said == "--rows must be at least 11, one for each class; got 5."


def test_more_components_than_features_is_a_note_and_no_warning(monkeypatch, capsys):
    assert run_here(monkeypatch, "audit", "data.npy", "--components", "100", "--repeats", "1") == 0
    said = capsys.readouterr()
    assert not said.err and "The projection makes nothing smaller: 100 components of 80 features." in said.out
