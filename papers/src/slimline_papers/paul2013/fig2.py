"""Fig. 2: where people come from, told from a sketch of their genotypes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from slimline.data import Matrix, PackedGenotypes
from slimline_papers.chance import ONE_LIMIT, SURELY
from slimline_papers.drawing import as_printed, canvas, finish, measured
from slimline_papers.finding import Finding, alike_finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.paul2013.contenders import CHOSEN, FAMILIES, THEIRS, projection
from slimline_papers.printed import printed
from slimline_papers.study import Study
from slimline_papers.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SETS = {"hapmap3": "HapMap 3", "thousand_genomes": "1000 Genomes"}
_TASKS = ("regions", "populations")
_DIMENSIONS = (256, 512, 1024, 2048)
_C = 1000
_NAME = "paul2013.genotypes"
_STAND_IN = (
    "these people and variants are not the paper's: HapMap 3 and 1000 Genomes, of 11 and 14 populations and a "
    "thirtieth of the variants, stand in for HapMap-HGDP with about 50"
)


def coded(matrix: Matrix, seed: int) -> NDArray[np.int8]:
    """Return genotypes as the paper codes them.

    Parameters
    ----------
    matrix : Matrix
        Copies of an allele, 0, 1 or 2, from a PLINK file.
    seed : int
        For the missing ones.

    Returns
    -------
    X : array of int8
        -1 and 1 for people with two equal alleles, 0 for those with two different ones; what is missing is one of
        the three, each as likely.
    """
    X = np.empty(matrix.shape, dtype=np.int8)
    for block in matrix.blocks():
        values = block.values
        X[block.rows, block.columns] = values.unpack() if isinstance(values, PackedGenotypes) else values
    missing = (X < 0) | (X > 2)
    X -= 1
    X[missing] = np.random.default_rng(seed).integers(-1, 2, np.count_nonzero(missing), dtype=np.int8)
    return X


def _parts(study: Study) -> Sequence[Part]:
    draws = study.pick(1, 1, 10)
    return [(name, draw) for name in study.pick(("hapmap3",), tuple(_SETS), tuple(_SETS)) for draw in range(draws)]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    name, draw = str(part[0]), int(part[1])
    people = study.load(name)
    X = coded(people.matrix, study.seed_of(_NAME, name, "missing"))
    tasks = {task: getattr(people, task) for task in _TASKS}
    for r in study.pick((256, 1024), _DIMENSIONS, _DIMENSIONS):
        for family in FAMILIES:
            Z = projection(family, r, study.seed_of(_NAME, name, draw, family, r)).fit_transform(X)
            # LIBSVM's kernel, evaluated once for all pairs of classes and all folds: the machines are the same
            kernel = np.asarray(Z @ Z.T, dtype=np.float64)
            for task, labels in tasks.items():
                for cv in range(study.pick(1, 1, 10)):
                    shuffled = KFold(study.pick(5, 10, 10), shuffle=True, random_state=study.seed_of(_NAME, name, cv))
                    yield (
                        name,
                        *X.shape,
                        task,
                        len(set(labels)),
                        family,
                        r,
                        draw,
                        cv,
                        *_errors(kernel, labels, shuffled),
                    )


def _errors(kernel: NDArray[np.float64], labels: NDArray[np.str_], shuffled: KFold) -> tuple[float, float]:
    """Return the percentages of wrong labels among those left out and those trained on."""
    wrong_out, wrong_in = 0.0, []
    for train, test in shuffled.split(labels):
        model = SVC(kernel="precomputed", C=_C).fit(kernel[np.ix_(train, train)], labels[train])
        wrong_out += np.sum(model.predict(kernel[np.ix_(test, train)]) != labels[test])
        wrong_in.append(np.mean(model.predict(kernel[np.ix_(train, train)]) != labels[train]))
    return 100 * float(wrong_out) / len(labels), 100 * float(np.mean(wrong_in))


def _draw(table: Table) -> Figure:
    facts = printed("paul2013", "section4_3_hapmap_hgdp")
    sets = table.distinct("data")
    figure, panels = canvas(columns=2, rows=len(sets), height=3.3)
    for number, (name, task) in enumerate(product(sets, _TASKS)):
        panel, rows = panels[number], table.where(data=name, task=task)
        dimensions = np.array(rows.distinct("r"), dtype=float)
        for shift, family in zip(np.geomspace(0.92, 1.08, len(FAMILIES)), FAMILIES, strict=True):
            groups = [rows.where(family=family, r=int(r)) for r in dimensions]
            errors = [group.mean("error_out") for group in groups]
            spread = np.array([group.spread("error_out") for group in groups])
            measured(panel, shift * dimensions, errors, family, None if np.isnan(spread).any() else spread)
        about = np.full(len(dimensions), facts[f"eps_out_percent_{task}"], dtype=float)
        as_printed(panel, 1.12 * dimensions, about, "printed (about), HapMap-HGDP")
        classes = rows.values("classes")[0]
        finish(
            panel, f"{_SETS[str(name)]}: {classes} {task}", "components r", "wrong, left out (%)", xscale="log",
            ylim=(0, None), xticks=dimensions, xticklabels=[f"{r:.0f}" for r in dimensions],
            legend="upper right" if number == 0 else False,
        )  # fmt: skip
    return figure


def _judge(table: Table) -> Sequence[Finding]:
    facts = printed("paul2013", "section4_3_hapmap_hgdp")
    return [
        Finding(
            claim="Regions are told with an error of about 2 %.",
            printed=f"about {facts['eps_out_percent_regions']} %",
            ours=_means(table, "regions"),
            holds=None,
            reason=_STAND_IN,
        ),
        Finding(
            claim="Populations are told with an error of about 20 %.",
            printed=f"about {facts['eps_out_percent_populations']} %",
            ours=_means(table, "populations"),
            holds=None,
            reason=_STAND_IN,
        ),
        _in_sample(table),
        _families_alike(table),
        _populations_harder(table),
    ]


def _means(table: Table, task: str) -> str:
    """Return the error at the largest r."""
    largest = max(int(r) for r in table.distinct("r"))
    rows = table.where(task=task, r=largest)
    errors = (
        f"{rows.where(data=name).mean('error_out'):.1f} % ({_SETS[str(name)]})" for name in table.distinct("data")
    )
    return f"{', '.join(errors)} at r = {largest}"


def _in_sample(table: Table) -> Finding:
    worst = table["error_in"].max()
    return Finding(
        claim="No sample that was trained on is predicted wrongly.",
        printed="0 % in all cases",
        ours=f"at most {worst:.3g} %",
        holds=worst == 0,
        reason="some sketches do not keep all pairs of classes apart",
    )


def _families_alike(table: Table) -> Finding:
    """Judge differences of two families against their own standard error, a person's mistakes being Bernoulli."""
    worst, largest, noticed, beside, where = 0.0, 0.0, 0.0, 0.0, ""
    for name, task, r in product(table.distinct("data"), _TASKS, table.distinct("r")):
        rows = table.where(data=name, task=task, r=r)
        people, draws = float(rows["people"][0]), len(rows.distinct("draw"))
        errors = {family: rows.where(family=family).mean("error_out") for family in THEIRS}
        share = np.mean(list(errors.values())) / 100
        noise = 100 * np.sqrt(2 * share * (1 - share) / (people * draws)) + 1e-12
        sure = float((ONE_LIMIT + SURELY) * noise)
        noticed, beside = max(noticed, sure), max(beside, sure / (100 * float(share)) if share else np.inf)
        gap = max(errors.values()) - min(errors.values())
        if gap > largest:
            largest, where = gap, f"{_SETS[str(name)]}, {task}, r = {r}"
        worst = max(worst, gap / noise)
    return alike_finding(
        "The three families of projections are nearly identical.",
        "nearly identical",
        f"means of {', '.join(THEIRS)} at most {largest:.2f} points apart ({where}), {worst:.1f} standard errors at "
        "most",
        alike=worst < ONE_LIMIT,
        noticed=noticed,
        share=beside,
        unit=" points",
        reason="two families are further apart than chance allows",
    )


