import doctest
import importlib

import pytest

from tests.documents import modules


@pytest.mark.parametrize("name", modules("slimline_benchmarks"))
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
