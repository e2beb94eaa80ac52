"""Options that several commands share, and errors in the names of options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slimline.errors import DataError, InvalidParameterError

if TYPE_CHECKING:
    from slimline.data import Matrix


class Family(StrEnum):
    """Families of projections."""

    gaussian = "gaussian"
    sign = "sign"
    achlioptas = "achlioptas"
    very_sparse = "very_sparse"
    srht = "srht"
    srht_replaced = "srht_replaced"
    cw = "cw"
    generalised_cw = "generalised_cw"
    osnap = "osnap"


class Task(StrEnum):
    """Kinds of labels: classes or measurements."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Loss(StrEnum):
    """Losses: of classes, of both, of a regression."""

    squared_hinge = "squared_hinge"
    logistic = "logistic"
    hinge = "hinge"
    squared = "squared"
    huber = "huber"
    epsilon_insensitive = "epsilon_insensitive"
    squared_epsilon_insensitive = "squared_epsilon_insensitive"
    quantile = "quantile"


class Intercept(StrEnum):
    """Kinds of intercept."""

    free = "free"
    penalised = "penalised"
    none = "none"


class Method(StrEnum):
    """Routes to the weights."""

    auto = "auto"
    sketch = "sketch"
    gram = "gram"
    direct = "direct"


#: Panels of `--help`.
DATA, SIZES, MODEL, GUARANTEES, OUTPUT = "Data", "Sizes", "Model", "Guarantees", "Output"

DataPath = Annotated[
    Path, typer.Argument(metavar="DATA", help="File that `open_matrix` opens: .npy, .svm, .csv, .bed, .h5ad, …")
]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that `slimline fit` or `save` wrote.")]
LabelFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="TSV, CSV or .npy file with the labels.", rich_help_panel=DATA)
]
Target = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column of the labels, in FILE or in DATA.", rich_help_panel=DATA)
]
CovariateFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="TSV, CSV, PLINK or .npy file with covariates of the samples.", rich_help_panel=DATA
    ),
]
CovariateColumns = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Columns of that file, and ranges: age,sex,PC1-PC10.",
        show_default="all but names of samples",
        rich_help_panel=DATA,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that names the samples.", rich_help_panel=DATA),
]
FormatName = Annotated[
    str | None,
    typer.Option(help="File format, if the ending of the name does not determine it.", rich_help_panel=DATA),
]
Dataset = Annotated[
    str | None, typer.Option(metavar="NAME", help="Matrix to read, if a file holds several.", rich_help_panel=DATA)
]
Missing = Annotated[
    int | None, typer.Option(help="Whole number that stands for a missing value.", rich_help_panel=DATA)
]
Standardize = Annotated[
    bool,
    typer.Option(
        "--standardize",
        help="Standardise each feature, and impute missing values with the mean.",
        rich_help_panel=DATA,
    ),
]
Components = Annotated[
    int | None,
    typer.Option(min=1, help="Components of the sketch.", show_default="auto", rich_help_panel=MODEL),
]
MethodName = Annotated[Method, typer.Option(help="Route to the weights.", rich_help_panel=MODEL)]
Tolerance = Annotated[
    float, typer.Option(help="Certified relative error of the weights to reach.", rich_help_panel=MODEL)
]
NoIntercept = Annotated[bool, typer.Option("--no-intercept", help="Fit no intercept.", rich_help_panel=MODEL)]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random numbers.", rich_help_panel=MODEL)]
Delta = Annotated[float, typer.Option(help="Failure probability, in (0, 1).", rich_help_panel=GUARANTEES)]
Eps = Annotated[float, typer.Option(help="Distortion, in (0, 1).", rich_help_panel=GUARANTEES)]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel=OUTPUT)]
JsonFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the results as JSON; - for standard output.", rich_help_panel=OUTPUT),
]
FigureFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw a figure: .png, .svg or .pdf.", rich_help_panel=OUTPUT)
]

