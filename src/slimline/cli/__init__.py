"""The command line: one file a command, thin.

Nothing here is imported by the library, and typer and rich are imported only when a command runs.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run `slimline`; the exit code is one of those that `slimline --help` lists."""
    from slimline.errors import SlimlineError

    try:
        from slimline.cli.app import app

        app(prog_name="slimline")
    except SlimlineError as error:
        print(f"slimline: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
