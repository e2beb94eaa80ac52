"""A fit that was stopped begins anew if anything in its data is another one: a store of many files, and genotypes."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from slimline import CertifiedClassifier, open_matrix
from slimline._base.system import thread_limit
from slimline.cli._fit_samples import held_out_rows
from slimline.cli._fit_view import FitDisplay
from slimline.data import write_genotypes
from tests.cli.command import run_here
from tests.tiers import rest_nightly

zarr = pytest.importorskip("zarr", minversion="3")

N, D = 48, 1600
CHUNK = (12, 160)
X = np.random.default_rng(0).standard_normal((N, D))
X[:, :30] += np.where(np.arange(N) % 2, 0.5, -0.5)[:, None]


def write(path, x, compressors=None, chunks=CHUNK):
    array = zarr.create_array(path, shape=x.shape, dtype="f8", chunks=chunks, compressors=compressors, overwrite=True)
    array[...] = x


def chunks(place):
    """Return one of 13 chunks of the 40, the first and the last among them."""
    files = sorted(file for file in Path("data.zarr/c").rglob("*") if file.is_file())
    return files[place * (len(files) - 1) // 12]


def other_numbers(place):
    """Write numbers into the middle of a chunk; size and time of change of the folders stay."""
    file = chunks(place)
    content = bytearray(file.read_bytes())
    middle = np.frombuffer(content, dtype="f8")[800:860]
    middle += 3.0
    file.write_bytes(content)


def other_numbers_at_the_same_time(place):
    state = chunks(place).stat()
    other_numbers(place)
    os.utime(chunks(place), ns=(state.st_atime_ns, state.st_mtime_ns))


def another_time(place):
    os.utime(chunks(place), ns=(0, chunks(place).stat().st_mtime_ns + 1))


def another_size_at_the_same_time(place):
    """Lengthen a chunk of bytes that a decoder does not look at."""
    state = chunks(place).stat()
    with chunks(place).open("ab") as file:
        file.write(bytes(8))
    os.utime(chunks(place), ns=(state.st_atime_ns, state.st_mtime_ns))


def another_file_in_its_place(place):
    content = chunks(place).read_bytes()
    chunks(place).unlink()
    chunks(place).write_bytes(content[8:] + content[:8])


def removed(place):
    chunks(place).unlink()


def added(place):
    Path(chunks(place).parent, "40").write_bytes(b"more")


def described_otherwise(place):
    file = Path("data.zarr/zarr.json")
    said = json.loads(file.read_text())
    file.write_text(json.dumps(said | {"fill_value": float(place), "attributes": {"place": place}}))


def compressed(place):
    write("data.zarr", X, zarr.codecs.ZstdCodec(level=place + 1))


def in_other_chunks(place):
    write("data.zarr", X, chunks=(N, 40))


def whole_store_again(place):
    write("data.zarr", X)


#: What may change, and at which of the 13 places.
WAYS = {
    other_numbers: range(13),
    other_numbers_at_the_same_time: (0, 5, 12),
    another_time: range(0, 13, 2),
    another_file_in_its_place: range(1, 13, 3),
    removed: range(0, 13, 4),
    added: (0, 6, 12),
    described_otherwise: (0, 1),
    compressed: (0, 1),
    in_other_chunks: (0,),
    whole_store_again: (0,),
}
IN_THE_MIDDLE = [(way, places[len(places) // 2]) for way, places in WAYS.items()]
EVERYWHERE = [(way, place) for way, places in WAYS.items() for place in places]
OPTIONS = (
    *("--method", "sketch", "--components", "48", "--C", "0.1", "--tol", "0.1", "--threads", "1", "--no-report"),
    "--no-refit",  # so that the model on disk is the one whose passes were resumed
)


def fit(monkeypatch, data, model, *more, labels="labels.npy"):
    return run_here(monkeypatch, "fit", data, "--labels", labels, *OPTIONS, "--model", model, *more)


def stopped(monkeypatch, data="data.zarr", *more, model="m.slim", **options):
    def stop(self, step):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(FitDisplay, "on_step", stop)
        assert fit(monkeypatch, data, model, *more, **options) == 130
    assert any(Path(f"{model}.resume").glob("pass-*"))


def require_weights_of_the_data(path, *, refit=False):
    """Require the weights of an uninterrupted fit, bit for bit."""
    y = np.load("labels.npy")
    train = np.arange(N) if refit else held_out_rows(y, 0.2, 0)[0]
    model = CertifiedClassifier(0.1, method="sketch", n_components=48, tol=0.1, random_state=0)
    with thread_limit(1):
        model.fit(open_matrix("data.zarr").rows(train), y[train])
    found = CertifiedClassifier.load(path)
    assert np.array_equal(model.coef_, found.coef_) and np.array_equal(model.intercept_, found.intercept_)


def size_and_time(state):
    return state.st_size, state.st_mtime_ns


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Return a folder with a store and what is left of a fit that was stopped."""
    folder = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        monkeypatch.setattr("slimline.cli._fit_settings._state", size_and_time)
        np.save("labels.npy", np.arange(N) % 2)
        write("data.zarr", X)
        stopped(monkeypatch)
    return folder