#: Options that are not named as the parameter that they set.
_OPTION_OF = {
    "n_components": "components",
    "n_samples": "samples",
    "n_features": "features",
    "n_classes": "classes",
    "n_targets": "targets",
    "n_covariates": "covariate_count",
    "n_populations": "populations",
    "n_regions": "regions",
    "missing_rate": "missing",
    "random_state": "seed",
    "penalty_factor": "penalty_factors",
    "label": "target",
    "labels": "target",
    "member": "dataset",
    "array": "dataset",
}
#: The remedy of an error about data, by the parameter that helps in Python, and the option that it takes.
_REMEDIES = {
    "format": ("format", "Give it with --format NAME."),
    "dataset": ("dataset", "Choose one with --dataset NAME."),
    "id": (
        "id",
        "If it names the samples, give its column with --id COLUMN; if it holds labels, with --target COLUMN.",
    ),
    "label": ("labels", "Choose others with --labels FILE --target COLUMN."),
    "rows": ("labels", "Leave them out: give them an empty label in a file of labels."),
    "fill": ("standardize", "--standardize imputes the mean."),
}


def named_as_option(error: InvalidParameterError, options: dict[str, str]) -> InvalidParameterError:
    """Return an error that names an option of the command, by the parameters that they set."""
    name = error.parameter or ""
    option = options.get(_OPTION_OF.get(name, name))
    return error if option is None else error.renamed(option)


def remedied_by_option(error: DataError, options: dict[str, str]) -> DataError:
    """Return an error about data whose remedy is an option of the command."""
    if error.parameter not in _REMEDIES:
        return error
    option, remedy = _REMEDIES[error.parameter]
    return error.with_remedy(remedy if option in options else "")


#: What each option is called where a format is opened; a format that is not named does not have it.
_KEYWORDS = {
    "--target": {"csv": "label", "parquet": "label", "hdf5": "label", "zarr": "label", "npz": "labels"},
    "--id": {"csv": "id", "parquet": "id"},
    "--missing": {"npy": "missing", "npz": "missing", "hdf5": "missing", "zarr": "missing"},
    "--dataset": {"hdf5": "dataset", "zarr": "array", "npz": "member"},
}


@dataclass(frozen=True)
class DataFileOptions:
    """A file of data, and the options that open it."""

    #: The file.
    path: Path
    #: Where its ending does not tell.
    format: str | None = None
    #: Column of it, or array in it, that holds the labels.
    label: str | None = None
    #: Column of it that names the rows.
    id: str | None = None
    #: Whole number that stands for a missing value.
    missing: int | None = None
    #: Which matrix of the file.
    dataset: str | None = None

    def keywords(self) -> dict[str, Any]:
        """Return what `open_matrix` is given beside the path."""
        from slimline.data._open import format_of

        kind = self.format or format_of(self.path)
        found: dict[str, Any] = {} if self.format is None else {"format": self.format}
        for option, value in (
            ("--target", self.label),
            ("--id", self.id),
            ("--missing", self.missing),
            ("--dataset", self.dataset),
        ):
            if value is None:
                continue
            if kind not in _KEYWORDS[option]:
                elsewhere = " Give a file of labels with --labels FILE." if option == "--target" else ""
                raise InvalidParameterError(f"does not apply to {self.path}, of format {kind}.{elsewhere}", option)
            found[_KEYWORDS[option][kind]] = value
        return found

    def open(self) -> Matrix:
        """Return the matrix."""
        from slimline.data import open_matrix

        return open_matrix(self.path, **self.keywords())

    def code(self) -> str:
        """Return the Python expression that opens the same."""
        given = "".join(f", {name}={value!r}" for name, value in self.keywords().items())
        return f"open_matrix({str(self.path)!r}{given})"


def names_rows(path: Path, format: str | None) -> bool:
    """Return whether a column of such a file can name its rows."""
    from slimline.data._open import format_of

    return (format or format_of(path)) in _KEYWORDS["--id"]
