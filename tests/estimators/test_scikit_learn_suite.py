"""scikit-learn's own test_random_projection.py, pointed at our two classes that take the place of theirs.

The installed file is read, the two names are bound to ours, and what it defines is collected here.
"""

from pathlib import Path

import sklearn.tests

_PATH = Path(sklearn.tests.__path__[0]) / "test_random_projection.py"
_source = _PATH.read_text()
for _theirs, _ours in (("Gaussian", "GaussianProjection"), ("Sparse", "SparseSignProjection")):
    _name = f"{_theirs}RandomProjection"
    assert f"    {_name},\n" in _source, "scikit-learn changed its imports: look at them again"
    _source = _source.replace(f"    {_name},\n", "", 1)
    _source = f"from slimline import {_ours} as {_name}\n" + _source

exec(compile(_source, str(_PATH), "exec"))


def test_the_names_are_ours():
    assert {cls.__module__.split(".")[0] for cls in globals()["all_RandomProjection"]} == {"slimline"}
