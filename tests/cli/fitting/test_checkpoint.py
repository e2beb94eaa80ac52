"""Files of others beside a fit that is stopped and goes on, and disks that take no more."""

import errno
import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from slimline import CertifiedClassifier
from slimline.cli._fit_view import FitDisplay
from slimline.model_files import _checkpoints as checkpoint_folder
from slimline.model_files import _checkpoints as pass_files
from slimline.model_files._checkpoints import RECORD
from tests.cli.command import run_here
from tests.tiers import once_then_all

N, D = 60, 3000
FIT = ["fit", "data.npy", "--labels", "labels.npy", "--method", "sketch", "--components", "48", "--tol", "0.1"]
FIT += ["--threads", "1", "--no-audit", "--C", "0.1"]
RESUME = Path("data.slim.resume")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write_data()


def _write_data():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    np.save("data.npy", rng.standard_normal((N, D)) + 0.3 * rng.standard_normal((2, D))[y])
    np.save("labels.npy", y)


def _stopped(monkeypatch, place, *options):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(place, stop)
        assert run_here(monkeypatch, *FIT, *options) == 130


IN_THE_FIT = "slimline.cli._fit_view.FitDisplay.on_step"
BEFORE_THE_PAGE = "slimline.report._build.build_report"


def _names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def _content(folder):
    return {str(path.relative_to(folder)): _one_content(path) for path in sorted(folder.rglob("*"))}


def _one_content(path):
    if path.is_symlink():
        return path.readlink()
    return None if path.is_dir() else path.read_bytes()


def _foreign_file(place):
    place.write_text("mine")


def _foreign_folder(place):
    place.mkdir()
    for name in ("key", "pass-0001", "notes.txt", ".pass-0001.77.tmp"):
        (place / name).write_text("mine")
    (place / "pass-0002").mkdir()


def _empty_folder(place):
    place.mkdir()


def _folder_of_another_program(place):
    _foreign_folder(place)
    (place / RECORD).write_text(json.dumps({"kind": "checkpoint of another program", "key": "k", "results": []}))


def _damaged_record(place):
    _foreign_folder(place)
    (place / RECORD).write_text('{"kind": "slimline che')


def _link_to_a_folder(place):
    Path("elsewhere").mkdir()
    _foreign_folder(Path("elsewhere/mine"))
    place.symlink_to("elsewhere/mine")


def _link_to_nothing(place):
    place.symlink_to("elsewhere")


FOREIGN = [
    _foreign_file,
    _foreign_folder,
    _empty_folder,
    _folder_of_another_program,
    _damaged_record,
    _link_to_a_folder,
    _link_to_nothing,
]


@pytest.mark.parametrize("make, options", once_then_all(FOREIGN, [[], ["--no-resume"], ["--force"]]))
def test_what_somebody_else_made_stays(monkeypatch, capsys, make, options):
    make(RESUME)
    before, link = _content(Path()), RESUME.is_symlink()
    assert run_here(monkeypatch, *FIT, "--no-report", *options) == 0
    assert RESUME.is_symlink() == link
    after = _content(Path())
    assert CertifiedClassifier.load("data.slim").coef_.shape == (1, D)
    assert {name: after[name] for name in before} == before and after.keys() - before.keys() == {"data.slim"}
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("slimline did not make it") == (not options or options == ["--force"])


def test_a_link_to_the_checkpoint_of_another_model_is_not_followed(monkeypatch, capsys):
    _stopped(monkeypatch, IN_THE_FIT, "--model", "other.slim")
    other = Path("other.slim.resume")
    RESUME.symlink_to(other)
    before = _content(other)
    assert run_here(monkeypatch, *FIT) == 0
    assert RESUME.is_symlink() and _content(other) == before
    assert "Going on" not in capsys.readouterr().err


@pytest.mark.slow
def test_files_of_others_in_a_checkpoint_stay(monkeypatch):
    _stopped(monkeypatch, IN_THE_FIT)
    mine = ["notes.txt", "pass-1", "pass-0001.bak", "pass-0001x", ".pass-0001.tmp", "key"]
    for name in mine:
        (RESUME / name).write_text("mine")
    (RESUME / "pass-9999").mkdir()
    (RESUME / "pass-9998").symlink_to("notes.txt")
    assert run_here(monkeypatch, *FIT) == 0
    assert _names(RESUME) == sorted([*mine, "pass-9999", "pass-9998"])
    assert all((RESUME / name).read_text() == "mine" for name in mine)


@pytest.mark.slow
def test_it_says_that_it_goes_on_only_if_it_can(monkeypatch, capsys):
    _foreign_folder(RESUME)
    _stopped(monkeypatch, IN_THE_FIT)
    assert "The same command goes on" not in capsys.readouterr().err
    shutil.rmtree(RESUME)
    _stopped(monkeypatch, IN_THE_FIT)
    assert "The same command goes on" in capsys.readouterr().err


# Results -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_job_replaces_what_it_wrote(monkeypatch, capsys):
    _stopped(monkeypatch, BEFORE_THE_PAGE)
    first = Path("data.slim").stat().st_ino
    assert run_here(monkeypatch, *FIT) == 0
    assert "Going on from where" in capsys.readouterr().err and Path("data.slim").stat().st_ino != first
    assert not RESUME.exists()
    assert run_here(monkeypatch, *FIT) == 2  # it is done now
    _stopped(monkeypatch, BEFORE_THE_PAGE, "--force")
    assert run_here(monkeypatch, *FIT, "--force") == 0


def _other_text(path):
    path.write_text("precious")


def _as_long_text(path):
    path.write_bytes(bytes(path.stat().st_size))


def _touched(path):
    os.utime(path)


def _link(path):
    Path("precious").write_text("precious")
    path.unlink(missing_ok=True)
    path.symlink_to("precious")


