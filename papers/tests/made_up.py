"""An item that is quick and knows how often it was measured."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from slimline_papers import Cell, Experiment, Finding, Item
from slimline_papers.finding import cells_finding

calls: list[tuple] = []
#: Pieces, experiments, or pieces of an experiment that are interrupted.
stop_at: list[tuple | str] = []


def _parts(study):
    return [(number,) for number in range(study.pick(2, 3, 5))]


@dataclass(frozen=True)
class _Measure:
    experiment: str

    def __call__(self, study, part):
        if {part, self.experiment, (self.experiment, part)} & set(stop_at):
            raise KeyboardInterrupt
        calls.append(part)
        yield part[0], study.seed_of("made up", part[0]) % 100 / 7, "a<b", True


def _draw(table):
    # without words: a hundred of them are drawn, and what real items draw is in papers/tests/test_items.py
    figure = Figure(figsize=(6, 4))
    panel = figure.add_subplot()
    panel.plot(table["number"], table["value"])
    panel.set_axis_off()
    return figure


def _judge(table):
    cells = [Cell("first", 1.0, 0.5, 1.2), Cell("second", 1.0, 0.5, 3.0, 0.25)]
    return [
        Finding("values are there", "yes", f"{len(table)} rows", holds=len(table) > 0, reason="none"),
        Finding(
            "values are <b>negative</b>", "below 0", "above", table["value"].max() < 0, "they are not", "above 0", True
        ),
        Finding("times", "1 s", "2 s", None, "another machine"),
        cells_finding("numbers", cells, "other data"),
        Finding("a claim of ours", "not there", "seen", True, beyond=True),
    ]


def item(name: str = "shi2012.made_up", sources: tuple[str, ...] = ()) -> Item:
    """An item over an experiment of its own."""
    measured = f"{name}_measured"
    experiment = Experiment(
        measured, "Numbers.", ("number", "value", "text", "flag"), _parts, _Measure(measured), sources
    )
    return Item(name, "Made up", experiment, _draw, _judge, "1")
