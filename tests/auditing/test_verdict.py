"""The words of an audit, in every case."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from slimline import audit
from slimline.auditing._guarantees import AuditSettings, frequency
from slimline.auditing._records import BracketCheck, Frequency, PairsKept, Preservation, WrongSide
from slimline.auditing._verdict import outcome_of, verdict_of
from slimline.auditing._words import at_most, percent, ratios, times, values
from tests.auditing.clouds import clouds, several
from tests.snapshots import check_snapshot, titled

SNAPSHOTS = Path(__file__).parent / "snapshots"

ASKED = AuditSettings(
    r=64,
    eps=0.2,
    delta=0.05,
    errors=0.05,
    family="gaussian",
    rank=12,
    complete=True,
    features=100,
    points=20,
    classes=2,
)
SEVERAL = replace(ASKED, classes=3)


def kept(name, before, after, upper=None, **fields):
    """Return a margin before and after."""
    within = frequency(abs(value / before - 1.0) <= 0.2 for value in after) if before > 0.0 else None
    return Preservation(
        name=name, about="", before=before, before_lower=before, before_upper=before, after=tuple(after),
        after_lower=tuple(after), after_upper=tuple(upper or after), positive=frequency(value > 0.0 for value in after),
        within=within, **fields,
    )  # fmt: skip


def two(before, after, with_intercept=None, plain=None, **fields):
    """Return the margins of two classes; those not given have the same values."""
    wide_before, wide_after = with_intercept or (before, after)
    plain_before, plain_after = plain or (before, after)
    return (
        kept("margin", plain_before, plain_after),
        kept("normalised margin", before, after),
        kept("margin with intercept", wide_before, wide_after, **fields),
    )


def pairs(shares, n_pairs=190):
    share = tuple(shares)
    return (
        PairsKept(
            name="distances", about="", n_pairs=n_pairs, largest=tuple(0.3 for _ in share), share_within=share,
            predicted=0.9, all_within=frequency(value == 1.0 for value in share), promises=(), quantiles=(),
            quantile_levels=(), sample_before=np.zeros(0), sample_after=np.zeros(0),
        ),
    )  # fmt: skip


def words(margins, asked=ASKED, shares=(1.0, 1.0), needed=None, wrong=None, brackets=(), error=(0.4, 0.5), n_pairs=190):
    ball = replace(kept("enclosing ball", 1.0, (0.9, 1.1)), positive=None)
    embedding = replace(kept("embedding error", 0.0, error), positive=None)
    return verdict_of(asked, needed, margins, ball, embedding, pairs(shares, n_pairs), tuple(brackets), wrong)


def outcome(margins, shares=(1.0, 1.0), eps=0.2):
    return outcome_of(margins, pairs(shares), eps)


@pytest.mark.parametrize(
    "margins, expected",
    [
        (two(0.5, [0.45, 0.6]), "kept"),
        (two(0.5, [0.45, 0.2, 0.45]), "kept"),  # the median decides
        (two(0.5, [0.39, 0.39]), "shrunk"),
        (two(0.5, [0.0, 0.5]), "lost"),
        (two(0.5, [0.0, 0.5, 0.5], with_intercept=(2.0, [1.0, 2.0, 2.0])), "shrunk"),  # an intercept is left
        (two(0.5, [0.0, 0.5, 0.5], plain=(1.0, [0.1, 1.0, 1.0])), "shrunk"),
        (two(0.0, [0.0, 0.0], with_intercept=(2.0, [1.9, 2.1])), "kept"),
        (two(0.0, [0.0, 0.0], with_intercept=(2.0, [1.0, 1.1])), "shrunk"),
        (two(0.0, [0.0, 0.0], with_intercept=(2.0, [0.0, 1.9])), "lost"),
        (two(0.5, [0.5, 0.0, 0.5], undecided=(1,)), "shrunk"),  # not proved to be lost
        (two(0.5, [0.5, 0.0, 0.0], undecided=(1,)), "lost"),
        ((kept("Crammer-Singer margin", 1.0, [0.9]), kept("normalised multiclass margin", 0.3, [0.29])), "kept"),
        ((kept("Crammer-Singer margin", 1.0, [0.9]), kept("normalised multiclass margin", 0.3, [0.0])), "shrunk"),
        ((kept("Crammer-Singer margin", 1.0, [0.0]), kept("normalised multiclass margin", 0.3, [0.0])), "lost"),
        ((kept("Crammer-Singer margin", 1.0, [0.9]), kept("normalised multiclass margin", 0.0, [0.0])), "kept"),
        ((kept("Crammer-Singer margin", 1.0, [0.7]), kept("normalised multiclass margin", 0.0, [0.0])), "shrunk"),
    ],
)
def test_margins_decide(margins, expected):
    assert outcome(margins, shares=(0.0,)) == expected


@pytest.mark.parametrize("margins", [(), two(0.0, [0.0, 0.0])])
def test_distances_decide_where_there_is_no_margin(margins):
    assert outcome(margins, shares=(0.95, 0.94, 0.96)) == "kept"
    assert outcome(margins, shares=(0.94, 0.94, 0.96)) == "shrunk"


INTERCEPT_LEFT = two(0.5, [0.0, 0.5], with_intercept=(2.0, [1.0, 2.0]))
ONLY_INTERCEPT = two(0.0, [0.0, 0.0], with_intercept=(2.0, [1.0, 2.0]))
NOTHING = two(0.0, [0.0, 0.0])
CRAMMER_SINGER = kept("Crammer-Singer margin", 1.0, [0.9, 0.8])
WRONG = WrongSide(1, (3, 4), 2.5)
HELD = BracketCheck("paul2013.2", "enclosing ball", 2, 2, 2, 0.4)


def definition_7(before, after, **fields):
    return kept("normalised multiclass margin", before, after, **fields)


def below(margins, bound):
    """Bound the margins before the projection."""
    return tuple(replace(one, before_upper=bound) for one in margins)


def verdicts():
    return {
        "separable in all draws": words(two(0.5, [0.5, 0.4])),
        "separable in some draws": words(two(0.5, [0.5, 0.0])),
        "separable in no draw": words(two(0.5, [0.0, 0.0])),
        "separable in the one draw": words(two(0.5, [0.5])),
        "separable in no draw of one": words(two(0.5, [0.0])),
        "an intercept is left": words(INTERCEPT_LEFT),
        "only an intercept before": words(ONLY_INTERCEPT),
        "the plain margin beside the normalised one": words(two(0.5, [0.25, 0.45], plain=(3.0, [1.5, 1.5]))),
        "a draw that is open": words(two(0.5, [0.5, 0.0], undecided=(1,))),
        "open before": words(two(0.0, [0.0, 0.0], decided=False)),
        "open about planes through the origin": words(
            (ONLY_INTERCEPT[0], replace(ONLY_INTERCEPT[1], decided=False), ONLY_INTERCEPT[2])
        ),
        "nothing beside the points": words(below(two(0.0, [0.0, 8.5e-10]), 3.2e-9)),
        "nothing, by proof": words(below(NOTHING, 3.2e-9)),
        "nothing separates": words(NOTHING),
        "nothing separates all": words((*NOTHING, kept("error-allowed margin", 0.04, [0.03, 0.02]))),
        "no labels": words(()),
        "several classes": words((CRAMMER_SINGER, definition_7(0.3, [0.0, 0.2], upper=[0.1, 0.2])), SEVERAL),
        "several classes, a lower bound": words(
            (CRAMMER_SINGER, replace(definition_7(0.3, [0.2, 0.2]), before_upper=0.4)), SEVERAL
        ),
        "several classes, vectors of any length": words((CRAMMER_SINGER, definition_7(0.0, [0.0, 0.0])), SEVERAL),
        "several classes, nothing": words(
            (kept("Crammer-Singer margin", 0.0, [0.0]), definition_7(0.0, [0.0])), SEVERAL
        ),
        "points on the wrong side": words(two(0.5, [0.4, 0.4]), wrong=WRONG),
        "points on the wrong side of a soft margin, srht": words(
            two(0.0, [0.0]), replace(ASKED, family="srht"), wrong=replace(WRONG, after=(3,))
        ),
        "dimensions that the law needs": words(two(0.5, [0.4]), needed=ASKED.features),
        "more than the features": words(two(0.5, [0.4]), needed=ASKED.features + 1),
        "one dimension, several classes": words((kept("Crammer-Singer margin", 1.0, [0.9]),), SEVERAL, needed=1),
        "distances": words((), shares=(0.9, 0.8)),
        "distances of one draw": words((), shares=(0.9,)),
        "no pair": words((), n_pairs=0),
        "brackets that held": words((), brackets=[HELD]),
        "brackets without lower ends": words((), brackets=[replace(HELD, ends_used=1)]),
        "a bracket that was violated": words(
            (), brackets=[replace(HELD, held=1, bound="paul2013.1", about="margin"), HELD]
        ),
        "one dimension of points": words((), replace(ASKED, rank=1), error=(0.4, 0.4)),
        "a rank that rounding hides": words((), replace(ASKED, complete=False)),
        "points that are zero": words((), replace(ASKED, rank=0)),
    }


def said_once(verdicts):
    """Return verdicts as one text, in which what an earlier one said is an ellipsis."""
    known, texts = set(), {}
    for name, sentences in verdicts.items():
        texts[name] = "\n".join("…" if one in known else one for one in sentences)
        known.update(sentences)
    return titled(texts)


def test_sentences():
    check_snapshot(SNAPSHOTS / "verdict.txt", said_once(verdicts()))


@pytest.mark.parametrize("number", [0.0, 1e-13, 1.0000001e-13, 9.2e-9, 0.5, 3.0])
def test_what_is_ruled_out_is_rounded_up(number):
    assert number <= float(at_most(number)) <= 2.0 * number


def test_numbers_in_words():
    assert times(Frequency(3, 10, 0.1, 0.6)) == "3 of 10 draws (a chance of 10 % to 60 %, at 95 % confidence)"
    assert [percent(share) for share in (0.0, 3e-7, 0.1234, 0.99995, 1.0)] == [
        "0 %", "3e-05 %", "12.3 %", "more than 99.99 %", "100 %",
    ]  # fmt: skip
    assert values([0.12345]) == values([0.12345, 0.123451]) == "0.123"
    assert values([2.0, 1.0]) == "1 to 2"
    assert ratios(np.array([0.5, 0.9, 0.6])) == "50 % to 90 % (median 60 %)"
    assert ratios(np.array([1.001, 0.999])) == "100 %"


# ---- the same from data --------------------------------------------------------------------------


def test_sentences_about_data():
    """The law and the theorem of the same separator: where they say much, little and nothing."""
    X, y = clouds(10, 400, 60.0, seed=1)
    found = {
        "a theorem that came true": audit(X, y, n_components=390, repeats=3),
        "of a Gaussian projection": audit(X, y, projection="srht", n_components=390, repeats=3),
        "a theorem without a positive margin": audit(X, y, n_components=250, repeats=1),
        "a theorem that guarantees nothing": audit(X, y, n_components=4, repeats=3),
        "a law that promises little": audit(*clouds(10, 400, 1.0, seed=1), n_components=4),
        "several classes": audit(*several(9, 3, 200, seed=3), n_components=150, repeats=2),
    }
    sentences = {name: (*one.verdict, *one.notes) for name, one in found.items()}
    check_snapshot(SNAPSHOTS / "audits.txt", said_once(sentences))


def test_lost_and_kept_of_data():
    X, y = clouds(30, 100, 1.5, seed=5)
    assert audit(X, y, n_components=2, repeats=5).outcome == "lost"
    assert audit(X, y, n_components=99, repeats=5, eps=0.5).outcome == "kept"
    far = np.abs(X) + 3.0 * y[:, None] + 5.0  # all on one side of the origin
    found = audit(far, y, n_components=30, repeats=5)
    assert found.outcome != "lost" and found.verdict[0].startswith("The classes stayed separable in all 5 draws")


@pytest.mark.filterwarnings("ignore:The number of components is higher")
@pytest.mark.parametrize("labels", [True, False], ids=["labels", "no labels"])
@pytest.mark.parametrize("n, d, r, repeats", [(2, 5, 3, 2), (12, 30, 1, 2), (12, 5, 9, 1), (6, 1, 1, 2), (9, 9, 9, 2)])
def test_small_cases_have_a_verdict(n, d, r, repeats, labels):
    X, y = clouds(n, d, 3.0, seed=6)
    found = audit(X, y if labels else None, n_components=r, repeats=repeats)
    assert found.outcome in ("kept", "shrunk", "lost")
    assert len(found.verdict) >= 3 and all(said.endswith(".") for said in (*found.verdict, *found.notes))
    assert not any(part in said for said in found.verdict for part in ("nan", "inf", "None", " 1 components", "all 1 "))
    assert any("makes nothing smaller" in note for note in found.notes) == (r >= d)
