"""The verdict of an audit, in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slimline._base.text import counted, percent
from slimline.auditing._guarantees import AuditSettings, frequency
from slimline.auditing._measures import (
    CRAMMER_SINGER,
    DEFINITION_7,
    ERROR_ALLOWED,
    NORMALISED,
    PLAIN,
    SAME_SEPARATOR,
    WITH_INTERCEPT,
)
from slimline.auditing._records import BracketCheck, Frequency, PairsKept, Preservation, WrongSide
from slimline.auditing._words import at_most, only_times, ratios, times, values

#: Margins that decide, the first that was there before; and those that any separation of the classes shows in.
_JUDGED = (NORMALISED, WITH_INTERCEPT, DEFINITION_7, CRAMMER_SINGER)
_SEPARATIONS = (PLAIN, *_JUDGED)
#: Brackets that are wider, as a part of what was there before, are worth a word: those of Definition 7 can be.
_WIDE = 0.01


class Separable(NamedTuple):
    """In how many draws something separated the classes, and in how many others nothing is proved not to."""

    times: Frequency
    undecided: int


def outcome_of(margins: tuple[Preservation, ...], pairs: tuple[PairsKept, ...], eps: float) -> str:
    """Return "kept", "shrunk" or "lost".

    Margins decide where the classes are separable. Lost: in some draw they are not any more, with an intercept or
    without. Kept: the margin that decides is there in every draw, and its median is at least 1 - eps of what it was. It
    is the normalised margin or, where no plane through the origin separates, the one with an intercept; of several
    classes that of Definition 7 or, where no vectors of one length separate, Crammer and Singer's. Elsewhere distances
    decide: kept where at least 95 % of them are within eps in the median draw. Else shrunk.
    """
    judged = judged_margin(margins)
    if judged is None or judged.positive is None:
        return "kept" if float(np.median(pairs[0].share_within)) >= 0.95 else "shrunk"
    separable = _separable(margins)
    if separable.times.held + separable.undecided < separable.times.draws:
        return "lost"
    there = judged.positive.held == judged.positive.draws
    return "kept" if there and float(np.median(judged.ratios)) >= 1.0 - eps else "shrunk"


def verdict_of(
    asked: AuditSettings,
    needed: int | None,
    margins: tuple[Preservation, ...],
    ball: Preservation,
    embedding: Preservation,
    pairs: tuple[PairsKept, ...],
    brackets: tuple[BracketCheck, ...],
    wrong: WrongSide | None,
) -> tuple[str, ...]:
    """Return sentences on what was kept, what theorems had promised, and what the laws foretold."""
    said = [*_of_margins(margins, asked), *_of_statements(margins, asked)]
    if needed is not None:
        whose = "the separator" if asked.classes == 2 else "the vectors"
        said.append(
            f"By {_law(asked)} it takes {counted(needed, 'component')} to keep the margin of {whose} chosen before "
            f"above 0 with a chance of {percent(1.0 - asked.delta)} or more"
            + (f", and there are only {counted(asked.features, 'feature')}." if needed > asked.features else ".")
        )
    if wrong is not None:
        said.append(_of_wrong_side(wrong, judged_margin(margins), asked))
    said.append(_of_pairs(pairs[0], asked))
    if ball.before > 0.0:
        said.append(f"The radius of the smallest ball around the points became {ratios(ball.ratios)} of what it was.")
    said.append(_of_embedding(embedding, brackets, asked))
    return tuple(said)


def judged_margin(margins: tuple[Preservation, ...]) -> Preservation | None:
    """Return the margin that decides: the first that there was before."""
    by_name = {kept.name: kept for kept in margins}
    return next((by_name[name] for name in _JUDGED if name in by_name and by_name[name].before > 0.0), None)


def _separable(margins: tuple[Preservation, ...]) -> Separable:
    """Return how often anything separated the classes.

    A plane through the origin may be lost where one with an intercept is not, and vectors of one length where others
    are not.
    """
    measured = [kept for kept in margins if kept.name in _SEPARATIONS]
    found = [any(kept.after[draw] > 0.0 for kept in measured) for draw in range(len(measured[0].after))]
    open_ones = set.union(*(set(kept.undecided) for kept in measured if kept.name in (WITH_INTERCEPT, CRAMMER_SINGER)))
    return Separable(frequency(found), sum(not found[draw] for draw in open_ones))


def _law(asked: AuditSettings) -> str:
    return "the exact law" if asked.family == "gaussian" else "the exact law of a Gaussian projection"


def _of_margins(margins: tuple[Preservation, ...], asked: AuditSettings) -> list[str]:
    if not margins:
        return ["There are no labels, so no margin was measured."]
    judged = judged_margin(margins)
    if judged is None:
        return [_of_none(margins, asked), *_of_most_points(margins, asked)]
    said = []
    if judged.name == WITH_INTERCEPT:
        proved = all(kept.decided for kept in margins if kept.name == NORMALISED)
        none = "No plane through the origin " + ("separates" if proved else "was found to separate")
        said.append(f"{none} the classes; one with an intercept does.")
    if judged.name == CRAMMER_SINGER:
        said.append("No vectors of one length were found that tell the classes apart; vectors of any length do.")
    separable = _separable(margins)
    more = f"; in {separable.undecided} more neither that nor the opposite was proved" if separable.undecided else ""
    said.append(f"The classes stayed separable in {only_times(separable.times)}{more}.")
    if judged.name == NORMALISED and judged.positive is not None and judged.positive.held < separable.times.held:
        said.append(
            f"A plane through the origin was left in {only_times(judged.positive)}; else it takes an intercept."
        )
    if not any(judged.after):
        return [*said, f"Nothing is left of the {judged.name}, which was {judged.before:.3g}."]
    assert judged.within is not None
    widths = [end - value for value, end in zip(judged.after, judged.after_upper, strict=True)]
    or_more = " or more" if max(widths) > _WIDE * judged.before else ""
    at_least = " or more" if judged.before_upper - judged.before > _WIDE * judged.before else ""
    said.append(
        f"The {judged.name} of {judged.before:.3g}{at_least} became {values(judged.after)}{or_more}: "
        f"{ratios(judged.ratios)} of it; within 1 ± {asked.eps:g} in {times(judged.within)}."
    )
    for name in (PLAIN, CRAMMER_SINGER):
        for kept in margins:
            if kept.name == name != judged.name and kept.before > 0.0:
                said.append(f"The {name} became {ratios(kept.ratios)} of what it was.")
    if judged.name == WITH_INTERCEPT:
        said += _of_most_points(margins, asked)
    return said


def _of_none(margins: tuple[Preservation, ...], asked: AuditSettings) -> str:
    """Return what is to be said where no margin was found before."""
    measured = [kept for kept in margins if kept.name in _SEPARATIONS]
    widest = next(kept for kept in measured if kept.name in (WITH_INTERCEPT, CRAMMER_SINGER))
    what = "plane" if asked.classes == 2 else "vectors"
    if not widest.decided:
        return f"Whether the classes are separable is open: neither {what} nor a proof against it was found."
    after = max(value for kept in measured for value in kept.after)
    if after > 0.0:
        return (
            f"Before the projection nothing separates the classes by a {widest.name} above "
            f"{at_most(widest.before_upper)}, which is nothing beside the points; what was found after it is at most "
            f"{at_most(after)}."
        )
    none = "No plane separates the classes" if asked.classes == 2 else "No vectors tell the classes apart"
    proof = f" (none above {at_most(widest.before_upper)}, by proof)" if widest.before_upper > 0.0 else ""
    return f"{none}, so there is no margin to keep{proof}; a projection cannot make them separable, and did not."


def _of_most_points(margins: tuple[Preservation, ...], asked: AuditSettings) -> list[str]:
    kept = next((kept for kept in margins if kept.name == ERROR_ALLOWED and kept.before > 0.0), None)
    if kept is None:
        return []
    return [
        f"About a soft-margin plane through the origin all but {percent(asked.errors)} of the points have a margin of "
        f"{kept.before:.3g} in cosines, and {values(kept.after)} after the projection: {ratios(kept.ratios)} of it."
    ]


def _of_statements(margins: tuple[Preservation, ...], asked: AuditSettings) -> list[str]:
    same = next((kept for kept in margins if kept.name == SAME_SEPARATOR), None)
    if same is None:
        return []
    one = asked.classes == 2
    who, loses, its = ("separator", "loses", "its") if one else ("vectors", "lose", "their")
    said = []
    for promise in same.promises:
        if promise.frequency is None or promise.low is None:
            said.append(f"{promise.bound} {promise.note}.")
        elif promise.kind == "theorem" and promise.low <= 0.0:
            takes = "" if promise.needed is None else f"; it takes {promise.needed:,}"
            said.append(f"{promise.bound} guarantees no positive margin with {counted(asked.r, 'component')}{takes}.")
        elif promise.kind == "theorem":
            to = "" if asked.family == "gaussian" else " to a Gaussian projection"
            true = "every draw" if promise.frequency.held == promise.frequency.draws else times(promise.frequency)
            said.append(f"{promise.bound} guarantees{to} a margin of {promise.low:.3g}, which came true in {true}.")
        elif promise.low == 0.0 and promise.predicted is not None:
            law = f"{loses} {its} margin with a chance of at most {percent(promise.predicted)}"
            if promise.predicted >= 1.0:
                law = f"may well lose {its} margin: the chances of the points are above 1 in sum"
            said.append(f"By {_law(asked)} the {who} chosen before {law}; it was kept in {times(promise.frequency)}.")
    return said


def _of_wrong_side(wrong: WrongSide, judged: Preservation | None, asked: AuditSettings) -> str:
    separator = judged is not None and judged.name == NORMALISED
    plane = "the separator chosen before" if separator else "a soft-margin plane through the origin, chosen before"
    average = "" if len(wrong.after) == 1 else " on average"
    return (
        f"Points on the wrong side of {plane}: {wrong.before:,} before, {np.mean(wrong.after):.3g} after{average}, "
        f"where {_law(asked)} expects {wrong.predicted:.3g}."
    )


def _of_pairs(distances: PairsKept, asked: AuditSettings) -> str:
    if not distances.n_pairs:
        return "There is no pair of different points."
    shares = np.asarray(distances.share_within)
    law = "" if distances.predicted is None else f", where {_law(asked)} foretells {percent(distances.predicted)}"
    of = "" if len(shares) == 1 else " of a draw"
    share = percent(float(shares.mean()))
    return (
        f"{share[0].upper()}{share[1:]} of all squared distances changed by at most {percent(asked.eps)}{law}; the "
        f"largest change{of} was {values(distances.largest)}."
    )


def _of_embedding(embedding: Preservation, brackets: tuple[BracketCheck, ...], asked: AuditSettings) -> str:
    if not asked.rank:
        return "All points are zero."
    span = counted(asked.rank, "dimension")
    said = f"The embedding error on the span of the points ({span}) was {values(embedding.after)}"
    if not asked.complete:
        said = f"The embedding error on the span of the points is at least {values(embedding.after)}"
    if not brackets:
        return said + "."
    broken = [check for check in brackets if check.held < check.draws]
    if broken:
        names = ", ".join(f"{check.bound} ({check.about})" for check in broken)
        return said + f"; paul2013's brackets were violated: {names}. That cannot be: please report it."
    empty = "" if brackets[0].ends_used == brackets[0].draws else "; above 1 their lower ends say nothing"
    return said + f"; paul2013's brackets held in every draw{empty}."
