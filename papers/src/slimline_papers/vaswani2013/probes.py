"""§3.1: how many features of ARCENE and DOROTHEA are probes (correction 8), and what the data can say about it.

A probe has nothing to do with the label, so that its p-value is spread evenly over [0, 1]. Real features may look the
same, so that the count of large p-values bounds the number of probes from above, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import hypergeom, mannwhitneyu

from slimline.report._figures import BLUE, GREY, ORANGE
from slimline_papers.chance import ONE_LIMIT
from slimline_papers.drawing import bound, canvas, finish
from slimline_papers.finding import Finding
from slimline_papers.item import Experiment, Item, Part
from slimline_papers.printed import printed
from slimline_papers.study import Study
from slimline_papers.table import Table
from slimline_papers.vaswani2013.recovered_weights import SETS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

#: Features and probes by the documentation of the challenge (Guyon 2003; the description in the UCI repository). It is
#: shown, and decides nothing.
_DOCUMENTED = {"ARCENE": (10_000, 3_000), "DOROTHEA": (100_000, 50_000)}
_PRINTED_SHARE = float(printed("vaswani2013", "section3_1_share_of_probes"))
_BINS = 20


def _parts(study: Study) -> Sequence[Part]:
    return [(name,) for name in SETS]


def _measure(study: Study, part: Part) -> Iterator[Sequence[object]]:
    name = str(part[0])
    challenge: Any = study.load(name.lower())
    y = np.concatenate([challenge.y, challenge.y_valid])
    if not isinstance(challenge.X, np.ndarray):
        X: Any = sp.csr_array(sp.vstack([challenge.X, challenge.X_valid]))
        constant = np.isin(np.asarray(X.sum(axis=0)).ravel(), (0, len(y)))
        p = count_p_values(X, y, study.seed_of("vaswani2013.probes", name))
    else:
        X = np.vstack([challenge.X, challenge.X_valid])
        constant = np.ptp(X, axis=0) == 0
        p = np.ones(X.shape[1])
        p[~constant] = mannwhitneyu(X[y > 0][:, ~constant], X[y < 0][:, ~constant], method="asymptotic").pvalue
    counts, edges = np.histogram(p, _BINS, (0, 1))
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        yield name, *X.shape, constant.sum(), low, high, count


def count_p_values(X: Any, y: Floats, seed: int) -> Floats:
    """Return two-sided p-values of features that are 0 or 1, each exactly even if the feature is independent of y.

    Parameters
    ----------
    X : csr_array
        Zeros and ones.
    y : array
        Labels, -1 and 1.
    seed : int
        Ties of the discrete law are broken at random.

    Returns
    -------
    p : array of shape (n_features,)
        From the hypergeometric law of the ones among the positive samples.
    """
    ones = np.asarray(X.sum(axis=0)).ravel().astype(np.int64)
    among = np.asarray(X[y > 0].sum(axis=0)).ravel().astype(np.int64)
    positive = int(np.sum(y > 0))
    below = hypergeom.cdf(among - 1, len(y), positive, ones)
    at = hypergeom.pmf(among, len(y), positive, ones)
    one_sided = below + np.random.default_rng(seed).random(len(ones)) * at
    return np.asarray(2 * np.minimum(one_sided, 1 - one_sided))


def _draw(table: Table) -> Figure:
    figure, panels = canvas(columns=2, width=5.4, height=4.2)
    for panel, name in zip(panels, map(str, table.distinct("set")), strict=True):
        rows = table.where(set=name)
        width = rows["to"] - rows["from"]
        panel.bar(rows["from"], rows["count"], width, align="edge", color=BLUE, alpha=0.35, label="all features")
        features, probes = _DOCUMENTED[name]
        if probes != _PRINTED_SHARE * features:
            bound(panel, [0, 1], [probes * width[0]] * 2, f"{probes:,} probes, as documented", ORANGE)
        bound(panel, [0, 1], [_PRINTED_SHARE * features * width[0]] * 2, "half of the features, as printed", GREY)
        finish(panel, f"{name}: association with the label", "p-value", "features", legend="upper right")
    return figure


def _unassociated(rows: Table) -> tuple[float, float]:
    """Return the share of p-values above 0.05, and the share of features that those above ½ stand for."""
    count, low = rows["count"], rows["from"]
    return float(count[low > 0.04].sum() / count.sum()), float(2 * count[low > 0.49].sum() / count.sum())


def _too_few(rows: Table) -> bool:
    """Return whether fewer features are unrelated to the label than are said to be probes, by more than chance."""
    deviation = np.sqrt(_PRINTED_SHARE / rows["count"].sum())  # of twice the share of probes with a p-value above ½
    return bool(_unassociated(rows)[1] < _PRINTED_SHARE - ONE_LIMIT * deviation)


def _judge(table: Table) -> Sequence[Finding]:
    findings = []
    for name in map(str, table.distinct("set")):
        rows = table.where(set=name)
        features, probes = _DOCUMENTED[name]
        above, even = _unassociated(rows)
        ours = (
            f"{int(rows['features'][0]):,} features, {int(rows['constant'][0]):,} of them constant; {above:.0%} have "
            f"p > 0.05; above p = ½ there are as many as if {even:.0%} of all features were unrelated to the label"
        )
        findings.append(
            Finding(
                claim=f"Half of the features of {name} are probes.",
                printed=f"{_PRINTED_SHARE:.0%}",
                ours=ours,
                holds=False if _too_few(rows) else None,
                reason="fewer features than that are unrelated to the label"
                if _too_few(rows)
                else f"The data do not mark probes, and p-values only bound their number from above. The documentation "
                f"of the challenge says {probes:,} of {features:,}.",
                corrected="" if probes == _PRINTED_SHARE * features else f"{probes / features:.0%}, as documented",
            )
        )
    return findings


PROBES = Item(
    name="vaswani2013.probes",
    title="Probes among the features of ARCENE and DOROTHEA",
    experiment=Experiment(
        name="vaswani2013.association",
        about="Training and validation part: p-values of each feature's association with the label (ARCENE: rank-sum "
        "test; DOROTHEA: hypergeometric law, ties broken at random), counted in bins; constant columns.",
        columns=("set", "samples", "features", "constant", "from", "to", "count"),
        parts=_parts,
        measure=_measure,
        sources=("arcene", "dorothea"),
    ),
    draw=_draw,
    judge=_judge,
    correction="8",
)
