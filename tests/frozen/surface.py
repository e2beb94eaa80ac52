"""Everything that programs and scripts of others may rely on, as plain data: names, signatures, options, JSON keys."""

import contextlib
import importlib
import inspect
import io
import json
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

import slimline
from slimline import errors, estimators, open_matrix
from slimline.cli._companions import FOLDERS
from tests.data.plink_files import write_plink
from tests.frozen.data import genotypes, samples

ROOT = Path(__file__).parents[2]


def documented(page: str) -> dict[str, list[str]]:
    """Return the names of a reference page by the module that they are imported from."""
    found: dict[str, list[str]] = {}
    module = ""
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif module and (match := re.match(r"   (\w+)$", line)):
            found.setdefault(module, []).append(match[1])
    return found


def signature(function: Any) -> str:
    """Return parameters and defaults; annotations may change."""
    try:
        given = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in given.parameters.values()]
    text = str(given.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def members(kind: type) -> dict[str, str]:
    """Return what slimline gives to a class: methods with their parameters, and properties."""
    found = {}
    for name in dir(kind):
        owner = next((one for one in kind.__mro__ if name in vars(one)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("slimline"):
            continue
        if re.fullmatch(r"set_\w+_request", name):
            continue  # scikit-learn's
        value = inspect.getattr_static(kind, name)
        value = getattr(value, "fn", getattr(value, "__func__", value))  # of available_if, classmethod
        found[name] = signature(inspect.unwrap(value)) if callable(value) else "value"
    return found


def described(value: Any) -> Any:
    """Return kind, parameters and members of a public name."""
    if inspect.ismodule(value):
        return "module"
    if inspect.isclass(value):
        bases = [base.__name__ for base in value.__mro__ if base.__module__.startswith(("slimline", "builtins"))]
        if issubclass(value, Exception):
            return {"class": "", "bases": bases[1:-2]}
        return {"class": signature(value), "members": members(value)}
    if callable(value):
        return {"function": signature(value)}
    return {"value": type(value).__name__, "members": sorted(members(type(value)))}


def public_names(page: str) -> dict[str, Any]:
    """Return what a reference page documents, each name described."""
    found = {}
    for module, names in documented(page).items():
        if module.partition(".")[0] != "slimline":
            continue  # a companion, which has a snapshot of its own
        there = importlib.import_module(module)
        found |= {f"{module}.{name}": described(getattr(there, name)) for name in names}
    return found


def error_classes() -> dict[str, Any]:
    """Return all classes of `slimline.errors`."""
    names = [name for name, value in vars(errors).items() if inspect.isclass(value) and not name.startswith("_")]
    return {name: described(getattr(errors, name)) for name in sorted(names)}


def fitted_attributes() -> dict[str, list[str]]:
    """Return the names that end in an underscore of each fitted estimator."""
    X, y = samples(3)
    kinds = {name: getattr(slimline, name) for name in slimline.__all__ if inspect.isclass(getattr(slimline, name))}
    given = {"CertifiedClassifier": {"C": 0.01}, "CertifiedClassifierCV": {"Cs": [0.01, 0.1], "cv": 2}}
    found = {}
    for name, kind in kinds.items():
        sized = "n_components" in inspect.signature(kind).parameters and name != "CertifiedClassifierCV"
        options = given.get(name, {}) | ({"n_components": 32} if sized else {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = kind(**options)
            if "random_state" in model.get_params():
                model.set_params(random_state=0)
            model.fit(X, y)
            found[name] = [n for n in dir(model) if n.endswith("_") and not n.startswith("_") and hasattr(model, n)]
    return found


def command(given: Any) -> dict[str, Any]:
    """Return parameters of a command, or the commands of a group."""
    if hasattr(given, "commands"):
        return {name: command(one) for name, one in sorted(given.commands.items())}
    found: dict[str, Any] = {}
    hints = get_type_hints(inspect.unwrap(given.callback))  # of typer's own objects too much changes between versions
    for parameter in given.params:
        if parameter.name not in hints:
            continue  # --help
        kind = re.sub(r"<class '(?:\w+\.)*(\w+)'>|typing\.|pathlib\.", r"\1", str(hints[parameter.name]))
        needed = ", required" if parameter.required else ""
        many = ", many" if parameter.multiple or parameter.nargs != 1 else ""
        default = None if callable(parameter.default) or "UNSET" in repr(parameter.default) else parameter.default
        name = " ".join([*parameter.opts, *parameter.secondary_opts])
        found[name] = f"{kind}{needed}{many}" + ("" if default is None else f" = {default}")
    return found


def commands() -> dict[str, Any]:
    """Return the commands of slimline itself."""
    own = typer_commands()
    return {name: command(own[name]) for name in sorted(own) if name not in FOLDERS}


def typer_commands() -> dict[str, Any]:
    """Return all commands, those of companions that are installed among them."""
    import typer.main

    from slimline.cli._app import app

    return dict(typer.main.get_command(app).commands)


def keys(value: Any, before: str = "") -> list[str]:
    """Return the keys of a JSON value with dots between levels; [] stands for all entries of a list."""
    if isinstance(value, dict):
        return [key for name, one in value.items() for key in (f"{before}{name}", *keys(one, f"{before}{name}."))]
    if isinstance(value, list):
        return list(dict.fromkeys(key for one in value for key in keys(one, f"{before.rstrip('.')}[].")))
    return []


def run(*arguments: str) -> int:
    """Run `slimline` in this process and return its exit code; what it prints is dropped."""
    from slimline import cli

    before = sys.argv
    sys.argv = ["slimline", *arguments]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cli.main()
    except SystemExit as stop:
        return int(stop.code or 0)
    finally:
        sys.argv = before
    return 0


#: Commands that write JSON, by what the snapshot calls them. They run one after the other in one folder.
WRITERS = {
    "simulate": ["simulate", "cohort", "--samples", "80", "--variants", "400", "--populations", "3"],
    "fit": ["fit", "cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--C", "0.001", "--audit",
            "--method", "gram"],
    "fit: C chosen": ["fit", "table.csv", "--id", "person", "--target", "status", "--no-report"],
    "predict": ["predict", "cohort.slim", "cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population",
                "--out", "predictions.csv"],
    "predict: a table": ["predict", "table.slim", "table.csv", "--id", "person", "--target", "status", "--out",
                         "table.predictions.csv"],
    "features": ["features", "cohort.slim", "--top", "3"],
    "features: a table": ["features", "table.slim", "--top", "3"],
    "plan": ["plan", "cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--standardize",
             "--method", "gram"],
    "plan: sizes": ["plan", "--samples", "200", "--features", "30000", "--method", "sketch"],  # else the times decide
    "audit": ["audit", "cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--components", "32",
              "--repeats", "2"],
    "demo": ["demo", "--quick", "--people", "100", "--variants", "400"],
}  # fmt: skip


def written_by(writers: dict[str, list[str]]) -> dict[str, Any]:
    """Return the JSON keys of what each of these commands writes."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = samples(2)
        rows = [[f"p{i}", ("well", "ill")[y[i]], *map(str, X[i])] for i in range(len(y))]
        head = ["person", "status", *(f"x{j}" for j in range(X.shape[1]))]
        Path("table.csv").write_text("".join(",".join(row) + "\n" for row in [head, *rows]), encoding="utf-8")
        for name, arguments in writers.items():
            assert run(*arguments, "--json", "out.json") in (0, 3), arguments
            found[name] = keys(json.loads(Path("out.json").read_text(encoding="utf-8")))
            Path("out.json").unlink()
    return found


#: What ends with which code, in the same folder.
CODES = {
    "--version": 0,
    "fit words.svm --C 1e9 --tol 1e-14 --max-passes 3 --method sketch --dimensions 4 --no-report": 3,
    "fit nowhere.npy": 2,
    "fit words.svm --tol nonsense": 2,
    "plan": 2,
    "dance": 2,
}


def exit_codes() -> dict[str, int]:
    """Return the exit codes of some calls."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = samples(2)
        lines = [f"{1 - 2 * y[i]} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(X[i])) for i in range(len(y))]
        Path("words.svm").write_text("\n".join(lines) + "\n")
        return {line: run(*line.split()) for line in CODES}


def aligned_decisions_of() -> list[str]:
    """Return the fields of what `decide` and `aligned_decisions` answer."""
    G, y = genotypes()
    with tempfile.TemporaryDirectory() as folder:
        matrix = open_matrix(write_plink(Path(folder) / "cohort", G))
        model = estimators.CertifiedClassifier(1e-2, standardize=True, random_state=0).fit(matrix, y)
        decided = model.decide(matrix)
    return sorted(name for name in dir(decided) if not name.startswith("_"))


def surface() -> dict[str, Any]:
    """Return all of it."""
    os.environ.setdefault("COLUMNS", "100")
    return {
        "slimline.__all__": list(slimline.__all__),
        "names": public_names("docs/api.md"),
        "errors": error_classes(),
        "fitted": fitted_attributes(),
        "decisions": aligned_decisions_of(),
        "commands": commands(),
        "json": written_by(WRITERS),
        "exit codes": exit_codes(),
    }


def text(record: Any) -> str:
    """Return a snapshot as it is stored."""
    return json.dumps(record, indent=1, ensure_ascii=False, default=lambda value: np.asarray(value).tolist()) + "\n"
