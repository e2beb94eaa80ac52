"""The words of an audit, in every case."""

from dataclasses import replace

import numpy as np
import pytest

from slimline import audit
from slimline.auditing._guarantees import AuditSettings, frequency
from slimline.auditing._records import BracketCheck, Frequency, PairsKept, Preservation, WrongSide
from slimline.auditing._verdict import outcome_of, verdict_of
from slimline.auditing._words import at_most, only_times, percent, ratios, times, values
from tests.auditing.clouds import clouds, several

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


def test_separable_in_all_some_and_no_draws():
    def first(*after):
        return words(two(0.5, after))[0]

    assert (
        first(0.5, 0.4)
        == "The classes stayed separable in all 2 draws (a chance of 15.8 % to 100 %, at 95 % confidence)."
    )
    assert first(0.5, 0.0).startswith("The classes stayed separable in only 1 of 2 draws (a chance of 1.26 % to 98.7 %")
    assert first(0.0, 0.0).startswith("The classes stayed separable in none of 2 draws (a chance of 0 % to 84.2 %")
    assert first(0.5).startswith("The classes stayed separable in the one draw (a chance of 2.5 % to 100 %")
    assert first(0.0).startswith("The classes stayed separable in no draw (of one; a chance of 0 % to 97.5 %")


def test_what_a_plane_through_the_origin_loses_and_an_intercept_keeps():
    said = words(two(0.5, [0.0, 0.5], with_intercept=(2.0, [1.0, 2.0])))
    assert said[0].startswith("The classes stayed separable in all 2 draws")
    assert said[1].startswith("A plane through the origin was left in only 1 of 2 draws")
    assert said[1].endswith("; else it takes an intercept.")
    said = words(two(0.0, [0.0, 0.0], with_intercept=(2.0, [1.0, 2.0])))
    assert said[0] == "No plane through the origin separates the classes; one with an intercept does."
    assert said[2].startswith("The margin with intercept of 2 became 1 to 2: 50 % to 100 % (median 75 %) of it")


def test_the_margin_that_decides_and_the_plain_one():
    said = words(two(0.5, [0.25, 0.45], plain=(3.0, [1.5, 1.5])))
    assert said[1] == (
        "The normalised margin of 0.5 became 0.25 to 0.45: 50 % to 90 % (median 70 %) of it; within 1 ± 0.2 in 1 of 2 "
        "draws (a chance of 1.26 % to 98.7 %, at 95 % confidence)."
    )
    assert said[2] == "The margin became 50 % of what it was."


def test_what_is_not_proved():
    said = words(two(0.5, [0.5, 0.0], undecided=(1,)))
    assert said[0].endswith("confidence); in 1 more neither that nor the opposite was proved.")
    said = words(two(0.0, [0.0, 0.0], decided=False))
    assert said[0].startswith("Whether the classes are separable is open: neither plane nor a proof")
    tiny = [replace(one, before_upper=3.2e-9) for one in two(0.0, [0.0, 8.5e-10])]
    assert words(tuple(tiny))[0] == (
        "Before the projection nothing separates the classes by a margin with intercept above 4e-09, which is nothing "
        "beside the points; what was found after it is at most 9e-10."
    )
    none = [replace(one, before_upper=3.2e-9) for one in two(0.0, [0.0, 0.0])]
    assert "there is no margin to keep (none above 4e-09, by proof); a projection cannot" in words(tuple(none))[0]
    margins = two(0.0, [0.0, 0.0], with_intercept=(2.0, [1.0, 2.0]))
    assert words(margins)[0].startswith("No plane through the origin separates the classes; one with")
    open_ = (margins[0], replace(margins[1], decided=False), margins[2])
    assert words(open_)[0].startswith("No plane through the origin was found to separate the classes; one with")
    wide = replace(kept("normalised multiclass margin", 0.3, [0.2, 0.2]), before_upper=0.4)
    said = words((kept("Crammer-Singer margin", 1.0, [0.9, 0.8]), wide), SEVERAL)
    assert said[1].startswith("The normalised multiclass margin of 0.3 or more became 0.2: 67 % of it")


