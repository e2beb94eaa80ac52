import inspect
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from rich.console import Console
from sklearn.datasets import dump_svmlight_file

import slimline
from slimline import open_matrix
from slimline._base.text import scientific
from slimline.cli._options import Loss, Method
from slimline.cli._plan import Element
from slimline.cli._plan import plan as command
from slimline.cli._plan_view import plan_code, plan_view, telling
from slimline.data import write_genotypes
from slimline.learning import LOSSES
from slimline.learning.regression_losses import REGRESSION_LOSSES
from slimline.planning import Guarantee
from tests.cli.command import refusals, run_here
from tests.snapshots import check_snapshot

SNAPSHOTS = Path(__file__).parent / "snapshots"
N, D = 60, 400


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _data():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    X = rng.standard_normal((N, D)).astype(np.float32)
    X[:, :20] += 2.0 * y[:, None]
    return X, y


def _npy():
    X, y = _data()
    np.save("data.npy", X)
    np.save("labels.npy", y)
    lines = [f"s{k}\t{'case' if c else 'control'}\t{k % 3}" for k, c in enumerate(y)]
    Path("labels.tsv").write_text("\n".join(["sample\tstatus\tbatch", *lines]))
    return ["data.npy", "--labels", "labels.tsv", "--target", "status"]


def _svmlight():
    X, y = _data()
    dump_svmlight_file(sp.csr_array(np.where(np.abs(X) > 1.5, X, 0)), y, "data.svm", zero_based=False)
    return ["data.svm"]


def _csv(labels_inside=True):
    X, y = _data()
    head = ",".join(["who", *(f"f{k}" for k in range(D)), "status"])
    rows = [f"p{k}," + ",".join(map(str, row)) + f",{'yn'[c]}" for k, (row, c) in enumerate(zip(X, y, strict=True))]
    Path("data.csv").write_text("\n".join([head, *rows]))
    return ["data.csv", "--id", "who", "--target", "status"]


def _plink():
    write_genotypes("cohort", 80, 500, n_populations=3, fst=0.1, seed=1, missing_rate=0.01)
    return ["cohort.bed", "--labels", "cohort.labels.tsv", "--target", "population", "--standardize"]


def _plan(monkeypatch, *arguments):
    """Run the command and return what it wrote as JSON."""
    assert run_here(monkeypatch, "plan", *arguments, "--json", "plan.json") == 0
    return json.loads(Path("plan.json").read_text())


@pytest.mark.parametrize(
    "write, classes, labels",
    [
        (_npy, 2, "status of labels.tsv, in the order of the rows"),
        (_svmlight, 2, "from data.svm"),
        (_csv, 2, "from data.csv"),
        (_plink, 3, "population of cohort.labels.tsv, matched by FID and IID"),
    ],
)
def test_files_of_every_kind_and_the_code_that_follows(monkeypatch, capsys, write, classes, labels):
    record = _plan(monkeypatch, *write())
    said = capsys.readouterr().out
    made = record["plan"]
    assert record["layout"] == 1 and record["labels"] == labels
    assert made["n_classes"] == classes and made["passes"] >= 2 and made["margin"] is not None
    for part in ("Recommendation", "Data and task", "Components that each guarantee needs", "→", "Next, in Python:"):
        assert part in said
    code = said.split("Next, in Python:\n")[1]
    known = {}
    if "model.fit(X, y)" in code:
        lines = Path("labels.tsv" if write is _npy else "cohort.labels.tsv").read_text().splitlines()[1:]
        known["y"] = [line.split()[1 if write is _npy else 2] for line in lines]
    exec(code, known)
    assert known["model"].coef_.shape == ((1 if classes == 2 else classes), made["n_features"])
    assert known["model"].certificate_.relative_error.max() <= 1e-2
    parameters = known["model"].get_params()
    assert all(parameters[name] == value for name, value in made["parameters"].items())


