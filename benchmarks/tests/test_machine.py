import pytest

from slimline._kernels.threads import available_cpus
from slimline.errors import InvalidParameterError
from slimline_benchmarks.machine import parse_threads


def test_threads():
    assert parse_threads("all") == available_cpus()
    assert parse_threads("1") == 1
    for text in ("0", "-1", "many", "", "1.5", str(available_cpus() + 1)):
        with pytest.raises(InvalidParameterError):
            parse_threads(text)