def test_several_classes():
    margins = (
        kept("Crammer-Singer margin", 1.0, [0.9, 0.8]),
        kept("normalised multiclass margin", 0.3, [0.0, 0.2], upper=[0.1, 0.2]),
    )
    said = words(margins, SEVERAL)
    assert said[0].startswith("The classes stayed separable in all 2 draws")
    assert said[1].startswith(
        "The normalised multiclass margin of 0.3 became 0 to 0.2 or more: 0 % to 67 % (median 33 %)"
    )
    assert said[2] == "The Crammer-Singer margin became 80 % to 90 % (median 85 %) of what it was."
    said = words((margins[0], kept("normalised multiclass margin", 0.0, [0.0, 0.0])), SEVERAL)
    assert said[0] == "No vectors of one length were found that tell the classes apart; vectors of any length do."
    nothing = (kept("Crammer-Singer margin", 0.0, [0.0]), kept("normalised multiclass margin", 0.0, [0.0]))
    said = words(nothing, SEVERAL)
    assert said[0].startswith("No vectors tell the classes apart, so there is no margin to keep")


@pytest.mark.parametrize("number", [0.0, 1e-13, 1.0000001e-13, 9.2e-9, 0.5, 3.0])
def test_what_is_ruled_out_is_rounded_up(number):
    assert number <= float(at_most(number)) <= 2.0 * number


def test_nothing_separates_and_no_labels():
    said = words(two(0.0, [0.0, 0.0]))
    assert said[0] == (
        "No plane separates the classes, so there is no margin to keep; a projection cannot make them separable, and "
        "did not."
    )
    most = (*two(0.0, [0.0, 0.0]), kept("error-allowed margin", 0.04, [0.03, 0.02]))
    assert words(most)[1] == (
        "About a soft-margin plane through the origin all but 5 % of the points have a margin of 0.04 in cosines, and "
        "0.02 to 0.03 after the projection: 50 % to 75 % (median 62 %) of it."
    )
    assert words(())[0] == "There are no labels, so no margin was measured."


def test_points_on_the_wrong_side():
    wrong = WrongSide(1, (3, 4), 2.5)
    said = [one for one in words(two(0.5, [0.4, 0.4]), wrong=wrong) if "wrong side" in one]
    assert said == [
        "Points on the wrong side of the separator chosen before: 1 before, 3.5 after on average, where the exact law "
        "expects 2.5."
    ]
    srht = replace(ASKED, family="srht")
    said = [one for one in words(two(0.0, [0.0]), srht, wrong=replace(wrong, after=(3,))) if "wrong side" in one]
    assert said == [
        "Points on the wrong side of a soft-margin plane through the origin, chosen before: 1 before, 3 after, where "
        "the exact law of a Gaussian projection expects 2.5."
    ]


def test_dimensions_that_the_law_asks_for():
    many, one = two(0.5, [0.4]), (kept("Crammer-Singer margin", 1.0, [0.9]),)
    features = ASKED.features
    assert (
        f"By the exact law it takes {features:,} dimensions to keep the margin of the separator chosen before above 0 "
        "with a chance of 95 % or more."
    ) in words(many, needed=features)
    assert (
        "By the exact law it takes 1 dimension to keep the margin of the vectors chosen before above 0 with a chance "
        "of 95 % or more."
    ) in words(one, SEVERAL, needed=1)
    beyond = f"95 % or more, and there are only {features:,} features."
    assert any(said.endswith(beyond) for said in words(many, needed=features + 1))


def test_distances():
    assert words((), shares=(0.9, 0.8))[1] == (
        "85 % of all squared distances changed by at most 20 %, where the exact law foretells 90 %; the largest change "
        "of a draw was 0.3."
    )
    assert words((), shares=(0.9,))[1].endswith("the largest change was 0.3.")
    assert words((), n_pairs=0)[1] == "There is no pair of different points."


