"""Refusals by what they are about: the class of the error and the parameter that it names, whatever its words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from slimline.errors import InvalidParameterError


@contextmanager
def refuses(parameter: str) -> Iterator[None]:
    """Expect an InvalidParameterError about a parameter, or about several of which this is one."""
    with pytest.raises(InvalidParameterError) as caught:
        yield
    said = caught.value
    assert said.parameter == parameter or (said.parameter is None and re.search(rf"\b{parameter}\b", str(said))), said
