"""Tests of the errors that name a parameter."""

import copy
import pickle

import pytest

from slimline.errors import InvalidParameterError, NoDimensionError


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copy_keeps_parameter_and_value(again):
    """Errors travel between the processes of joblib: a copy has the same message and can be renamed."""
    error = again(InvalidParameterError("must lie in (0, 1); got 2.", "eps", 2))
    assert (error.parameter, error.value, str(error)) == ("eps", 2, "eps must lie in (0, 1); got 2.")
    assert str(error.renamed("--eps")) == "--eps must lie in (0, 1); got 2."


def test_renamed_keeps_the_class():
    """The renamed error has the class of the first one, and names what the caller wrote."""
    error = NoDimensionError("must be larger.", "delta", 1e-9).renamed("--delta")
    assert (type(error), error.parameter) == (NoDimensionError, "--delta")


def test_message_alone():
    """An error about no single parameter is a whole sentence."""
    error = InvalidParameterError("give data, or n_samples and n_features.")
    assert (error.parameter, error.value, str(error)) == (None, None, "give data, or n_samples and n_features.")
