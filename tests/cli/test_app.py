import os
import subprocess
import sys
from pathlib import Path

import pytest

import slimline
from tests.cli.command import run_here


def test_version(monkeypatch, capsys):
    assert run_here(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"slimline {slimline.__version__}\n"


def test_help_names_the_commands(monkeypatch, capsys):
    assert run_here(monkeypatch, "--help") == 0
    text = capsys.readouterr().out
    assert "demo" in text and "simulate" in text


def test_help_has_examples(monkeypatch, capsys):
    for command, begins in (
        (["demo"], "--quick"),
        (["predict"], "cohort.slim new.bed --out"),
        (["features"], "cohort.slim --top"),
    ):
        assert run_here(monkeypatch, *command, "--help") == 0
        text = capsys.readouterr().out
        assert "Examples" in text and f"slimline {' '.join(command)} {begins}" in text


def test_unknown_commands_and_options_exit_with_2(monkeypatch, capsys):
    for arguments in (["dance"], ["demo", "--dance"]):
        assert run_here(monkeypatch, *arguments) == 2
        assert "dance" in capsys.readouterr().err


def test_our_errors_are_one_line_and_exit_with_2(monkeypatch, capsys):
    for arguments in (
        ["demo", "--quick", "--components", "6"],
        ["demo", "--json", "no/such/folder/out.json"],
    ):
        assert run_here(monkeypatch, *arguments) == 2
        message = capsys.readouterr().err
        assert message.startswith("slimline: ") and message.count("\n") == 1, message


@pytest.mark.slow
def test_importing_the_library_does_not_import_the_command_line():
    code = (
        "import sys, slimline; print([m for m in ('typer', 'rich', 'matplotlib', 'slimline.cli') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_help_does_not_import_what_the_commands_need():
    code = "import sys, slimline.cli._app; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def _completing(typed):
    """Return what a shell sets when Tab is pressed."""
    words = f"slimline {typed}"
    count = str(len(words.split(" ")) - 1)
    return {"_SLIMLINE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": count}


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("pr", ["predict"]),
        ("plan --loss squared", ["squared_hinge", "squared", "squared_epsilon_insensitive"]),
        ("features m.slim --l", ["--label"]),
    ],
)
def test_shells_complete_commands_options_and_choices(monkeypatch, capsys, typed, offered):
    for name, value in _completing(typed).items():
        monkeypatch.setenv(name, value)
    assert run_here(monkeypatch) == 0
    assert capsys.readouterr().out.split() == offered


@pytest.mark.slow
def test_a_process_of_its_own_completes():
    environment = os.environ | _completing("audit data.npy --projection ")
    command = [sys.executable, "-m", "slimline.cli"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    families = [
        "gaussian",
        "sign",
        "achlioptas",
        "very_sparse",
        "srht",
        "srht_replaced",
        "cw",
        "generalised_cw",
        "osnap",
    ]
    assert done.stdout.split() == families


def test_shells_are_given_what_completes(monkeypatch, capsys):
    for shell, line in (
        ("bash", "complete -o default -F"),
        ("zsh", "#compdef slimline"),
        ("fish", "--command slimline"),
    ):
        monkeypatch.setenv("_SLIMLINE_COMPLETE", f"source_{shell}")
        assert run_here(monkeypatch) == 0
        text = capsys.readouterr().out
        assert line in text and f"_SLIMLINE_COMPLETE=complete_{shell}" in text


def test_help_says_what_exit_codes_mean(monkeypatch, capsys):
    assert run_here(monkeypatch, "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Exit codes: 0 done; 1 " in text and "; 2 an error " in text and "; 130 interrupted" in text


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_one_line():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "slimline.cli", "plan", "--samples", "50", "--features", "900"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "slimline: standard output: no space left on device.\n")


def test_memory_that_cannot_be_had_is_one_line(monkeypatch, capsys, tmp_path):
    (tmp_path / "damaged.svm").write_text("1 1:1 2:0.5\n-1 1000000000000:1\n" * 3)
    monkeypatch.chdir(tmp_path)
    for command in ("fit", "plan", "audit"):
        assert run_here(monkeypatch, command, "damaged.svm") == 2
        said = capsys.readouterr().err.splitlines()
        assert said[-1].startswith("slimline: ") and "memory" in said[-1]
