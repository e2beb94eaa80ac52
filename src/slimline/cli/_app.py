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
from slimline.cli._options import named_as_option, remedied_by_option
from slimline.errors import DataError, InvalidParameterError

EPILOG = """Start with [bold]slimline demo[/bold]; each command has its own --help with examples.

Exit codes: 0 done; 1 failed (for example, standard output was closed); 2 an error in the call, in a file or in the
data, explained in one line; 3 fitted, but the certified error is above --tol; 130 interrupted."""


class Commands(typer.core.TyperGroup):
    """All commands: their errors name options, and one that is interrupted says so."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except InvalidParameterError as error:
            raise named_as_option(error, self._options(ctx)) from None
        except DataError as error:
            raise remedied_by_option(error, self._options(ctx)) from None
        except KeyboardInterrupt as stopped:
            typer.echo(f"slimline: {stopped.args[0] if stopped.args else 'stopped.'}", err=True)
            raise typer.Exit(130) from None

    def _options(self, ctx: Any) -> dict[str, str]:
        """Return the options of the command that runs, by the parameters of its function."""
        command = self.commands[ctx.invoked_subcommand]
        return {
            parameter.name: parameter.opts[0] for parameter in command.params if parameter.param_type_name == "option"
        }


app = typer.Typer(
    cls=Commands,
    help="Linear models for data too wide to train on: sketch, train, recover the weights, certify them.",
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
    """Linear models for data too wide to train on: sketch, train, recover the weights, certify them."""
