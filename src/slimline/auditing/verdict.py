"""What an audit means, in words."""

from __future__ import annotations

import numpy as np

from slimline.auditing.kept import SAME_SEPARATOR
from slimline.auditing.measures import CRAMMER_SINGER, DEFINITION_7, NORMALISED, PLAIN
from slimline.auditing.promises import Asked
from slimline.auditing.records import BracketCheck, Frequency, Kept, PairsKept, WrongSide


def outcome_of(margins: tuple[Kept, ...], pairs: tuple[PairsKept, ...], eps: float) -> str:
    """Return "kept", "shrunk" or "lost".

    Margins decide where the classes are separable: lost where a draw is not, kept where the median normalised margin is
    within 1 - eps of what it was. Elsewhere distances do: kept where at least 95 % of them are within eps in the median
    draw, else shrunk.

    Parameters
    ----------
    margins : tuple of Kept
        None without labels.
    pairs : tuple of PairsKept
        Distances first.
    eps : float
        Distortion asked about.

    Returns
    -------
    outcome : str
        One word.
    """
    judged = _judged(margins)
    if judged is not None and judged.positive is not None:
        if judged.positive.held < judged.positive.draws:
            return "lost"
        return "kept" if float(np.median(judged.ratios)) >= 1.0 - eps else "shrunk"
    return "kept" if float(np.median(pairs[0].share_within)) >= 0.95 else "shrunk"


def verdict_of(
    asked: Asked,
    needed: int | None,
    margins: tuple[Kept, ...],
    ball: Kept,
    embedding: Kept,
    pairs: tuple[PairsKept, ...],
    brackets: tuple[BracketCheck, ...],
    wrong: WrongSide | None,
) -> tuple[str, ...]:
    """Return sentences on what was kept, what theorems had promised, and what the laws foretold.

    Parameters
    ----------
    asked : Asked
        Dimension, distortion and probability.
    needed : int or None
        Dimensions that keep the separator's margin above 0, by the exact law.
    margins, ball, embedding, pairs, brackets, wrong : records
        As `Audit` has them.

    Returns
    -------
    verdict : tuple of str
        The most important first.
    """
    said = [*_of_margins(margins, asked), *_of_statements(margins, asked)]
    if needed is not None:
        said.append(
            f"By the exact law {needed:,} dimensions keep that separator's margin above 0 with a chance of "
            f"{_percent(1.0 - asked.delta)} or more."
        )
    if wrong is not None:
        said.append(_of_wrong_side(wrong))
    said.append(_of_pairs(pairs[0], asked))
    if ball.before > 0.0:
        said.append(f"The smallest ball around the points has {_range(ball.ratios)} of its radius.")
    said.append(_of_embedding(embedding, brackets, asked))
    return tuple(said)


def _judged(margins: tuple[Kept, ...]) -> Kept | None:
    """Return the margin that decides: the normalised one, if the classes are separable."""
    for kept in margins:
        if kept.name in (NORMALISED, DEFINITION_7) and kept.before > 0.0:
            return kept
    return None


def _of_margins(margins: tuple[Kept, ...], asked: Asked) -> list[str]:
    if not margins:
        return ["There are no labels, so no margin was measured."]
    judged = _judged(margins)
    if judged is None or judged.positive is None:
        return [
            "No plane separates the classes, so there is no margin to keep; a projection cannot make them separable, "
            "and did not."
        ]
    said = []
    if judged.positive.held == judged.positive.draws:
        said.append(f"The classes stayed separable in {_times(judged.positive)}.")
    else:
        said.append(f"The classes stayed separable in only {_times(judged.positive)}.")
    said.append(
        f"The {judged.name} of {judged.before:.3g} became {_values(judged.after)}: {_range(judged.ratios)} of it; "
        f"within 1 ± {asked.eps:g} in {_times(judged.within)}."
    )
    for name in (PLAIN, CRAMMER_SINGER):
        for kept in margins:
            if kept.name == name and kept.before > 0.0:
                said.append(f"The {name} kept {_range(kept.ratios)}.")
    return said


def _of_statements(margins: tuple[Kept, ...], asked: Asked) -> list[str]:
    same = next((kept for kept in margins if kept.name == SAME_SEPARATOR), None)
    if same is None:
        return []
    said = []
    for promise in same.promises:
        if promise.kind == "theorem":
            if promise.low is None or promise.low <= 0.0:
                more = f" ({promise.note})" if promise.low is None and promise.note else ""
                said.append(f"{promise.bound} promises no positive margin with {asked.r:,} dimensions{more}.")
            else:
                said.append(
                    f"{promise.bound} promises a margin of {promise.low:.3g}, which {_came_true(promise.frequency)}."
                )
        elif promise.low == 0.0 and promise.predicted is not None:
            law = f"loses its margin with a chance of at most {_percent(promise.predicted)}"
            if promise.predicted >= 1.0:
                law = "may well lose its margin: the chances of the points are above 1 in sum"
            said.append(
                f"By the exact law the separator chosen before {law}; it was kept in {_times(promise.frequency)}."
            )
    return said


def _of_wrong_side(wrong: WrongSide) -> str:
    return (
        f"The same separator has {wrong.before:,} points on its wrong side before and "
        f"{np.mean(wrong.after):.3g} after on average, where the exact law expects {wrong.predicted:.3g}."
    )


def _of_pairs(distances: PairsKept, asked: Asked) -> str:
    if not distances.n_pairs:
        return "There is no pair of different points."
    shares = np.asarray(distances.share_within)
    law = "" if distances.predicted is None else f", where the exact law foretells {_percent(distances.predicted)}"
    return (
        f"{_percent(float(shares.mean()))} of all squared distances changed by at most {asked.eps:.0%}{law}; the "
        f"largest change of a draw was {_values(distances.largest)}."
    )


def _of_embedding(embedding: Kept, brackets: tuple[BracketCheck, ...], asked: Asked) -> str:
    said = f"The embedding error on the span of the points ({asked.rank:,} dimensions) was {_values(embedding.after)}"
    if not brackets:
        return said + "."
    broken = [check for check in brackets if check.held < check.draws]
    if broken:
        names = ", ".join(f"{check.bound} ({check.about})" for check in broken)
        return said + f"; paul2013's brackets were violated: {names}. That cannot be: please report it."
    used = brackets[0].ends_used
    empty = "" if used == brackets[0].draws else "; above 1 their lower ends say nothing"
    return said + f"; paul2013's brackets held in every draw{empty}."


def _times(found: Frequency | None) -> str:
    if found is None:
        return "no draw"
    share = f"a chance of {_percent(found.low)} to {_percent(found.high)}, at 95 % confidence"
    every = f"all {found.draws}" if found.held == found.draws else f"{found.held} of {found.draws}"
    return f"{every} draws ({share})"


def _came_true(found: Frequency | None) -> str:
    if found is None:
        return "was not tested"
    return "came true in every draw" if found.held == found.draws else f"came true in {_times(found)}"


def _percent(share: float) -> str:
    if 0.0 < share < 0.0001:
        return f"{100.0 * share:.1g} %"
    if 0.9999 < share < 1.0:
        return "more than 99.99 %"
    return f"{100.0 * share:.3g} %"


def _values(values: tuple[float, ...]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"


def _range(ratios: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    low, high = float(ratios.min()), float(ratios.max())
    middle = float(np.median(ratios))
    if f"{low:.0%}" == f"{high:.0%}":
        return f"{low:.0%}"
    return f"{low:.0%} to {high:.0%} (median {middle:.0%})"
