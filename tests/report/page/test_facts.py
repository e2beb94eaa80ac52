"""Each fact of the record stands on the page, in words that people use; what is missing is left out."""

import re
from dataclasses import replace
from math import exp, inf, nan
from pathlib import Path

import pytest

from slimline._base.text import counted
from slimline.report import fit_page
from slimline.report._text import (
    area,
    at_most,
    interval_text,
    memory,
    number,
    number_up,
    percent,
    places,
    score,
    tidy,
    time_taken,
    weight_text,
)
from tests.report.page.covariate_examples import (
    cases,
    nothing_known,
    quantile,
    regression,
    several_targets,
    three_classes,
    vast_and_small,
)
from tests.report.page.examples import EXAMPLES, many_classes, two_classes, without_parts
from tests.report.page.plain_words import plain_words
from tests.report.page.reading import read
from tests.snapshots import check_snapshot

DIGITS = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")


def _plain(text):
    return " ".join(text.replace("\u00a0", " ").split())


def _facts(report):
    """Text that the page must show."""
    data, model, held, cost, made = report.data, report.model, report.held_out, report.cost, report.reproduction
    yield from (report.title, data.name, data.labels, data.fingerprint, f"{data.n_rows:,} × {data.n_features:,}")
    yield from (f"{data.left_out:,}, which had no label", memory(data.nbytes))
    for label, rows in data.classes:
        yield label
        yield f"{rows:,}"
    yield from (model.loss.replace("_", " "), model.method, model.reason, model.projection, f"{model.n_components:,}")
    yield from (number(model.C), at_most(model.tol), at_most(report.relative_error), number(max(model.radius)))
    if len(model.relative_error) > 1:
        for error, radius in zip(model.relative_error, model.radius, strict=True):
            yield from (at_most(error, exactly=True), number(radius))
    for step in report.history:
        yield from (f"{step.passes:,}", time_taken(step.seconds), at_most(step.relative_error, exactly=True))
    text = weight_text(report.features)
    for f in report.features:
        yield from (f.name, f.label, text.weight(f.weight), text.lower(f.lower), text.upper(f.upper))
        yield from (places(f.best_rank, f.worst_rank), f"number {f.index:,}", f.chromosome, f"{f.position:,}")
        yield f"{f.allele1}/{f.allele2}"
        yield from (near.name for near in f.neighbours)
        if (f.n_neighbours or 0) > len(f.neighbours):
            yield f"and {counted(f.n_neighbours - len(f.neighbours), 'other')}"
    yield from (percent(held.accuracy), percent(held.low), percent(held.high), percent(held.balanced_accuracy))
    yield from (held.source, held.majority_label, percent(held.majority_rate), percent(held.proved))
    for row in held.confusion:
        yield from (f"{count:,}" for count in row if count)
    for curve in held.curves:
        yield from (curve.label, percent(curve.share), area(curve.area), area(curve.average_precision))
    for C, mean in zip(report.search.penalties, report.search.scores, strict=True):
        yield from (number(C), number(mean, 4))
    yield from (f"{report.search.folds} folds", report.search.scoring)
    audit, plan = report.audit, report.plan
    yield from (audit.outcome, *(tidy(sentence) for sentence in (*audit.verdict, *audit.notes)))
    for kept in (*audit.margins, audit.ball, audit.embedding):
        yield from (kept.name, number(kept.before), number(min(kept.after)), number(max(kept.after)))
        yield from (promise.bound for promise in kept.promises)
    for pairs in audit.pairs:
        yield from (f"largest change of {pairs.name}", number(max(pairs.largest)))
        yield from (promise.bound for promise in pairs.promises)
    yield from (check.bound for check in audit.brackets)
    yield from (tidy(plan.advice), plan.source, time_taken(plan.choice.seconds), memory(plan.choice.nbytes))
    for row in plan.guarantees:
        yield from (row.name, row.about, "" if row.dimension is None else f"{row.dimension:,}")
    for phase in cost.phases:
        yield from (phase.name, f"{phase.passes:,}", time_taken(phase.seconds))
    yield from (f"{cost.passes:,} passes", time_taken(cost.seconds), memory(cost.peak_bytes), "2 threads")
    yield from (made.command, made.python, str(made.seed), made.made.replace("T", " "))
    for name, version in made.versions:
        yield from (name, version)
    yield from report.notes


@pytest.mark.parametrize("make", [two_classes, many_classes])
def test_each_fact_is_there(make):
    report = make()
    words = read(fit_page(report)).words
    facts = [_plain(fact) for fact in _facts(report)]
    assert len(facts) > 300
    assert [fact for fact in facts if fact not in words] == []


