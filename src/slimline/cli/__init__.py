"""The command line: one file a command, thin.

Nothing here is imported by the library, and typer and rich are imported only when a command runs.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run `slimline`; the exit code is one of those that `slimline --help` lists."""
    from slimline.errors import SlimlineError

    try:
        from slimline.cli._app import app

        app(prog_name="slimline")
    except SlimlineError as error:
        print(f"slimline: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:  # a file that is not there, a disk that is full
        where = error.filename or "standard output"
        message = str(error) if error.strerror is None else f"{where}: {error.strerror.lower()}."
        print(f"slimline: {message}", file=sys.stderr)
        _forget_output()
        raise SystemExit(2) from None
    except MemoryError:
        print("slimline: there is not enough memory. `slimline plan` predicts how much a fit takes.", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:  # before a command began
        print("slimline: stopped.", file=sys.stderr)
        raise SystemExit(130) from None


def _forget_output() -> None:
    """Drop what standard output would not take, which Python would try again, and complain of, at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
