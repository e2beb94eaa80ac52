"""The public door, and what opening it costs."""

import os
import subprocess
import sys

import pytest

import slimline

NAMES = [
    "GaussianProjection", "HadamardProjection", "SignProjection", "SparseEmbedding", "SparseSignProjection", "laws",
    "make_projection", "open_matrix", "CertifiedClassifier", "CertifiedClassifierCV", "CertifiedFeatureSelector",
    "ProjectedClassifier", "OneParameterClassifier", "bounds", "plan",
]  # fmt: skip


def _run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, check=False
    )


@pytest.mark.parametrize("name", NAMES)
def test_public_names(name):
    assert name in slimline.__all__ and getattr(slimline, name).__doc__


def test_everything_listed_exists():
    assert sorted(slimline.__all__) == sorted(set(slimline.__all__))
    for name in slimline.__all__:
        assert hasattr(slimline, name)
    assert slimline.__version__


@pytest.mark.slow
def test_import_is_light():
    # What slimline adds to its required dependencies: scikit-learn 1.9 itself imports pandas where that is installed.
    done = _run(
        "import sys, numpy, scipy.sparse, scipy.special, sklearn.base, sklearn.random_projection, threadpoolctl\n"
        "before = set(sys.modules)\n"
        "import slimline\n"
        "heavy = {'matplotlib', 'typer', 'rich', 'pandas', 'polars', 'jinja2', 'joblib', 'pytest'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))\n"
        "print(sorted({'matplotlib', 'typer', 'rich', 'polars', 'jinja2', 'pytest'} & set(sys.modules)))"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[]", "[]"]


@pytest.mark.slow
def test_instruction_set_from_the_environment():
    from slimline import _kernels

    for name in _kernels.instruction_sets():
        done = _run("from slimline import _kernels; print(_kernels.instruction_set())", SLIMLINE_ISA=name)
        assert done.stdout.strip() == name, done.stderr
    done = _run("import slimline", SLIMLINE_ISA="mmx")
    assert done.returncode != 0
    assert "SLIMLINE_ISA='mmx'" in done.stderr and "baseline" in done.stderr
