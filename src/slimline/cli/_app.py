"""The commands, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
import typer.core

from slimline.cli import _audit as audit
from slimline.cli import _demo as demo
from slimline.cli import _features as features
from slimline.cli import _fit as fit
from slimline.cli import _plan as plan
from slimline.cli import _predict as predict
from slimline.cli import _simulate as simulate
from slimline.cli._companions import add_command

EPILOG = """Start with [bold]slimline demo[/bold]; each command has its own --help with examples.

Exit codes: 0 done; 1 ended, but not as it should have (a contender of ours failed, standard output was closed);
2 a mistake in the call, in a file or in the data, said in one line; 3 fitted, but with a certified error above what
was asked for; 130 interrupted."""


class Commands(typer.core.TyperGroup):
    """All commands; one that is stopped says so, and what became of its work where the interrupt carries that."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:
            typer.echo(f"slimline: {stopped.args[0] if stopped.args else 'stopped.'}", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=Commands,
    help="Linear classifiers for data too wide to train on: project, train on the sketch, lift the weights back.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo", epilog=demo.EXAMPLES)(demo.demo)
app.command("fit", epilog=fit.EXAMPLES)(fit.fit)
app.command("predict", epilog=predict.EXAMPLES)(predict.predict)
app.command("features", epilog=features.EXAMPLES)(features.features)
app.command("plan", epilog=plan.EXAMPLES)(plan.plan)
app.command("audit", epilog=audit.EXAMPLES)(audit.audit)
app.command("simulate", epilog=simulate.EXAMPLES)(simulate.simulate)
add_command(app, "reproduce")
add_command(app, "bench")


def _show_version(wanted: bool) -> None:
    if wanted:
        from slimline import __version__

        typer.echo(f"slimline {__version__}")
        raise typer.Exit


@app.callback()
def slimline(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Linear classifiers for data too wide to train on: project, train on the sketch, lift the weights back."""