def _populations_harder(table: Table) -> Finding:
    ratios = []
    for name in table.distinct("data"):
        for r in table.distinct("r"):
            regions, populations = (table.where(data=name, r=r, task=task).mean("error_out") for task in _TASKS)
            ratios.append(populations / regions if regions else np.inf)
    return Finding(
        claim="Populations are several times as hard to tell as regions, at every r.",
        printed="20 % against 2 %",
        ours=f"{min(ratios):.1f} to {max(ratios):.1f} times the error",
        holds=min(ratios) > 2,
        reason="regions are nearly as hard to tell as populations at some r",
    )


_COLUMNS = (
    "data", "people", "variants", "task", "classes", "family", "r", "draw", "cv", "error_out", "error_in",
)  # fmt: skip
FIG2 = Item(
    name="paul2013.fig2",
    title="Regions and populations from sketched genotypes",
    experiment=Experiment(
        name=_NAME,
        about=(
            "Genotypes coded -1, 0, 1, missing ones filled at random; ten-fold cross-validation of LIBSVM, one class "
            "against one, C = 1000, on projections. HapMap 3 and 1000 Genomes stand in for HapMap-HGDP."
        ),
        columns=_COLUMNS,
        parts=_parts,
        measure=_measure,
        sources=tuple(_SETS),
    ),
    draw=_draw,
    judge=_judge,
    chosen=CHOSEN,
)