def _section(page, name):
    return next(e for e in page.all("section") if e.attributes.get("id") == name)


@pytest.mark.parametrize(
    "accuracy, low, high, warned",
    [(0.93, 0.9, 0.95, False), (0.55, 0.45, 0.65, True), (0.5, 0.4, 0.6, True), (0.3, 0.2, 0.4, True)],
)
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_the_comparison_with_one_class_is_honest(accuracy, low, high, warned, scoring):
    report = two_classes()
    held = replace(report.held_out, accuracy=accuracy, low=low, high=high, majority_rate=0.5, scoring=scoring)
    held = replace(held, worse_than_majority=accuracy <= 0.5)
    page = read(fit_page(replace(report, held_out=held)))
    assert len(list(page.all("p", class_="warning"))) == warned


def test_a_model_that_was_trained_again_on_all_samples_is_said():
    report = two_classes()
    held = replace(report.held_out, trained_rows=report.data.n_rows - 60)
    page = read(fit_page(replace(report, held_out=held)))
    assert page.words.count(f"trained on all {report.data.n_rows}") == 2
    assert f"trained on all {report.data.n_rows}" not in read(fit_page(report)).words


def test_parts_that_are_missing_leave_a_sentence():
    whole = {section.attributes.get("id") for section in read(fit_page(two_classes())).all("section")}
    page = read(fit_page(without_parts()))
    left = {section.attributes.get("id") for section in page.all("section")}
    assert whole - left == {"held-out", "margins", "theory", "penalty"}
    links = {link.attributes["href"] for link in next(page.all("nav")).all("a")}
    assert not links & {f"#{name}" for name in whole - left}
    assert next(page.all("p", class_="left-out")).words.count("--audit") == 2
    assert not list(read(fit_page(two_classes())).all("p", class_="left-out"))


def test_plan_and_audit_stand_alone():
    report = two_classes()
    only_plan = _section(read(fit_page(replace(report, audit=None))), "theory").words
    only_audit = _section(read(fit_page(replace(report, plan=None))), "theory").words
    assert "The plan" in only_plan and "Guarantees about" not in only_plan
    assert "The plan" not in only_audit and "Guarantees about" in only_audit


def test_little_is_known():
    report = two_classes()
    bare = replace(
        report, features=(), history=(), cost=replace(report.cost, peak_bytes=None, resumed=True),
        data=replace(report.data, nbytes=None, labels="", left_out=0, standardised=False),
        reproduction=replace(report.reproduction, command="", python="", seed=None),
    )  # fmt: skip
    page = read(fit_page(bare))
    assert not {"certified", "features"} & {section.attributes.get("id") for section in page.all("section")}
    assert "was not recorded" in _section(page, "reproduce").words and "none was set" in page.words


def test_one_step_is_no_curve():
    report = two_classes()
    step = replace(report.history[-1], relative_error=3.2e-13, passes=2)
    report = replace(report, history=(step,), model=replace(report.model, relative_error=(3.2e-13,)))
    section = _section(read(fit_page(report)), "certified")
    assert "at most 3.2 × 10⁻¹¹ % after 2 passes" in section.words
    assert not list(section.all("figure"))


@pytest.mark.parametrize("k", [0, 2])
def test_steps_without_a_proof_are_not_drawn(k):
    report = two_classes()
    history = tuple(
        replace(s, relative_error=inf if place < k else s.relative_error) for place, s in enumerate(report.history)
    )
    section = _section(read(fit_page(replace(report, history=history))), "certified")
    assert len(list(section.all("path", class_="dot"))) == len(history) - k
    assert len(list(section.all("rect", class_="shade"))) == bool(k)


def test_many_more_classes_are_a_list_of_mistakes():
    report = two_classes()
    n = 40
    confusion = [[5 * (i == j) + 2 * (j == i + 1) for j in range(n)] for i in range(n)]
    confusion[3][30] = 9
    data = replace(report.data, classes=tuple((f"class {k}", 10) for k in range(n)))
    held = replace(report.held_out, confusion=tuple(map(tuple, confusion)), curves=())
    model = replace(report.model, relative_error=(0.001,) * n, radius=(0.1,) * n)
    page = read(fit_page(replace(report, data=data, held_out=held, model=model)))
    assert not list(page.all("table", class_="confusion"))
    first = next(next(_section(page, "held-out").all("tbody")).all("tr"))
    assert first.words.startswith("class 3 class 30 9 ")


def test_classes_without_held_out_samples_and_areas_that_are_not_known():
    report = two_classes()
    curve = replace(report.held_out.curves[0], area=nan, average_precision=nan)
    held = replace(report.held_out, confusion=((60, 0), (0, 0)), curves=(curve,))
    words = _section(read(fit_page(replace(report, held_out=held))), "held-out").words
    assert "no samples" in words and words.count("not known") == 2