def test_the_plan_is_that_of_the_library(monkeypatch, capsys):
    arguments = _npy()
    record = _plan(monkeypatch, *arguments, "--seed", "3", "--loss", "logistic", "--no-intercept")["plan"]
    _, y = _data()
    names = np.where(y == 1, "case", "control")
    expected = slimline.plan("data.npy", names, random_state=3, loss="logistic", fit_intercept=False).to_dict()
    for name in ("guarantees", "margin", "margin_dimension", "most_dimension", "effective_dimension", "errors"):
        assert record[name] == expected[name], name
    assert record["parameters"]["fit_intercept"] is False


@pytest.mark.slow
def test_sizes_alone_with_every_option(monkeypatch, capsys):
    options = {
        "--samples": 500, "--features": 30_000, "--classes": 4, "--density": 0.02, "--dtype": "float64", "--C": 0.5,
        "--loss": "hinge", "--tol": 0.05, "--method": "sketch", "--components": 640, "--eps": 0.2, "--delta": 0.01,
        "--margin": 0.25, "--rank": 90, "--sparsity": 700, "--seed": 2,
    }  # fmt: skip
    words = [str(word) for pair in options.items() for word in pair]
    record = _plan(monkeypatch, *words, "--standardize", "--no-intercept")["plan"]
    expected = slimline.plan(
        n_samples=500, n_features=30_000, n_classes=4, density=0.02, dtype="float64", C=0.5, loss="hinge", tol=0.05,
        method="sketch", n_components=640, eps=0.2, delta=0.01, margin=0.25, rank=90, sparsity=700, random_state=2,
        standardize=True, fit_intercept=False,
    ).to_dict()  # fmt: skip
    timed = ("seconds", "costs", "choice", "advice", "parameters")
    assert {k: v for k, v in record.items() if k not in timed} == {k: v for k, v in expected.items() if k not in timed}
    assert record["choice"]["method"] == "sketch" and record["choice"]["n_components"] == 640
    assert record["parameters"]["standardize"] is True
    said = capsys.readouterr().out
    for part in ("hinge, C = 0.5, standardised, no intercept", "2 % of the values", "ε = 0.2, δ = 0.01", "700-sparse"):
        assert part in said


def _trait():
    """Write a trait and three covariates of the samples."""
    X, _ = _data()
    rng = np.random.default_rng(1)
    trait = 170.0 + 5.0 * X[:, 0] + rng.standard_normal(N)
    Path("trait.csv").write_text("sample,height\n" + "".join(f"s{k},{value:.4f}\n" for k, value in enumerate(trait)))
    return trait.round(4), rng.standard_normal((N, 3))


@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive"])
def test_a_regression_beside_covariates_and_the_code_that_follows(monkeypatch, capsys, loss):
    _npy()
    trait, U = _trait()
    known = ["data.npy", "--labels", "trait.csv", "--target", "height", "--C", "1e-3"]
    record = _plan(monkeypatch, *known, "--loss", loss, "--covariate-count", "3", "--epsilon", "0.5")["plan"]
    said = capsys.readouterr().out
    assert (record["task"], record["n_targets"], record["n_covariates"]) == ("regression", 1, 3)
    assert "1 target (height of trait.csv" in said and "3 covariates" in said and "a regression has none" in said
    assert "SVM" not in said and record["margin"] is None
    code = said.split("Next, in Python:\n")[1]
    names = {"y": trait, "U": U}
    exec(code, names)
    model = names["model"]
    assert type(model).__name__ == record["estimator"] == "CertifiedRegressor"
    assert model.covariate_coef_.shape == (3,) or model.covariate_coef_.shape == (1, 3)
    assert model.certificate_.relative_error.max() <= 1e-2
    assert all(model.get_params()[name] == value for name, value in record["parameters"].items())


def _covariates():
    """Write a table of three covariates: the first sample lacks one, the last is not in it."""
    _npy()
    trait, U = _trait()
    Path("covar.csv").write_text(
        "age,sex,site\n" + "".join(f"{'NA' if k == 0 else U[k, 0]},{'FM'[k % 2]},{U[k, 1]}\n" for k in range(N))
    )
    columns = np.column_stack([U[:, 0], np.arange(N) % 2, U[:, 1]])
    return trait, columns


