"""Each fact of the record stands on the page, in words that people use; what is missing is left out."""

from dataclasses import replace
from math import inf, nan

import pytest

from slimline.report import fit_page
from slimline.report.page._curves import _area
from slimline.report.page._features import weight_text
from slimline.report.page._margins import promises_section
from slimline.report.page._words import at_most, counted, memory, number, percent, places, tidy, time_taken
from tests.report.page.examples import EXAMPLES, many_classes, two_classes, without_parts
from tests.report.page.reading import read


def _plain(text):
    return " ".join(text.replace("\u00a0", " ").split())


def _facts(report):
    """What must be read on the page."""
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
        yield from (curve.label, percent(curve.share), _area(curve.area), _area(curve.average_precision))
    for C, score in zip(report.search.penalties, report.search.scores, strict=True):
        yield from (number(C), number(score, 4))
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


def test_first_lines_say_how_good_which_columns_how_sure_how_long():
    report = two_classes()
    held = replace(
        report.held_out, accuracy=0.931, n_rows=452, low=0.9041, high=0.9531, majority_rate=0.12, majority_label="CEU"
    )
    report = replace(report, held_out=held)
    main = next(read(fit_page(report)).all("main"))
    good, which, sure, long = next(main.all("div", class_="answers")).all("section")
    assert "93.1 % right on 452 rows it never saw; always naming ‘CEU’ gets 12.0 %." in good.words
    assert "With 95 % confidence: 90.4 % to 95.3 %." in good.words
    first = report.features[0]
    assert [item.words.split(" ")[0] for item in which.all("li")] == [f.name for f in report.features[:5]]
    assert f"chr {first.chromosome} : {first.position:,} · {first.allele1}/{first.allele2}" in which.words
    assert at_most(report.relative_error).replace("\u00a0", " ") in sure.words
    proved = len(report.proved_among(20))
    assert (
        f"{'All' if proved == 20 else proved} of the top 20 columns are proved to be in the exact model’s top 20"
        in sure.words
    )
    assert f"{percent(held.proved)} of the held-out labels are proved".replace("\u00a0", " ") in sure.words
    assert f"the fit: {report.cost.fit.passes} passes over the data, 2 threads" in long.words
    assert f", {report.cost.passes} passes" in long.words and "412 MB" in long.words
    children = [child for child in main.children if not isinstance(child, str)]
    assert children[0].attributes["class"] == "answers"  # nothing stands before


@pytest.mark.parametrize(
    "accuracy, low, high, majority, said",
    [
        (0.93, 0.9, 0.95, 0.5, None),
        (0.55, 0.45, 0.65, 0.5, "60 rows cannot tell it from always naming that class."),
        (0.5, 0.4, 0.6, 0.5, "It is no better than always naming that class."),
        (0.3, 0.2, 0.4, 0.5, "It is worse than always naming that class."),
    ],
)
def test_the_comparison_with_one_class_is_honest(accuracy, low, high, majority, said):
    report = two_classes()
    held = replace(report.held_out, accuracy=accuracy, low=low, high=high, majority_rate=majority)
    held = replace(held, worse_than_majority=accuracy <= majority)
    page = read(fit_page(replace(report, held_out=held)))
    assert [found.words for found in page.all("p", class_="warning")] == ([said] if said else [])


def test_a_model_that_was_trained_again_on_all_rows_is_said():
    report = two_classes()
    assert "then trained on all" not in read(fit_page(report)).words.lower()
    held = replace(report.held_out, trained_rows=report.data.n_rows - 60)
    page = read(fit_page(replace(report, held_out=held)))
    trained, n = held.trained_rows, report.data.n_rows
    assert f"Measured after training on the other {trained:,} rows; then trained on all {n:,}." in page.words
    assert f"a model trained on the other {held.trained_rows} rows" in page.words


def test_balanced_accuracy_is_compared_with_its_own_chance():
    report = two_classes()
    held = replace(report.held_out, accuracy=0.9, low=0.8, high=0.95, majority_rate=0.5, worse_than_majority=True)
    page = read(fit_page(replace(report, held_out=replace(held, scoring="balanced_accuracy"))))
    assert [found.words for found in page.all("p", class_="warning")] == [
        "Averaged over the classes, it is no better than always naming one of them."
    ]


