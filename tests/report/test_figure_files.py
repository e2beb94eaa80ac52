import errno
import os
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from slimline import plan
from slimline.errors import FileWriteError, InvalidParameterError
from slimline.report import FIGURE_ENDINGS, check_figure_path, plan_figure, save_figure


@pytest.fixture(scope="module")
def figure():
    return plan_figure(plan(n_samples=40, n_features=3000, margin=0.4))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan.png", "plan.svg", "plan.pdf", "PLAN.PNG"])
def test_what_is_saved_can_be_read_and_is_the_same_twice(tmp_path, figure, name):
    path = tmp_path / name
    save_figure(figure, path)
    first = path.read_bytes()
    if path.suffix.lower() == ".png":
        picture = imread(path)
        assert picture.shape == (1100, 1600, 3)  # no transparency
        assert 0.02 < np.mean(picture.min(axis=2) < 0.8) < 0.5  # neither blank nor black
    elif path.suffix == ".svg":
        assert ET.fromstring(first).tag.endswith("svg") and len(first) > 50_000
    else:
        assert first.startswith(b"%PDF") and first.rstrip().endswith(b"%%EOF")
    save_figure(figure, str(path))  # replaced
    assert [file.name for file in tmp_path.iterdir()] == [name]
    if path.suffix != ".svg":  # ids of an SVG are random
        assert path.read_bytes() == first


def test_paths_that_cannot_be_written_are_refused_before_any_work(tmp_path):
    for name, said in (
        ("plan.jpg", "must end in .png, .svg, .pdf"),
        ("plan", "must end in"),
        ("no/folder/plan.png", "no folder"),
        ("folder.png", "is a folder"),
    ):
        (tmp_path / "folder.png").mkdir(exist_ok=True)
        with pytest.raises(InvalidParameterError, match=said):
            check_figure_path(tmp_path / name)
        with pytest.raises(InvalidParameterError, match=said):
            save_figure(Figure(), tmp_path / name)
    assert check_figure_path(str(tmp_path / "plan.SVG")) == tmp_path / "plan.SVG"
    assert FIGURE_ENDINGS == (".png", ".svg", ".pdf")


def test_a_full_disk_leaves_the_old_picture(tmp_path, figure, monkeypatch):
    path = tmp_path / "plan.png"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(FileWriteError, match="disk is full"):
        save_figure(figure, path)
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1
