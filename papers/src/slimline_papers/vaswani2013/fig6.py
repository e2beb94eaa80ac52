"""Fig. 6: the error against the number of iterations, as published and certified, where it converges and where not.

The document does not say how features were scaled: they are taken as they come, and with rows of norm 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slimline import CertifiedClassifier, geometry
from slimline.projections import Projection
from slimline_papers.drawing import COLOURS, band, bound, canvas, connected, finish
from slimline_papers.finding import Finding, either_way
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.printed import printed
from slimline_papers.study import Study
from slimline_papers.table import Table
from slimline_papers.vaswani2013.exact_models import (
    LEFT_OPEN,
    SCALINGS,
    distance,
    exact_weights,
    stopped_early,
    training_part,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_PROJECTIONS = int(printed("vaswani2013", "fig6_projections"))
_ITERATIONS = int(printed("vaswani2013", "fig6_iterations"))
_RUNS = int(printed("vaswani2013", "runs"))
#: Projections of a sketch that is far too small for DOROTHEA's rank of 800.
_SMALL = 500


def _parts(study: Study) -> Sequence[Part]:
    cases = [("raw", "arcene", _PROJECTIONS), ("raw", "dorothea", _SMALL), ("unit", "arcene", _PROJECTIONS)]
    if study.size != "miniature":
        cases[1:1] = [("raw", "dorothea", _PROJECTIONS)]
        cases.append(("unit", "dorothea", _PROJECTIONS))
    runs = range(study.pick(1, 1, _RUNS))
    return [(*case, recovery, run) for case in cases for recovery in ("iterative", "certified") for run in runs]


def _steps(r: int, recovery: str) -> tuple[int, ...]:
    if r == _SMALL:
        return (1, 2, 4, 8) if recovery == "iterative" else (1, 2, 4, 8, 12)
    return tuple(range(1, _ITERATIONS + 1)) if recovery == "iterative" else (1, 2, 3, 5, 7)


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    scaling, name, r, recovery, run = str(part[0]), str(part[1]), int(part[2]), str(part[3]), int(part[4])
    X, y = training_part(study, name, scaling)
    exact = exact_weights(X, y, "squared")
    smallest = rank = float("nan")
    for steps in study.pick(_steps(r, recovery)[::2], _steps(r, recovery), _steps(r, recovery)):
        model = CertifiedClassifier(
            C=1.0, loss="squared", method="sketch", recovery=recovery, projection="gaussian", n_components=r, tol=1e-9,
            max_passes=1 + steps, fit_intercept=False, random_state=study.seed_of("vaswani2013.fig6", name, r, run),
        )  # fmt: skip
        with stopped_early():
            model.fit(X, y)
        if recovery == "iterative" and steps == 1:
            embedding = geometry.embedding_error(X, Projection.from_json(model.projections_[0]))
            smallest, rank = embedding.smallest, embedding.rank
        # the radius is proved; it is divided by the norm of the exact weights, as the true error is
        proved = float(model.certificate_.radius[0]) / np.linalg.norm(exact)
        components = model.history_[-1].n_components
        yield (
            scaling, name, r, recovery, run, model.n_passes_ - 1, components, rank, smallest,
            distance(model.coef_[0], exact), proved,
        )  # fmt: skip
        if model.n_passes_ - 1 < steps:
            return  # it has got to its tolerance, and would do the same again


def _cases(table: Table) -> list[tuple[str, int]]:
    """Return the data sets and numbers of projections."""
    return list(dict.fromkeys(zip(map(str, table.values("data")), map(int, table["r"]), strict=True)))


def _label(name: str, r: int) -> str:
    return f"{name.upper()}, r = {r:,}"


def _runs(rows: Table) -> list[Table]:
    return [rows.where(run=run) for run in rows.distinct("run")]


def _passes(rows: Table) -> list[int]:
    return sorted(int(number) for number in rows.distinct("passes"))


def _over_runs(rows: Table, column: str) -> tuple[Floats, Floats, Floats]:
    """Return the mean, the smallest and the largest of the runs after each number of passes."""
    each = [rows.where(passes=number)[column] for number in _passes(rows)]
    mean, low, high = (np.array([of(values) for values in each]) for of in (np.mean, np.min, np.max))
    return mean, low, high


def _factor(published: Table) -> str:
    """Return the largest factor of a published step on the error as λ → 0, where λ is small beside the data.

    It is 1/s - 1, s the smallest eigenvalue of VᵀRRᵀV. With rows of norm 1 λ = 1 is not small, and the factor is less.
    """
    smallest = published["smallest"].min()
    if smallest < 1e-9:
        return "fewer projections than rank"
    if published.distinct("scaling") != ["raw"]:
        return "λ = 1 is not small beside the data"
    return f"error × {1 / smallest - 1:.2g} a step at most as λ → 0"


def _draw(table: Table) -> Figure:
    by_scaling = {str(scaling): table.where(scaling=scaling) for scaling in table.distinct("scaling")}
    columns = max(len(_cases(rows)) for rows in by_scaling.values())
    figure, panels = canvas(columns, len(by_scaling), width=4.9, height=4.0)
    for number, (scaling, rows) in enumerate(by_scaling.items()):
        row = panels[number * columns : (number + 1) * columns]
        for panel, (name, r) in zip(row, _cases(rows), strict=False):
            _draw_case(panel, rows.where(data=name, r=r), f"{_label(name, r)}, {SCALINGS[scaling]}")
        for panel in row[len(_cases(rows)) :]:
            panel.set_axis_off()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, fontsize=9, frameon=False)
    return figure


def _draw_case(panel: Axes, rows: Table, title: str) -> None:
    published, certified = (rows.where(recovery=kind) for kind in ("iterative", "certified"))
    for some, label, colour in (
        (published, "published", COLOURS["iterative"]),
        (certified, "certified: true error", COLOURS["certified"]),
    ):
        mean, low, high = _over_runs(some, "error")
        band(panel, _passes(some), low, high, colour)
        connected(panel, _passes(some), mean, label, colour)
    proved = _over_runs(certified, "proved")[0]
    bound(panel, _passes(certified), proved, "certified: what is proved", COLOURS["certified"])
    panel.axhline(1, color="0.6", linewidth=0.8, zorder=0)
    finish(
        panel, f"{title}:\n{_factor(published)}", "iterations (passes after the sketch)", "‖w - w*‖ / ‖w*‖",
        yscale="log", legend=False,
    )  # fmt: skip


def _judge(table: Table) -> Sequence[Finding]:
    judged = [
        (_too_few if r == _SMALL else _falls)(table.where(data=name, r=r), _label(name, r)) for name, r in _cases(table)
    ]
    return [*judged, _proved(table)]


def _course(published: Table) -> str:
    runs, steps = len(_runs(published)), ", ".join(map(str, _passes(published)))
    errors = ", ".join(f"{error:.2g}" for error in _over_runs(published, "error")[0])
    return f"{f'mean errors of {runs} runs' if runs > 1 else 'errors'} {errors} after {steps} iterations"


def _beside(certified: Table) -> str:
    mean, _, high = _over_runs(certified, "error")
    most = certified["components"].max()
    grown = f", its sketch grown to {most:,.0f} columns on the way" if most > certified["r"][0] else ""
    worst = f", {high[-1]:.2g} in the worst run" if len(_runs(certified)) > 1 else ""
    return (
        f"the certified iteration gets from {mean[0]:.2g} to {mean[-1]:.2g} in {_passes(certified)[-1]} passes{worst} "
        f"(proved: {_over_runs(certified, 'proved')[2][-1]:.2g}){grown}"
    )


def _converges(certified: Table) -> bool:
    """Return whether the error falls with every pass of every run, and to less than a tenth."""
    return all(
        run["error"][-1] < 0.1 * run["error"][0] and np.all(np.diff(run["error"]) < 0) for run in _runs(certified)
    )


def _falls(rows: Table, label: str) -> Finding:
    """Judge whether every published iteration makes the error smaller, with features as they come and scaled."""
    ways, beside, smallest = {}, {}, {}
    for scaling in map(str, rows.distinct("scaling")):
        some = rows.where(scaling=scaling)
        published = some.where(recovery="iterative")
        rises = [bool(np.any(np.diff(run["error"]) >= 0)) for run in _runs(published)]
        how_many = f", in {sum(rises)} of them not falling" if len(rises) > 1 and any(rises) else ""
        ways[SCALINGS[scaling]] = (not any(rises), f"{_course(published)}{how_many}")
        beside[scaling] = some.where(recovery="certified")
        smallest[scaling] = published["smallest"].min()
    finding = either_way(
        f"{label}: every iteration of dual random projection makes the error smaller.",
        f"falls for {_ITERATIONS} iterations, and could go on to rounding; both data sets alike",
        ways,
        LEFT_OPEN,
        "If λ is small beside the data, an iteration multiplies the error by up to 1/s - 1, where s is the smallest "
        "factor by which the projection changes a squared length in the row space, and diverges for s below ½. Here s "
        f"= {min(smallest.values()):.2f}, because the rank, {np.nanmax(rows['rank']):.0f}, is high beside the number "
        "of projections.",
    )
    words = "; ".join(f"{SCALINGS[scaling]}: {_beside(certified)}" for scaling, certified in beside.items())
    if finding.holds:
        return replace(finding, ours=f"{finding.ours}; {words}")
    return replace(finding, corrected=words, corrected_holds=all(map(_converges, beside.values())))


def _too_few(rows: Table, label: str) -> Finding:
    """Judge a case that the document does not have: fewer projections than the rank."""
    published, certified = rows.where(recovery="iterative"), rows.where(recovery="certified")
    return Finding(
        claim=f"{label}, fewer than the rank, {published['rank'][0]:.0f}: the published iteration diverges, the "
        "certified one does not.",
        printed="not tried",
        beyond=True,
        ours=f"{_course(published)}; {_beside(certified)}",
        holds=all(np.all(np.diff(run["error"]) > 0) for run in _runs(published)) and _converges(certified),
        reason="the published iteration converges, or the certified one does not",
    )


def _proved(table: Table) -> Finding:
    slack = table["proved"] / table["error"]
    return Finding(
        claim="What is proved of the weights is never below their true error.",
        printed="no certificate",
        beyond=True,
        ours=f"{np.sum(slack >= 1)} of {len(table)} certificates hold, in published steps as well; they are "
        f"{_span(slack, table, 'raw')} times the true error with features as they come, beside which λ = 1 is tiny, "
        f"and {_span(slack, table, 'unit')} times with rows of norm 1",
        holds=slack.min() >= 1,
        reason="a certificate is below the true error",
    )


def _span(values: Floats, table: Table, scaling: str) -> str:
    some = values[np.array(table.values("scaling")) == scaling]
    return f"{float(f'{some.min():.2g}'):,g} to {float(f'{some.max():.2g}'):,g}" if len(some) else "unknown"


FIG6 = Item(
    name="vaswani2013.fig6",
    title="Error against iterations: published and certified",
    experiment=Experiment(
        name="vaswani2013.iterations",
        about="ARCENE and DOROTHEA, features as they come and with rows of norm 1, Gaussian projections, squared loss, "
        "λ = 1: relative error of the weights after iterations of dual random projection, as published and certified.",
        columns=(
            "scaling",
            "data",
            "r",
            "recovery",
            "run",
            "passes",
            "components",
            "rank",
            "smallest",
            "error",
            "proved",
        ),
        parts=_parts,
        measure=_measure,
        sources=("arcene", "dorothea"),
    ),
    draw=_draw,
    judge=_judge,
    correction="12",
    chosen="the scaling of the features, as they come and with rows of norm 1",
)
