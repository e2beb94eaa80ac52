"""The numbers that the documents print: whole tables, in the right shape."""

import math

import pytest

from slimline.bounds._bound import FULL_NAMES
from slimline_papers.printed import _all, printed

FAMILIES = ("CW", "RS", "FHT")


def test_documents_are_known():
    assert set(_all()) <= set(FULL_NAMES)


@pytest.mark.parametrize("item", ["table1_eps_out_percent", "table2_margin"])
@pytest.mark.parametrize("data", ["D1", "D2", "D3"])
@pytest.mark.parametrize("family", FAMILIES)
def test_tables_1_and_2_have_a_number_and_a_spread_for_every_column(item, data, family):
    table = printed("paul2013", item)
    assert table["columns"] == ["256", "512", "1024", "full"]
    numbers, spreads = table[data][family], table[data][f"{family}_std"]
    assert len(numbers) == len(spreads) == 4
    assert all(0 < spread < number for number, spread in zip(numbers, spreads, strict=True))
    # on the full data there is no projection, so that all families have the same number
    assert numbers[-1] == table[data]["CW"][-1] and spreads[-1] == table[data]["CW_std"][-1]


@pytest.mark.parametrize(
    "quantity, columns", [("eps_out_percent", 4), ("margin", 4), ("t_rp_seconds", 3), ("t_run_seconds", 4)]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_table_3(quantity, columns, family):
    table = printed("paul2013", "table3_techtc300")
    assert table["columns"] == ["128", "256", "512", "full"]
    assert len(table[quantity][family]) == len(table[quantity][f"{family}_std"]) == columns


def test_projecting_costs_error_and_margin():
    # what every row of the printed tables shows, so that a slip in typing one would too
    for data in ("D1", "D2", "D3"):
        for family in FAMILIES:
            errors = printed("paul2013", "table1_eps_out_percent")[data][family]
            margins = printed("paul2013", "table2_margin")[data][family]
            assert errors == sorted(errors, reverse=True) and margins == sorted(margins)


def test_shapes_of_data():
    assert [printed("paul2013", "table1_eps_out_percent")[name]["shape"] for name in ("D1", "D2", "D3")] == [
        [200, 5_000], [250, 10_000], [300, 20_000],
    ]  # fmt: skip
    assert printed("vaswani2013", "arcene_train_shape") == [100, 10_000]
    assert printed("vaswani2013", "dorothea_train_shape") == [800, 100_000]


def test_cosines_are_cosines():
    fig2 = printed("shi2012", "fig2")
    assert len(fig2["n"]) == 10 and max(fig2["n"]) == fig2["d"]
    assert all(0 < c < 1 for c in fig2["cosines_acute"]) and all(-1 < c < 0 for c in fig2["cosines_obtuse"])


def test_every_number_is_finite():
    def numbers(value):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            return [number for part in value for number in numbers(part)]
        return [value] if isinstance(value, int | float) else []

    found = numbers(_all())
    assert len(found) > 200 and all(math.isfinite(number) for number in found)


def test_what_is_not_printed():
    with pytest.raises(KeyError):
        printed("paul2013", "table9")