@pytest.mark.parametrize("with_labels", [True, False])
def test_covariates_of_a_file_are_cut_with_the_labels(monkeypatch, capsys, with_labels):
    trait, U = _covariates()
    X, _ = _data()
    lines = Path("trait.csv").read_text().splitlines()
    lines[3] = "s2,NA"
    Path("trait.csv").write_text("\n".join(lines) + "\n")
    labels = ["--labels", "trait.csv", "--target", "height"] if with_labels else []
    known = ["data.npy", *labels, "--loss", "squared", "--task", "regression", "--C", "1e-3"]
    record = _plan(monkeypatch, *known, "--covariates", "covar.csv", "--covariate-columns", "age-sex")
    said = " ".join(capsys.readouterr().out.split())
    kept = np.setdiff1d(np.arange(N), [0, 2] if with_labels else [0])
    expected = slimline.plan(
        X[kept], trait[kept] if with_labels else None, loss="squared", task="regression", C=1e-3,
        covariates=U[kept, :2], random_state=0,
    ).to_dict()  # fmt: skip
    for name in ("n_samples", "n_covariates", "effective_dimension", "errors"):
        assert record["plan"][name] == expected[name], name
    assert record["covariates"] == "age, sex of covar.csv, in the order of the rows" in said
    assert record["plan"]["n_covariates"] == 2 and "1 lack a value (age 1)" in said and "sex: F = 0, M = 1" in said


def test_covariates_are_matched_by_the_names_of_samples(monkeypatch, capsys):
    arguments = _plink()
    people = [line.split()[:2] for line in Path("cohort.fam").read_text().splitlines()]
    rng = np.random.default_rng(0)
    ages = rng.standard_normal(len(people)).round(3)
    order = rng.permutation(len(people))[1:]
    lines = ["FID IID age", *(f"{people[k][0]} {people[k][1]} {ages[k]}" for k in order)]
    Path("covar.tsv").write_text("\n".join(lines).replace(" ", "\t"))
    found = _plan(monkeypatch, *arguments, "--covariates", "covar.tsv")
    assert found["plan"]["n_samples"] == 79 and found["plan"]["n_covariates"] == 1
    kept = np.sort(order)
    names = np.array([line.split()[2] for line in Path("cohort.labels.tsv").read_text().splitlines()[1:]])
    expected = slimline.plan(
        open_matrix("cohort.bed").rows(kept), names[kept], standardize=True, covariates=ages[kept, None], random_state=0
    ).to_dict()
    assert found["plan"]["effective_dimension"] == expected["effective_dimension"]


def test_numbers_that_the_data_carry(monkeypatch, capsys):
    X, _ = _data()
    trait, _ = _trait()
    dump_svmlight_file(sp.csr_array(np.where(np.abs(X) > 1.5, X, 0)), trait, "data.svm", zero_based=False)
    record = _plan(monkeypatch, "data.svm", "--loss", "squared", "--C", "1e-3")["plan"]
    assert record["task"] == "regression"
    names = {}
    exec(capsys.readouterr().out.split("Next, in Python:\n")[1], names)
    np.testing.assert_allclose(names["model"].predict(names["X"]).mean(), trait.mean(), rtol=0.1)
    assert _plan(monkeypatch, "data.svm", "--loss", "huber", "--huber-delta", "2")["plan"]["parameters"]["delta"] == 2.0


def test_sizes_of_a_regression(monkeypatch, capsys):
    options = ["--loss", "quantile", "--quantile", "0.9", "--targets", "2", "--standardize-target"]
    record = _plan(monkeypatch, "--samples", "50", "--features", "900", *options, "--intercept", "penalised")["plan"]
    assert (record["n_targets"], record["intercept"]) == (2, "penalised")
    expected = {"quantile": 0.9, "standardize_target": True, "intercept": "penalised"}
    assert record["parameters"].items() >= expected.items()
    assert "2 targets" in capsys.readouterr().out
    assert (
        _plan(monkeypatch, "--samples", "50", "--features", "900", "--intercept", "none")["plan"]["fit_intercept"]
        is False
    )


