"""Records of fits with covariates: regressions, and classes by the logistic loss."""

import warnings
from dataclasses import replace
from functools import cache
from math import inf, nan

import numpy as np
import pandas as pd

from slimline import CertifiedClassifier, CertifiedRegressor
from slimline.errors import AccuracyWarning
from slimline.report import Told, fit_report

TRAINING = 300


@cache
def _people():
    rng = np.random.default_rng(0)
    n = 420
    X = rng.standard_normal((n, 600))
    U = pd.DataFrame(
        {"age": rng.uniform(20, 80, n), "sex": rng.integers(0, 2, n), "PC1": 0.03 * rng.standard_normal(n)}
    )
    height = 160.0 + 1.5 * X[:, :20].sum(axis=1) + 12 * U["sex"] - 0.15 * U["age"] + 90 * U["PC1"]
    return X, U, (height + 4.0 * rng.standard_normal(n)).to_numpy()


def _report(model, y, **told):
    X, U, _ = _people()
    train, test = slice(0, TRAINING), slice(TRAINING, None)
    told = Told(
        labels="column height of people.tsv, matched by IID", left_out=3, held_out="120 rows drawn at random",
        seed=0, command="slimline fit people.bed", **told,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        model.fit(X[train], y[train], covariates=U[train])
        return fit_report(
            model, X[train], y[train], covariates=U[train], X_test=X[test], y_test=y[test], covariates_test=U[test],
            measure_projection=False, told=told,
        )  # fmt: skip


@cache
def regression():
    """A quantitative trait."""
    model = CertifiedRegressor(C=3e-3, method="gram", standardize=True, random_state=0)
    return _report(model, _people()[2], title="Height of 420 people", targets=("height",))


@cache
def several_targets():
    """A trait, and noise."""
    y = np.column_stack([_people()[2], np.random.default_rng(1).standard_normal(420)])
    model = CertifiedRegressor(C=3e-3, loss="huber", method="gram", random_state=0)
    return _report(model, y, title="Two targets", targets=("height", "noise"))


@cache
def quantile():
    """A quantile, of a target without a name."""
    model = CertifiedRegressor(C=1e-4, loss="quantile", quantile=0.9, method="gram", random_state=0)
    return _report(model, _people()[2], title="A quantile of height")


@cache
def cases():
    """Cases and controls, at a prevalence."""
    case = np.where(_people()[2] > 162.0, "case", "control")
    model = CertifiedClassifier(C=3e-3, loss="logistic", intercept="free", method="gram", random_state=0)
    return _report(model, np.where(case == "case", "ill", "healthy"), title="Cases and controls", prevalence=0.02)


@cache
def three_classes():
    """Three classes by the logistic loss."""
    y = np.array(["short", "middle", "tall"])[np.digitize(_people()[2], [155.0, 166.0])]
    model = CertifiedClassifier(C=3e-3, loss="logistic", intercept="free", method="gram", random_state=0)
    return _report(model, y, title="Three classes")


def nothing_known():
    """No bound was found, covariates depend on others, and the target is constant."""
    report = regression()
    held = replace(
        report.held_out_targets[0], r2=None, correlation=None, baseline_r2=None, radius=(inf,) * 120,
        median_radius=inf, largest_radius=inf, loss=1.0, baseline_loss=1.0,
    )  # fmt: skip
    effects = tuple(
        replace(one, lower=-inf, upper=inf) if k < 2 else replace(one, effect=nan, lower=nan, upper=nan, deviation=0.0)
        for k, one in enumerate(report.effects)
    )
    return replace(report, held_out_targets=(held,), effects=effects)


def vast_and_small():
    """Effects and predictions of extreme size, and predictions far less certain than dots are wide."""
    report = regression()
    held = report.held_out_targets[0]
    held = replace(
        held,
        **{name: tuple(1e-150 * x for x in getattr(held, name)) for name in ("predicted", "observed", "residual_ends")},
        radius=tuple(1e-151 * k for k in range(120)),
    )
    effects = tuple(
        replace(one, effect=size * one.effect, lower=-2 * abs(size), upper=3e3 * abs(size))
        for one, size in zip(report.effects, (1e9, 1e-9, 1e200, -1e-200), strict=True)
    )
    return replace(report, held_out_targets=(held,), effects=effects)


COVARIATE_EXAMPLES = {
    "regression": regression,
    "several targets": several_targets,
    "quantile": quantile,
    "cases": cases,
    "three classes": three_classes,
    "nothing known": nothing_known,
    "vast and small": vast_and_small,
}
