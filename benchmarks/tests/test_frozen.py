import json

import pytest

from benchmarks.tests.frozen import PATH, surface


@pytest.mark.slow
def test_nothing_changed_that_others_rely_on():
    assert json.loads(json.dumps(surface())) == json.loads(PATH.read_text(encoding="utf-8"))
