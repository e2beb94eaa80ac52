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
    except OSError as error:  # a disk that is full, a file that may not be written
        where = error.filename or "standard output"
        print(f"slimline: {where}: {error.strerror or error}.", file=sys.stderr)
        _forget_output()
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