def test_embedding_error_and_brackets():
    def last(**given):
        return words((), **given)[-1]

    good = BracketCheck("paul2013.2", "enclosing ball", 2, 2, 2, 0.4)
    span = "The embedding error on the span of the points (12 dimensions) was 0.4 to 0.5"
    assert last() == f"{span}."
    assert last(brackets=[good]) == f"{span}; paul2013's brackets held in every draw."
    assert last(brackets=[replace(good, ends_used=1)]).endswith("every draw; above 1 their lower ends say nothing.")
    broken = replace(good, held=1, bound="paul2013.1", about="margin")
    assert last(brackets=[broken, good]) == (
        f"{span}; paul2013's brackets were violated: paul2013.1 (margin). That cannot be: please report it."
    )
    one = replace(ASKED, rank=1)
    assert "(1 dimension) was 0.4." in last(asked=one, error=(0.4, 0.4))
    hidden = last(asked=replace(ASKED, complete=False))
    assert hidden == "The embedding error on the span of the points is at least 0.4 to 0.5."
    assert last(asked=replace(ASKED, rank=0)) == "All points are zero."


def test_numbers_in_words():
    assert times(Frequency(3, 10, 0.1, 0.6)) == "3 of 10 draws (a chance of 10 % to 60 %, at 95 % confidence)"
    assert only_times(Frequency(3, 10, 0.1, 0.6)).startswith("only 3 of 10")
    assert only_times(Frequency(10, 10, 0.7, 1.0)).startswith("all 10")
    assert [percent(share) for share in (0.0, 3e-7, 0.1234, 0.99995, 1.0)] == [
        "0 %", "3e-05 %", "12.3 %", "more than 99.99 %", "100 %",
    ]  # fmt: skip
    assert values([0.12345]) == values([0.12345, 0.123451]) == "0.123"
    assert values([2.0, 1.0]) == "1 to 2"
    assert ratios(np.array([0.5, 0.9, 0.6])) == "50 % to 90 % (median 60 %)"
    assert ratios(np.array([1.001, 0.999])) == "100 %"


# ---- the same from data --------------------------------------------------------------------------


def sentence(found, part):
    return next(said for said in found.verdict if part in said)


def test_theorem_and_law_of_the_same_separator():
    X, y = clouds(10, 400, 60.0, seed=1)
    found = audit(X, y, n_components=390, repeats=3)
    same = next(kept for kept in found.margins if kept.name.endswith("same separator"))
    law, _, theorem = same.promises
    chance = "By the exact law the separator chosen before loses its margin with a chance of at most "
    assert sentence(found, "loses its margin").startswith(chance + percent(law.predicted))
    true = f"shi2012.6 promises a margin of {theorem.low:.3g}, which came true in every draw."
    assert sentence(found, "shi2012.6") == true
    srht = audit(X, y, projection="srht", n_components=390, repeats=3)
    assert "shi2012.6 promises to a Gaussian projection a margin" in sentence(srht, "shi2012.6")
    assert "By the exact law of a Gaussian projection the separator" in sentence(srht, "loses its margin")
    few = audit(X, y, n_components=4, repeats=3)
    assert sentence(few, "shi2012.6").startswith(
        "shi2012.6 promises nothing with 4 dimensions; a margin above 0 takes "
    )
    assert "may well lose its margin" in sentence(
        audit(*clouds(10, 400, 1.0, seed=1), n_components=4), "By the exact law"
    )
    some = audit(X, y, n_components=250, repeats=1)
    theorem = next(kept for kept in some.margins if kept.name.endswith("same separator")).promises[2]
    assert -1.0 < theorem.low < 0.0
    takes = f"; it takes {theorem.needed:,}."
    assert sentence(some, "shi2012.6") == "shi2012.6 promises no positive margin with 250 dimensions" + takes


def test_the_vectors_of_several_classes():
    X, y = several(9, 3, 200, seed=3)
    found = audit(X, y, n_components=150, repeats=2)
    assert "the vectors chosen before lose their margin with a chance of at most" in sentence(found, "By the exact law")
    assert "the margin of the vectors chosen before" in sentence(found, "dimensions to keep")
    assert found.wrong_side is None and not any("wrong side" in said for said in found.verdict)


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
    assert not any(part in said for said in found.verdict for part in ("nan", "inf", "None", " 1 dimensions", "all 1 "))
    assert any("makes nothing smaller" in note for note in found.notes) == (r >= d)
