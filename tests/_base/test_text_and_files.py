import pytest

from slimline._base.files import write_text_whole
from slimline._base.text import format_bytes, format_ratio, format_seconds


@pytest.mark.parametrize(
    "seconds, text",
    [
        (None, "–"),
        (12.34, "12.3 s"),
        (1.0, "1.00 s"),
        (0.99999, "1.00 s"),
        (0.0512, "51.2 ms"),
        (123e-6, "123 µs"),
        (2e-7, "0.20 µs"),
    ],
)
def test_seconds(seconds, text):
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    "size, text",
    [(None, "–"), (0, "< 1 MB"), (1e6, "1.00 MB"), (999.9e6, "1.00 GB"), (5.31e9, "5.31 GB"), (117e6, "117 MB")],
)
def test_bytes(size, text):
    assert format_bytes(size) == text


@pytest.mark.parametrize("value, text", [(None, "–"), (0.01234, "0.012"), (1.26, "1.3"), (208.4, "208")])
def test_ratio(value, text):
    assert format_ratio(value) == text


def test_files_are_written_whole(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    write_text_whole(path, "new")
    assert path.read_text() == "new\n"
    assert list(tmp_path.iterdir()) == [path]