def test_defaults_are_those_of_the_function():
    of_function, of_command = (inspect.signature(f).parameters for f in (slimline.plan, command))
    for name in (
        "C",
        "loss",
        "task",
        "epsilon",
        "quantile",
        "standardize_target",
        "tol",
        "method",
        "intercept",
        "eps",
        "delta",
        "margin",
        "rank",
        "sparsity",
        "density",
        "standardize",
    ):
        assert of_command[name].default == of_function[name].default, name
    assert set(Loss) == {*LOSSES, *REGRESSION_LOSSES} and {"auto", "sketch", "gram", "direct"} == set(Method)
    assert all(np.dtype(one.value).itemsize for one in Element)


def test_json_on_standard_output_goes_alone(monkeypatch, capsys):
    assert run_here(monkeypatch, "plan", "--samples", "50", "--features", "900", "--json", "-") == 0
    said = capsys.readouterr()
    record = json.loads(said.out)
    assert record["plan"]["n_features"] == 900 and record["labels"] is None
    assert json.loads(json.dumps(record)) == record and "Recommendation" in said.err


def test_a_file_as_a_sample_of_more_rows(monkeypatch, capsys):
    record = _plan(monkeypatch, *_npy(), "--samples", "5000")["plan"]
    assert record["n_samples"] == 5000 and "60 rows" in record["source"]
    assert "5,000 samples × 400 features" in capsys.readouterr().out


def test_labels_are_looked_for_and_passed_over_where_they_say_nothing(monkeypatch, capsys):
    write_genotypes("cohort", 40, 300, seed=0)
    people = [line.rsplit(" ", 1)[0] for line in Path("cohort.fam").read_text().splitlines()]
    # everybody is a case, as in a real file
    Path("cohort.fam").write_text("".join(f"{line} 2\n" for line in people))
    record = _plan(monkeypatch, "cohort.bed")
    assert record["labels"] is None and record["plan"]["margin"] is None
    assert "no labels known" in capsys.readouterr().out
    # cases, controls, and some of whom nothing is known
    Path("cohort.fam").write_text("".join(f"{line} {(-9, 1, 2)[k % 3]}\n" for k, line in enumerate(people)))
    record = _plan(monkeypatch, "cohort.bed")
    assert record["plan"]["n_samples"] == 26 and "14 of 40 rows have none" in record["labels"]
    assert "model.fit(X, y)" in capsys.readouterr().out


@pytest.mark.slow
def test_options_of_formats_reach_the_file(monkeypatch, capsys):
    X, y = _data()
    np.savez("two.npz", first=X[:, :100], second=X, status=y)
    assert _plan(monkeypatch, "two.npz", "--dataset", "second", "--target", "status")["plan"]["n_features"] == D
    code = capsys.readouterr().out.split("Next, in Python:\n")[1]
    assert "X = open_matrix('two.npz', labels='status', member='second')" in code
    whole = np.where(X > 1, 1, 0).astype(np.int8)
    whole[3, 5] = -127
    np.save("calls.npy", whole)
    assert run_here(monkeypatch, "plan", "calls.npy", "--missing", "-127") == 2
    message = capsys.readouterr().err
    assert "row 3, column 5" in message and message.rstrip().endswith("--standardize imputes the mean.")
    assert run_here(monkeypatch, "plan", "calls.npy", "--missing", "-127", "--standardize") == 0
    np.save("odd.npy", X)
    Path("odd.npy").rename("odd.matrix")
    assert run_here(monkeypatch, "plan", "odd.matrix", "--format", "npy") == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan.png", "plan.svg", "plan.pdf"])
def test_the_figure_is_written_and_named(monkeypatch, capsys, tmp_path, name):
    assert run_here(monkeypatch, "plan", "--samples", "50", "--features", "900", "--figure", name) == 0
    assert f"Figure: {name}" in capsys.readouterr().out
    assert (tmp_path / name).stat().st_size > 20_000


