"""What the tests of the kernels share."""

import pytest

_kept: tuple[object, dict] = None, {}


@pytest.fixture
def once(request: pytest.FixtureRequest):
    """Return `once(function, *arguments)`, which calls the function on the first of a test's instruction sets only.

    The twins in NumPy know no instruction sets, and take longer than the kernels. What they gave is kept until another
    test begins, or the same one with other parameters.
    """
    global _kept
    given = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    test = request.node.originalname, {name: given[name] for name in given if name != "each_instruction_set"}
    if _kept[0] != test:
        _kept = test, {}
    results = _kept[1]

    def call(function, *arguments):
        key = function, *arguments
        if key not in results:
            results[key] = function(*arguments)
        return results[key]

    return call