def _facts_of_targets(report):
    """Text that the page of a regression must show."""
    for target in report.data.targets:
        yield target.name
    for effect in report.effects:
        yield from (effect.name, *interval_text(effect.effect, effect.lower, effect.upper))
        if effect.deviation is not None:
            yield from (number(effect.deviation), number(effect.effect * effect.deviation))
    for held in report.held_out_targets:
        yield from (held.name, held.source, f"{held.n_rows} samples", held.baseline, number(held.mean_absolute_error))
        yield from (number(held.root_mean_square_error), number_up(held.largest_radius), number_up(held.median_radius))
        yield from (number(end) for end in held.residual_quantiles)
        for found in (held.r2, held.correlation):
            yield from interval_text(found.value, found.lower, found.upper)[1:]
        if held.coverage is None:
            yield from (score(held.r2.value), score(held.baseline_r2), number(held.baseline_mean_absolute_error))
        else:
            yield from (percent(held.coverage.share), percent(held.coverage.low), percent(held.coverage.high))
            yield from (percent(held.coverage.quantile), number(held.loss), number(held.baseline_loss))
    yield from (report.model.loss.replace("_", " "), report.model.loss_parameters, "yes, without a penalty")


@pytest.mark.parametrize("make", [regression, several_targets, quantile])
def test_each_fact_of_a_regression_is_there(make):
    report = make()
    words = read(fit_page(report)).words
    facts = [_plain(fact) for fact in _facts_of_targets(report)]
    if make is quantile:  # which has no R²
        ends = interval_text(*(getattr(report.held_out_targets[0].r2, end) for end in ("value", "lower", "upper")))
        facts = [fact for fact in facts if fact not in [_plain(end) for end in ends]]
    assert len(facts) > 40 and [fact for fact in facts if fact not in words] == []


def test_points_are_as_many_as_samples():
    page = read(fit_page(regression()))
    drawn = [path.attributes["d"].count("M") for path in page.all("path", class_="small")]
    assert len(drawn) == 2 and all(100 < count <= 120 for count in drawn)  # dots that coincide are drawn once
    assert not list(page.all("path", class_="span"))  # certified intervals are narrower than dots
    assert len(list(read(fit_page(vast_and_small())).all("path", class_="span"))) == 1


@pytest.mark.parametrize("make", [cases, three_classes])
def test_each_fact_of_calibrations_is_there(make):
    report = make()
    section = _section(read(fit_page(report)), "calibration")
    facts = []
    for one in report.held_out.calibration:
        facts += [one.label, percent(one.error)]
        for part in one.bins:
            facts += [f"{part.n_rows:,} {part.n_of_it:,} {percent(part.predicted)} {percent(part.observed)}"]
            facts += [percent(part.low), percent(part.high)]
    assert [fact for fact in map(_plain, facts) if fact not in section.words] == []
    assert ("in the population was given as 2.0 %" in section.words) == (make is cases)


def test_odds_ratios_are_those_of_the_effects():
    report = cases()
    table = next(_section(read(fit_page(report)), "effects").all("tbody"))
    for effect, row in zip(report.effects, table.all("tr"), strict=True):
        shown = [cell.words for cell in row.all("td")][3:5]
        if not effect.of_covariate:
            assert shown == ["", ""]
            continue
        low, high = (float(re.sub(r" × 10(.*)", r"e\1", cell).translate(DIGITS).replace(",", "")) for cell in shown)
        assert low <= exp(effect.lower) and high >= exp(effect.upper) and high == pytest.approx(low, rel=1e-3)


def test_nothing_known_of_a_regression():
    page = read(fit_page(nothing_known()))
    assert page.words.count("left out") >= 3 and "no bound for all of them is proved" in page.words
    assert "there is no R²" in page.words and "It is no better than the covariates alone" in page.words
    bare = replace(regression(), held_out_targets=(), effects=())
    page = read(fit_page(bare))
    assert not {"held-out", "effects"} & {section.attributes.get("id") for section in page.all("section")}
    assert "no predictions and residuals" in next(page.all("p", class_="left-out")).words


@pytest.mark.parametrize("name", ["two classes", "many classes", "nothing proved", "regression", "cases"])
def test_the_words_of_the_page_are_the_approved_ones(name):
    report = EXAMPLES[name]()
    if report.effects:  # solved to rounding, which is not the same everywhere
        report = replace(report, model=replace(report.model, relative_error=(3e-4,)))
    check_snapshot(Path(__file__).parent / "snapshots" / f"{name.replace(' ', '_')}.txt", plain_words(report))
