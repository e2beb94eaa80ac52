"""What can go wrong, in classes whose messages say what to do.

Every error of slimline is a :class:`SlimlineError`. Those about a value that was passed in are a
`ValueError` too, as scikit-learn users expect.
"""


class SlimlineError(Exception):
    """Root of all errors that slimline raises on purpose."""


class InvalidParameterError(SlimlineError, ValueError):
    """A parameter, or a combination of parameters, that cannot work."""


class InvalidProjectionLineError(SlimlineError, ValueError):
    """A JSON line that does not describe a projection of this version."""


class UnsupportedInstructionSetError(SlimlineError, ImportError):
    """`SLIMLINE_ISA` names an instruction set that this CPU does not have."""
