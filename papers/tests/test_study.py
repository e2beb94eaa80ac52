"""The setting of a replay."""

import zlib
from dataclasses import replace

import numpy as np
import pytest

from slimline.errors import MissingDataSetError
from slimline_papers import Study
from slimline_papers.sources import catalogue
from slimline_papers.sources.source import Source


@pytest.mark.parametrize("size, expected", [("miniature", 1), ("default", 2), ("full", 3)])
def test_sizes(size, expected):
    assert Study(size=size).pick(1, 2, 3) == expected


def test_a_seed_belongs_to_a_piece_and_to_the_study():
    study = Study(seed=3)
    assert study.seed_of("fig1", 0.5, 7) == Study(seed=3, size="full").seed_of("fig1", 0.5, 7)
    seeds = {
        Study(seed=seed).seed_of(*part)
        for seed in (0, 1)
        for part in (("a", 1), ("a", 2), ("a", "1"), ("b", 1), (1, "a"))
    }
    assert len(seeds) == 10


def test_seeds_are_seeds():
    seeds = [Study().seed_of("a", number) for number in range(1_000)]
    assert len(set(seeds)) > 990 and all(0 <= seed < 2**32 for seed in seeds)
    np.random.default_rng(seeds[0])


def test_seeds_are_the_same_in_every_process():
    # Python's own hash of a text is not
    assert Study().seed_of("shi2012.fig1", 0.25, 0) == zlib.crc32(b"(0, 'shi2012.fig1', 0.25, 0)")


def test_data_are_read_once(tmp_path, monkeypatch):
    (tmp_path / "sample").mkdir()
    read = []
    source = Source(name="sample", folder="sample", about="", read=lambda folder: read.append(folder) or len(read))
    monkeypatch.setitem(catalogue.SOURCES, "sample", source)
    study = Study(data=tmp_path)
    assert study.load("sample") == study.load("sample") == 1
    assert read == [tmp_path / "sample"]


def test_data_that_arrive_later_are_not_mixed_in(tmp_path, monkeypatch):
    monkeypatch.delenv("SLIMLINE_DATA", raising=False)
    monkeypatch.setitem(
        catalogue.SOURCES, "sample", Source(name="sample", folder="sample", about="", read=lambda folder: "data")
    )
    study = Study(data=tmp_path)
    for _ in range(2):
        with pytest.raises(MissingDataSetError):
            study.load("sample")
        (tmp_path / "sample").mkdir(exist_ok=True)
    assert replace(study).load("sample") == "data"  # another run
