import signal
import subprocess
import sys

import slimline
from tests.cli.command import run_here, start


def test_version(monkeypatch, capsys):
    assert run_here(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"slimline {slimline.__version__}\n"


def test_help_names_the_commands(monkeypatch, capsys):
    assert run_here(monkeypatch, "--help") == 0
    text = capsys.readouterr().out
    assert "demo" in text and "bench" in text


def test_help_has_examples(monkeypatch, capsys):
    for command in (["demo"], ["bench", "projections"]):
        assert run_here(monkeypatch, *command, "--help") == 0
        text = capsys.readouterr().out
        assert "Examples" in text and f"slimline {' '.join(command)} --quick" in text


def test_unknown_commands_and_options_exit_with_2(monkeypatch, capsys):
    for arguments in (["dance"], ["demo", "--dance"], ["bench", "dances"]):
        assert run_here(monkeypatch, *arguments) == 2
        assert "dance" in capsys.readouterr().err


def test_our_errors_are_one_line_and_exit_with_2(monkeypatch, capsys):
    for arguments in (
        ["demo", "--quick", "--components", "6"],
        ["bench", "projections", "--case", "nonsense"],
        ["bench", "projections", "--threads", "none"],
        ["demo", "--json", "no/such/folder/out.json"],
    ):
        assert run_here(monkeypatch, *arguments) == 2
        message = capsys.readouterr().err
        assert message.startswith("slimline: ") and message.count("\n") == 1, message


def test_interruption_exits_with_130():
    process = start("bench", "projections", "--quick", "--case", "dense-f4", "--repeats", "100000")
    process.stdout.readline()  # the machine is described: the work has begun
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error


def test_importing_the_library_does_not_import_the_command_line():
    code = (
        "import sys, slimline; print([m for m in ('typer', 'rich', 'matplotlib', 'slimline.cli') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_does_not_import_what_the_commands_need():
    code = "import sys, slimline.cli.app; print('matplotlib' in sys.modules, 'slimline.bench' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"