def test_mistakes_are_one_line_and_come_before_any_work(monkeypatch, capsys, tmp_path):
    _covariates()
    before = sorted(path.name for path in tmp_path.iterdir())

    def no_work(*_, **__):
        raise AssertionError("work was begun")

    monkeypatch.setattr("slimline.planning._planner.probe_data", no_work)
    monkeypatch.setattr("slimline.planning._planner.probe_worst_case", no_work)
    sizes = ["--samples", "50", "--features", "900"]
    said = refusals(
        monkeypatch,
        capsys,
        "plan",
        [
            [],
            ["--samples", "50"],
            [*sizes, "--labels", "labels.tsv"],
            [*sizes, "--target", "status"],
            ["data.npy", "--features", "400"],
            ["data.npy", "--dtype", "int8"],
            ["data.npy", "--samples", "10"],
            ["data.npy", "--target", "status"],
            ["data.npy", "--id", "who"],
            ["data.npy", "--labels", "none.tsv"],
            ["data.npy", "--labels", "."],
            ["data.npy", "--labels", "labels.tsv"],
            ["data.npy", "--labels", "labels.tsv", "--target", "sample"],
            ["data.npy", "--labels", "labels.npy", "--classes", "2", "--target", "x"],
            ["nowhere.npy"],
            ["data.unknown"],
            ["data.npy", "--format", "hdf6"],
            [*sizes, "--eps", "1"],
            [*sizes, "--eps", "nan"],
            [*sizes, "--delta", "0"],
            [*sizes, "--margin", "2.5"],
            [*sizes, "--density", "0"],
            [*sizes, "--C", "0"],
            [*sizes, "--tol", "inf"],
            [*sizes, "--loss", "huber", "--margin", "0.3"],
            [*sizes, "--loss", "hinge", "--task", "regression"],
            [*sizes, "--loss", "huber", "--huber-delta", "0"],
            [*sizes, "--targets", "2"],
            [*sizes, "--covariate-count", "49"],
            [*sizes, "--covariate-count", "2", "--intercept", "penalised"],
            [*sizes, "--covariates", "covar.csv"],
            ["data.npy", "--covariate-columns", "age"],
            ["data.npy", "--covariates", "covar.csv", "--covariate-count", "2"],
            ["data.npy", "--covariates", "covar.csv", "--covariate-columns", "height"],
            ["data.npy", "--covariates", "covar.csv", "--intercept", "penalised"],
            ["data.npy", "--covariates", "none.csv"],
            [*sizes, "--no-intercept", "--intercept", "penalised"],
            ["data.npy", "--labels", "labels.tsv", "--target", "status", "--loss", "huber"],
            [*sizes, "--json", "no/folder/plan.json"],
            [*sizes, "--figure", "no/folder/plan.png"],
            [*sizes, "--figure", "plan.gif"],
        ],
    )
    check_snapshot(SNAPSHOTS / "plan mistakes.txt", said)
    for arguments in (["--loss", "cubic"], ["--method", "magic"], ["--dtype", "complex64"], ["--samples", "1"]):
        assert run_here(monkeypatch, "plan", *sizes, *arguments) == 2
        assert arguments[0] in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_mistakes_that_show_later_speak_of_options(monkeypatch, capsys):
    _npy()
    sizes = ["--samples", "50", "--features", "900"]
    Path("cut.npy").write_bytes(Path("data.npy").read_bytes()[:5000])
    said = refusals(
        monkeypatch,
        capsys,
        "plan",
        [
            ["data.npy", "--labels", "labels.tsv", "--target", "batch", "--classes", "2"],
            [*sizes, "--method", "sketch", "--components", "900"],
            [*sizes, "--margin", "1.5"],
            ["cut.npy"],
        ],
    )
    check_snapshot(SNAPSHOTS / "plan of bad data.txt", said)


