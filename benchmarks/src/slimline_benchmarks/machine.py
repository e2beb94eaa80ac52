"""Number of threads that every contender may use."""

from __future__ import annotations

from slimline._kernels.threads import available_cpus
from slimline.errors import InvalidParameterError


def parse_threads(text: str) -> int:
    """Return the number of threads that "all" or a number stands for.

    Parameters
    ----------
    text : str
        "all", or a whole number from 1 to the number of CPUs of this process.

    Returns
    -------
    threads : int
        The number.
    """
    cpus = available_cpus()
    if text == "all":
        return cpus
    if not text.isdigit() or not 1 <= int(text) <= cpus:
        raise InvalidParameterError(f'threads must be "all" or a whole number from 1 to {cpus}; got {text!r}.')
    return int(text)