def test_parts_that_are_missing_leave_a_sentence():
    whole = {section.attributes.get("id") for section in read(fit_page(two_classes())).all("section")}
    page = read(fit_page(without_parts()))
    left = {section.attributes.get("id") for section in page.all("section")}
    assert whole - left == {"held-out", "margins", "promises", "penalty"}
    links = {link.attributes["href"] for link in next(page.all("nav")).all("a")}
    assert not links & {f"#{name}" for name in whole - left}
    said = next(page.all("p", class_="left-out")).words
    for words in ("no rows were held out", "were not measured", "none was made", "C = 0.0001 was given"):
        assert words in said
    assert "Not measured" in page.words
    assert not list(read(fit_page(two_classes())).all("p", class_="left-out"))


def test_plan_and_audit_stand_alone():
    report = two_classes()
    only_plan = promises_section(replace(report, audit=None)).body
    only_audit = promises_section(replace(report, plan=None)).body
    assert "The plan" in only_plan and "Promises about the projection" not in only_plan
    assert "The plan" not in only_audit and "Promises about the projection" in only_audit


def test_an_exact_route_needs_no_margins():
    report = two_classes()
    exact = replace(report, audit=None, model=replace(report.model, projection="", n_components=0, method="gram"))
    assert "because no projection was used" in read(fit_page(exact)).words


def test_little_is_known():
    report = two_classes()
    bare = replace(
        report, features=(), history=(), cost=replace(report.cost, peak_bytes=None, resumed=True),
        data=replace(report.data, nbytes=None, labels="", left_out=0, standardised=False),
        reproduction=replace(report.reproduction, command="", python="", seed=None),
    )  # fmt: skip
    words = read(fit_page(bare)).words
    for said in (
        "Weights of single columns were not recorded", "How the certified error fell was not recorded",
        "The system did not tell how much memory", "went on from where an earlier one had stopped",
        "How it was called was not recorded", "none was set",
    ):  # fmt: skip
        assert said in words


def test_nothing_proved_is_said():
    words = read(fit_page(EXAMPLES["nothing proved"]())).words
    for said in (
        "No bound", "None of the top 20 columns are proved", "0 % of the held-out labels are proved",
        "There is no curve to draw", "0 of the top 20 are proved; 30 more of the columns shown are possible.",
        "−∞", "It is no better than always naming that class.",
    ):  # fmt: skip
        assert said in words, said


def test_one_step_is_no_curve():
    report = two_classes()
    step = replace(report.history[-1], relative_error=3.2e-13, passes=2)
    report = replace(report, history=(step,), model=replace(report.model, relative_error=(3.2e-13,)))
    section = next(e for e in read(fit_page(report)).all("section") if e.attributes.get("id") == "certified")
    assert "It took one step: at most 3.2 × 10⁻¹¹ % after 2 passes." in section.words
    assert not list(section.all("figure"))


@pytest.mark.parametrize("k", [0, 2])
def test_steps_without_a_proof_are_not_drawn(k):
    report = two_classes()
    history = tuple(
        replace(s, relative_error=inf if place < k else s.relative_error) for place, s in enumerate(report.history)
    )
    page = read(fit_page(replace(report, history=history)))
    section = next(e for e in page.all("section") if e.attributes.get("id") == "certified")
    dots = list(section.all("path", class_="dot"))
    assert len(dots) == len(history) - k
    assert ("nothing certified yet" in section.words) == bool(k)


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
    assert "most often, 9 times, ‘class 3’ was called ‘class 30’" in page.words
    assert "The most common mistakes among 40 classes" in page.words


def test_classes_without_held_out_rows_and_areas_that_are_not_known():
    report = two_classes()
    curve = replace(report.held_out.curves[0], area=nan, average_precision=nan)
    held = replace(report.held_out, confusion=((60, 0), (0, 0)), curves=(curve,))
    words = read(fit_page(replace(report, held_out=held))).words
    assert "no rows" in words and "Area under the curve for TSI: not known" in words and "No mistake was made." in words