@pytest.fixture
def _begun(begun, tmp_path, monkeypatch):
    # no copy has the times of the files' records, which is tested apart
    monkeypatch.setattr("slimline.cli._fit_settings._state", size_and_time)
    shutil.copytree(begun, tmp_path / "in", copy_function=shutil.copy2)
    monkeypatch.chdir(tmp_path / "in")


@pytest.mark.usefixtures("_begun")
def test_without_a_change_it_goes_on(monkeypatch, capsys):
    assert fit(monkeypatch, "data.zarr", "m.slim") == 0
    assert "Going on from where" in capsys.readouterr().err
    require_weights_of_the_data("m.slim")


@pytest.mark.usefixtures("_begun")
@pytest.mark.slow
def test_the_second_fit_to_all_rows_goes_on_too(monkeypatch, capsys):
    steps = []

    def stop_in_the_second_fit(self, step):
        if steps and step.passes <= steps[-1]:
            raise KeyboardInterrupt
        steps.append(step.passes)

    with monkeypatch.context() as patched:
        patched.setattr(FitDisplay, "on_step", stop_in_the_second_fit)
        assert fit(monkeypatch, "data.zarr", "m.slim", "--refit") == 130
    assert not Path("m.slim").exists()
    capsys.readouterr()
    assert fit(monkeypatch, "data.zarr", "m.slim", "--refit") == 0
    assert "Going on from where" in capsys.readouterr().err
    require_weights_of_the_data("m.slim", refit=True)


@pytest.mark.usefixtures("_begun")
@pytest.mark.parametrize(("change", "place"), rest_nightly(IN_THE_MIDDLE, EVERYWHERE))
def test_after_a_change_it_begins_anew(monkeypatch, capsys, change, place):
    change(place)
    assert fit(monkeypatch, "data.zarr", "m.slim") == 0
    assert "beginning anew" in capsys.readouterr().err
    require_weights_of_the_data("m.slim")


@pytest.mark.slow
def test_a_large_chunk_in_which_the_fingerprint_sees_nothing(tmp_path, monkeypatch, capsys):
    """Of a large file a fingerprint reads pieces, and the time of change can be set back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("slimline.data._files._FOLDER_SAMPLES", 2)
    np.save("labels.npy", np.arange(N) % 2)
    write("data.zarr", X, chunks=(N, 800))
    stopped(monkeypatch)
    before = open_matrix("data.zarr").fingerprint
    state = chunks(0).stat()
    content = np.fromfile(chunks(0), dtype="f8")
    content[content.size // 2 :][:300] += 3.0
    content.tofile(chunks(0))
    os.utime(chunks(0), ns=(state.st_atime_ns, state.st_mtime_ns))
    assert open_matrix("data.zarr").fingerprint == before
    assert fit(monkeypatch, "data.zarr", "m.slim") == 0
    assert "beginning anew" in capsys.readouterr().err
    require_weights_of_the_data("m.slim")


@pytest.mark.usefixtures("_begun")
@pytest.mark.parametrize("change", [other_numbers, another_size_at_the_same_time, removed, added])
def test_a_change_between_two_passes_ends_the_fit(monkeypatch, capsys, change):
    with monkeypatch.context() as patched:
        patched.setattr(FitDisplay, "on_step", lambda self, step: change(7))
        assert fit(monkeypatch, "data.zarr", "m.slim") == 2
    assert "data.zarr changed while it was in use" in " ".join(capsys.readouterr().err.split())
    assert not Path("m.slim").exists()


@pytest.mark.slow
def test_names_of_variants_and_people_are_part_of_the_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_genotypes("cohort", 80, 2000, n_populations=2, seed=1)
    Path("cohort.bed").rename("cohort.BED")  # as some systems write it
    options = ("--target", "population")
    for file in ("cohort.BED", "cohort.bim", "cohort.fam"):
        stopped(monkeypatch, "cohort.BED", *options, labels="cohort.labels.tsv")
        os.utime(file, ns=(0, 0))
        capsys.readouterr()
        assert fit(monkeypatch, "cohort.BED", "m.slim", *options, labels="cohort.labels.tsv") == 0
        assert "beginning anew" in capsys.readouterr().err
        Path("m.slim").unlink()