def test_interruption(monkeypatch, capsys, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("slimline.planning._planner.probe_worst_case", interrupted)
    sizes = ["--samples", "50", "--features", "900"]
    assert run_here(monkeypatch, "plan", *sizes, "--json", "plan.json", "--figure", "plan.png") == 130
    assert "Traceback" not in capsys.readouterr().err and not list(tmp_path.iterdir())


def _text(made, width, **options):
    console = Console(width=width)
    with console.capture() as capture:
        console.print(plan_view(made, "labels of somewhere", **options))
    return capture.get()


@pytest.fixture(scope="module")
def wide():
    return slimline.plan(n_samples=2000, n_features=500_000, n_classes=3, margin=0.3, dtype="int8", eps=0.4)


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("every", [False, True])
def test_the_view_fits_its_terminal(wide, width, every):
    text = _text(wide, width, every=every)
    assert max(map(len, text.splitlines())) <= width and "…" not in text
    shown = [line for line in text.splitlines() if " ✓" in line or " ✗" in line]
    rows = wide.guarantees if every else telling(wide.guarantees)
    assert ("--all shows" in text) == (not every)
    if not every:
        assert f"--all shows {len(wide.guarantees) - len(rows)} more" in " ".join(text.split())
    for row in rows:
        assert row.name in text
        if row.dimension is not None:
            assert any(row.name in line and scientific(row.dimension) in line for line in shown), row
    for cost in wide.costs:
        assert cost.label in text
    (marked,) = [line for line in text.splitlines() if line.strip().startswith("→ ") and "recommended" not in line]
    assert wide.choice.label in marked


def test_the_telling_guarantees():
    def row(name, about, dimension, kind="theorem"):
        return Guarantee(name, about, dimension, True, kind=kind)

    rows = [
        row("a", "one norm", 50), row("b", "one norm", 40), row("c", "the row space, Gaussian", 90),
        row("d", "the row space, in the limit", 30, "limit"), row("e", "on average", 1), row("f", "ball", None),
        row("g", "margin, srht", None), row("h", "margin, osnap", 1000),
    ]  # fmt: skip
    assert [one.name for one in telling(rows)] == ["b", "c", "f", "h"]
    assert telling([]) == []


def test_numbers_of_dimensions():
    said = [scientific(x) for x in (1, 9_036_342, 10_820_427_125, 3.64e14)]
    assert said == ["1", "9,036,342", "1.1·10¹⁰", "3.6·10¹⁴"]


def test_code_without_data_only_lacks_them(wide):
    code = plan_code(wide, None, False)
    assert "open_matrix" not in code and max(map(len, code.splitlines())) <= 80
    X, y = _data()
    names = {"X": X, "y": y}
    exec(code.replace("n_components=", "n_components=64 or "), names)
    assert names["model"].coef_.shape == (1, D)


@pytest.mark.slow
@pytest.mark.data
def test_real_genotypes_with_their_labels(monkeypatch, capsys, data_dir):
    folder = data_dir / "hapmap3_1kg"
    labels = ["--labels", str(folder / "hapmap3.labels.tsv"), "--target", "region", "--standardize"]
    record = _plan(monkeypatch, str(folder / "hapmap3.bed"), *labels)
    assert record["labels"] == "region of hapmap3.labels.tsv, matched by FID and IID"
    truth = [line.split()[3] for line in (folder / "hapmap3.labels.tsv").read_text().splitlines()[1:]]
    made = record["plan"]
    assert (made["n_samples"], made["n_features"], made["n_classes"]) == (957, 14_389, len(set(truth)))
    assert made["choice"]["method"] in ("gram", "sketch") and 1 < made["effective_dimension"] <= 957
    assert open_matrix(folder / "hapmap3.bed").shape == (957, 14_389)


def test_names_of_other_samples_are_refused(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    lines = ["id,a,b", *(f"s{k},{x:.3f},{z:.3f}" for k, (x, z) in enumerate(rng.standard_normal((40, 2))))]
    Path("X.csv").write_text("\n".join(lines) + "\n")
    labels = ["id,class", *(f"s{k}x,{'ab'[k % 2]}" for k in rng.permutation(40))]
    Path("labels.csv").write_text("\n".join(labels) + "\n")
    assert run_here(monkeypatch, "plan", "X.csv", "--id", "id", "--labels", "labels.csv") == 2
    said = capsys.readouterr().err
    assert "no sample of X.csv is named there" in said and "in the column 'id'" in said
    assert run_here(monkeypatch, "plan", "--samples", "50", "--features", "900", "--eps", "1e-9") == 0
