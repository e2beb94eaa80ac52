"""What an audit means, in words."""

from __future__ import annotations

import numpy as np

from slimline.auditing.kept import SAME_SEPARATOR
from slimline.auditing.measures import CRAMMER_SINGER, DEFINITION_7, NORMALISED, PLAIN, WITH_INTERCEPT
from slimline.auditing.promises import Asked
from slimline.auditing.records import BracketCheck, Frequency, Kept, PairsKept, WrongSide
from slimline.auditing.text import counted


def outcome_of(margins: tuple[Kept, ...], pairs: tuple[PairsKept, ...], eps: float) -> str:
    """Return "kept", "shrunk" or "lost".

    Margins decide where the classes are separable: lost where in some draw they are not, kept where the median margin
    is at least 1 - eps of what it was: the normalised margin, or, where no plane through the origin separates, the one
    with an intercept, and where no vectors of one length do, Crammer and Singer's. Elsewhere distances decide: kept
    where at least 95 % of them are within eps in the median draw, else shrunk.

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
    judged, separable = judged_margin(margins), _separable(margins)
    if judged is not None and separable is not None:
        if separable.held < separable.draws:
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
            f"By {_law(asked)} it takes {counted(needed, 'dimension')} to keep the margin of the separator chosen "
            f"before above 0 with a chance of {_percent(1.0 - asked.delta)} or more"
            + (f", and there are only {counted(asked.features, 'feature')}." if needed > asked.features else ".")
        )
    if wrong is not None:
        said.append(_of_wrong_side(wrong, judged_margin(margins), asked))
    said.append(_of_pairs(pairs[0], asked))
    if ball.before > 0.0:
        said.append(f"The radius of the smallest ball around the points became {_range(ball.ratios)} of what it was.")
    said.append(_of_embedding(embedding, brackets, asked))
    return tuple(said)


def judged_margin(margins: tuple[Kept, ...]) -> Kept | None:
    """Return the margin that decides: the first that there was before.

    Parameters
    ----------
    margins : tuple of Kept
        As `Audit` has them.

    Returns
    -------
    margin : Kept or None
        None where no plane separates the classes, and without labels.
    """
    by_name = {kept.name: kept for kept in margins}
    for name in (NORMALISED, WITH_INTERCEPT, DEFINITION_7, CRAMMER_SINGER):
        if name in by_name and by_name[name].before > 0.0:
            return by_name[name]
    return None


def _separable(margins: tuple[Kept, ...]) -> Frequency | None:
    """Return how often the classes stayed separable.

    With several classes Definition 7 does not tell: vectors of one length may fail where others do not.
    """
    judged = judged_margin(margins)
    if judged is None or judged.name != DEFINITION_7:
        return None if judged is None else judged.positive
    return next(kept.positive for kept in margins if kept.name == CRAMMER_SINGER)


def _law(asked: Asked) -> str:
    return "the exact law" if asked.family == "gaussian" else "the exact law of a Gaussian projection"


def _of_margins(margins: tuple[Kept, ...], asked: Asked) -> list[str]:
    if not margins:
        return ["There are no labels, so no margin was measured."]
    judged, separable = judged_margin(margins), _separable(margins)
    if judged is None or separable is None:
        if any(value > 0.0 for kept in margins for value in kept.after):
            return ["No plane was found to separate the classes by more than rounding, before or after."]
        return [
            "No plane separates the classes, so there is no margin to keep; a projection cannot make them separable, "
            "and did not."
        ]
    said = []
    if judged.name == WITH_INTERCEPT:
        said.append("No plane through the origin separates the classes; one with an intercept does.")
    if judged.name == CRAMMER_SINGER:
        said.append("No vectors of one length were found that tell the classes apart; vectors of any length do.")
    only = "" if separable.held in (0, separable.draws) else "only "
    said.append(f"The classes stayed separable in {only}{_times(separable)}.")
    if not any(judged.after):
        said.append(f"Nothing is left of the {judged.name}, which was {judged.before:.3g}.")
        return said
    said.append(
        f"The {judged.name} of {judged.before:.3g} became {_values(judged.after)}: {_range(judged.ratios)} of it; "
        f"within 1 ± {asked.eps:g} in {_times(judged.within)}."
    )
    for name in (PLAIN, CRAMMER_SINGER):
        for kept in margins:
            if kept.name == name != judged.name and kept.before > 0.0:
                said.append(f"The {name} became {_range(kept.ratios)} of what it was.")
    return said


def _of_statements(margins: tuple[Kept, ...], asked: Asked) -> list[str]:
    same = next((kept for kept in margins if kept.name == SAME_SEPARATOR), None)
    if same is None:
        return []
    said = []
    for promise in same.promises:
        if promise.kind == "theorem":
            if promise.low is None or promise.low <= 0.0:
                more = promise.note.partition("; ")[2] if promise.low is None else ""
                said.append(
                    f"{promise.bound} promises no positive margin with {counted(asked.r, 'dimension')}"
                    + (f" ({more})." if more else ".")
                )
            else:
                to = "" if asked.family == "gaussian" else " to a Gaussian projection"
                said.append(
                    f"{promise.bound} promises{to} a margin of {promise.low:.3g}, which "
                    f"{_came_true(promise.frequency)}."
                )
        elif promise.low == 0.0 and promise.predicted is not None:
            law = f"loses its margin with a chance of at most {_percent(promise.predicted)}"
            if promise.predicted >= 1.0:
                law = "may well lose its margin: the chances of the points are above 1 in sum"
            said.append(
                f"By {_law(asked)} the separator chosen before {law}; it was kept in {_times(promise.frequency)}."
            )
    return said


def _of_wrong_side(wrong: WrongSide, judged: Kept | None, asked: Asked) -> str:
    same = "The same separator" if judged is not None and judged.name == NORMALISED else "A soft-margin plane"
    return (
        f"{same}, chosen before, has {counted(wrong.before, 'point')} on its wrong side before and "
        f"{np.mean(wrong.after):.3g} after on average, where {_law(asked)} expects {wrong.predicted:.3g}."
    )


def _of_pairs(distances: PairsKept, asked: Asked) -> str:
    if not distances.n_pairs:
        return "There is no pair of different points."
    shares = np.asarray(distances.share_within)
    law = "" if distances.predicted is None else f", where {_law(asked)} foretells {_percent(distances.predicted)}"
    share = _percent(float(shares.mean()))
    return (
        f"{share[0].upper()}{share[1:]} of all squared distances changed by at most {_percent(asked.eps)}{law}; the "
        f"largest change of a draw was {_values(distances.largest)}."
    )


def _of_embedding(embedding: Kept, brackets: tuple[BracketCheck, ...], asked: Asked) -> str:
    span = counted(asked.rank, "dimension")
    said = f"The embedding error on the span of the points ({span}) was {_values(embedding.after)}"
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
    if found.draws == 1:
        return f"{'the one' if found.held else '0 of 1'} draw ({share})"
    every = {0: f"none of {found.draws}", found.draws: f"all {found.draws}"}
    return f"{every.get(found.held, f'{found.held} of {found.draws}')} draws ({share})"


def _came_true(found: Frequency | None) -> str:
    if found is None:
        return "was not tested"
    return "came true in every draw" if found.held == found.draws else f"came true in {_times(found)}"


def _percent(share: float) -> str:
    if 0.0 < share < 0.0001:
        return f"{share:.1g}"
    if 0.9999 < share < 1.0:
        return "more than 99.99 %"
    return f"{100.0 * share:.3g} %"


def _values(values: tuple[float, ...]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"


def _range(ratios: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    low, high = float(ratios.min()), float(ratios.max())
    middle = float(np.median(ratios))
    least, most = f"{100.0 * low:.0f} %", f"{100.0 * high:.0f} %"
    return least if least == most else f"{least} to {most} (median {100.0 * middle:.0f} %)"