def _dangling_link(path):
    path.unlink(missing_ok=True)
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    "change, option",
    once_then_all([_other_text, _as_long_text, _touched, _link, _dangling_link], [[], ["--no-resume"]]),
)
def test_a_file_saved_there_since_is_refused(monkeypatch, capsys, change, option):
    _stopped(monkeypatch, BEFORE_THE_PAGE)
    change(Path("data.slim"))
    before = _content(Path())
    assert run_here(monkeypatch, *FIT, *option) == 2
    assert "data.slim exists" in capsys.readouterr().err and _content(Path()) == before
    assert run_here(monkeypatch, *FIT, "--force", *option) == 0
    assert CertifiedClassifier.load("data.slim").coef_.shape == (1, D) and not RESUME.exists()


def test_a_page_saved_there_since_is_refused(monkeypatch, capsys):
    _stopped(monkeypatch, IN_THE_FIT)
    Path("data.html").write_text("precious")
    assert run_here(monkeypatch, *FIT) == 2
    assert "data.html exists" in capsys.readouterr().err and Path("data.html").read_text() == "precious"


@pytest.mark.parametrize("option", [[], ["--no-resume"]])
@pytest.mark.slow
def test_the_model_of_another_job_is_refused(monkeypatch, capsys, option):
    _stopped(monkeypatch, BEFORE_THE_PAGE)
    before = _content(Path())
    assert run_here(monkeypatch, *FIT, "--seed", "1", *option) == 2  # its own settings, so another model
    assert "data.slim exists" in capsys.readouterr().err and _content(Path()) == before
    assert run_here(monkeypatch, *FIT, *option) == 0


@pytest.mark.slow
def test_a_file_that_comes_while_the_fit_runs_is_not_replaced(monkeypatch, capsys):
    with monkeypatch.context() as patched:
        patched.setattr(FitDisplay, "on_step", lambda self, step: Path("data.slim").write_text("precious"))
        assert run_here(monkeypatch, *FIT) == 2
    assert "data.slim exists" in capsys.readouterr().err and Path("data.slim").read_text() == "precious"
    assert run_here(monkeypatch, *FIT, "--force") == 0  # nothing of the work is lost
    assert "Going on from where" in capsys.readouterr().err


# Disks that take no more ---------------------------------------------------------------------------


def _fails(code, *, writes):
    """Return what writes so many files of checkpoints, half of the next, and then fails."""
    fill, count = checkpoint_folder._fill, itertools.count()

    def fail(path, content):
        content = b"".join(content)
        if next(count) >= writes:
            fill(path, [content[: len(content) // 2]])
            raise OSError(code, os.strerror(code))
        fill(path, [content])

    return fail


@pytest.mark.parametrize(
    "code, writes", once_then_all([errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO], [0, 1, 3])
)
def test_a_checkpoint_that_cannot_be_written_does_not_end_the_fit(monkeypatch, capsys, code, writes):
    monkeypatch.setattr(checkpoint_folder, "_fill", _fails(code, writes=writes))
    assert run_here(monkeypatch, *FIT, "--no-report") == 0
    assert capsys.readouterr().err.count(os.strerror(code)) == 1
    assert _names(".") == ["data.npy", "data.slim", "labels.npy"]


@pytest.mark.slow
def test_what_was_kept_before_the_disk_was_full_is_used(monkeypatch, capsys):
    assert run_here(monkeypatch, *FIT, "--no-report", "--model", "whole.slim") == 0
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint_folder, "_fill", _fails(errno.ENOSPC, writes=3))  # the record, and two passes
        patched.setattr("slimline.estimators._persistence.stored_model", _interrupt)
        assert run_here(monkeypatch, *FIT, "--no-report") == 130
    assert _names(RESUME) == [RECORD, "pass-0001", "pass-0002"]
    assert run_here(monkeypatch, *FIT, "--no-report") == 0
    assert "Going on from where" in capsys.readouterr().err
    whole, again = CertifiedClassifier.load("whole.slim"), CertifiedClassifier.load("data.slim")
    assert np.array_equal(whole.coef_, again.coef_)


def _interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.slow
def test_ctrl_c_while_a_checkpoint_is_written(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(pass_files, "tensor_pieces", _interrupt)
        assert run_here(monkeypatch, *FIT) == 130
    assert _names(RESUME) == [RECORD]
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint_folder, "_fill", _interrupt)
        assert run_here(monkeypatch, *FIT, "--model", "second.slim") == 130
    assert _names(".") == ["data.npy", "data.slim.resume", "labels.npy"]


def test_a_model_that_cannot_be_written_ends_it(monkeypatch, capsys):
    def full(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("slimline.data._write.NewFile.write", full)
        assert run_here(monkeypatch, *FIT) == 2
    assert "the disk is full" in " ".join(capsys.readouterr().err.split())
    assert _names(".") == ["data.npy", RESUME.name, "labels.npy"]
    assert run_here(monkeypatch, *FIT) == 0  # with what was kept, once there is room


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk that has room for the model, or for some passes, but not for both."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if not mounted or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_disk_that_is_full_of_the_checkpoint(monkeypatch, capsys, small_disk):
    options = ["--tol", "1e-9", "--model", str(small_disk / "data.slim"), "--no-report"]
    assert run_here(monkeypatch, *FIT, *options) in (0, 3)
    assert capsys.readouterr().err.count("No space left on device") == 1
    assert _names(small_disk) == ["data.slim"]
    assert CertifiedClassifier.load(small_disk / "data.slim").coef_.shape == (1, D)
    (small_disk / "data.slim").unlink()
    (small_disk / "full").write_bytes(bytes(200_000))
    assert run_here(monkeypatch, *FIT, *options) == 2
    assert _names(small_disk) == ["full"]
