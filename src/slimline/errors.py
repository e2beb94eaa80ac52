"""Errors and warnings, whose messages say what to do.

Every error of slimline is a :class:`SlimlineError`. Those about a value that was passed in are a
`ValueError` too, as scikit-learn users expect.
"""

from __future__ import annotations

from typing import Self


class SlimlineError(Exception):
    """Root of all errors that slimline raises on purpose."""


class InvalidParameterError(SlimlineError, ValueError):
    """A parameter, or a combination of parameters, that cannot work.

    Parameters
    ----------
    message : str
        What is allowed and what was given: a sentence whose subject is the parameter, such as "must lie in (0, 1); got
        2.". A whole sentence if the error is about no single parameter.
    parameter : str or None
        Name of the parameter.
    value : object
        The value that was given.
    in_python : str
        A sentence about other parameters, which the command line does not have: it is left out there.

    Attributes
    ----------
    parameter : str or None
        Name of the parameter as the caller wrote it: on the command line, the option.
    value : object
        The value that was given; None if the message is not about one.
    """

    def __init__(
        self, message: str, parameter: str | None = None, value: object = None, *, in_python: str = ""
    ) -> None:
        said = message if parameter is None else f"{parameter} {message}"
        super().__init__(f"{said} {in_python}".rstrip())
        self.parameter, self.value, self._message = parameter, value, message

    def renamed(self, parameter: str) -> Self:
        """Return the error about an option of a command, which sets the parameter."""
        return type(self)(self._message, parameter, self.value)


class NoDimensionError(InvalidParameterError):
    """No number of dimensions that one could use meets a target."""


class InvalidProjectionLineError(SlimlineError, ValueError):
    """A JSON line that does not describe a projection of this version."""


class UnsupportedInstructionSetError(SlimlineError, ImportError):
    """`SLIMLINE_ISA` names an instruction set that this CPU does not have."""


class DataError(SlimlineError, ValueError):
    """Something is wrong with the data, and the message says in which file, row, column or byte.

    Parameters
    ----------
    message : str
        A sentence that says what is wrong and where.
    remedy : str
        A sentence that says what to do in Python, if it differs from what to do on the command line.
    parameter : str or None
        Name of the parameter or method that helps, such as "format", "id" or "fill".

    Attributes
    ----------
    parameter : str or None
        Name of the parameter that helps, if there is one.
    """

    def __init__(self, message: str, remedy: str = "", parameter: str | None = None) -> None:
        super().__init__(f"{message} {remedy}".rstrip())
        self.parameter, self._message = parameter, message

    def with_remedy(self, remedy: str) -> Self:
        """Return the error with another remedy, such as an option of a command."""
        return type(self)(self._message, remedy)


class FileFormatError(DataError):
    """A file that is truncated, corrupt, or of another kind than it was taken for."""


class FileChangedError(DataError):
    """A file that changed or vanished while it was in use, so that two passes would not see the same data."""


class ModelFileError(DataError):
    """A model file that is damaged, of a later version, or no model file at all."""


class NonFiniteError(DataError):
    """Data hold NaN, an infinity or a missing value where a number is needed."""


class MissingReaderError(SlimlineError, ImportError):
    """An optional package that reads this kind of file is not installed."""


class MissingCompanionError(SlimlineError, ImportError):
    """A distribution that a command or module needs is not installed beside slimline."""


class FileReadError(SlimlineError, OSError):
    """A file that the system could not read, for instance because a disk or a network failed."""


class FileWriteError(SlimlineError, OSError):
    """A file that could not be written, for instance because the disk is full; nothing half-written is left."""


class MissingDataSetError(SlimlineError, LookupError):
    """A public data set that is not at hand, and could not be fetched."""


class SearchWarning(UserWarning):
    """The best value of a search is at the end of the range that was tried; the message says what to try."""


class AccuracyWarning(UserWarning):
    """On samples that it did not see, a model is no better than always naming the commonest class."""


class CovariateWarning(UserWarning):
    """Covariates that depend on others are left out; the message names them."""


class CheckpointWarning(UserWarning):
    """A checkpoint cannot be written, for instance because the disk is full; the job goes on without one."""
