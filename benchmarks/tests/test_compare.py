import pytest

from benchmarks.tests.fabricate import fabricated_case
from slimline_benchmarks import Measurement, Target
from slimline_benchmarks.compare import describe, judge, ratio, ratios, share


def test_best_rate_and_spread_come_from_the_times():
    ours = fabricated_case().find("ours")
    assert ours.best == 0.02
    assert ours.rate == pytest.approx(1.5)
    assert ours.spread == pytest.approx(1.25)
    nothing = Measurement("nobody", "peer", status="absent")
    assert nothing.best is None and nothing.rate is None and nothing.spread is None


def test_ratio_is_best_over_best():
    case = fabricated_case()
    assert ratio(case, "ours", "peer") == pytest.approx(0.5)
    assert ratio(case, "ours", "large") is None
    assert ratio(case, "nobody", "peer") is None


def test_ratios_are_of_ours_to_measured_peers():
    case = fabricated_case()
    assert ratios(case, case.find("ours")) == {"peer": pytest.approx(0.5)}
    assert ratios(case, case.find("peer")) == {}


def test_share_compares_rates_and_not_times():
    case = fabricated_case()
    assert share(case, case.find("ours")) == pytest.approx(0.5)
    # a limit that was measured with a tenth of the work counts by its rate
    tenth = Measurement("limit", "limit", seconds=(0.001,), amount=0.003, unit="GB/s")
    other = fabricated_case(measurements=(tenth, *case.measurements[1:]))
    assert share(other, other.find("ours")) == pytest.approx(0.5)


def test_share_of_another_unit_is_none():
    case = fabricated_case()
    flops = Measurement("limit", "limit", seconds=(0.01,), amount=1.0, unit="GFLOP/s")
    other = fabricated_case(measurements=(flops, *case.measurements[1:]))
    assert share(other, other.find("ours")) is None
    assert share(case, case.find("peer")) is None


@pytest.mark.parametrize(
    "target, value, met, text",
    [
        (Target("ours", "ratio", 0.6, "peer"), 0.5, True, "time ≤ 0.6 of peer"),
        (Target("ours", "ratio", 0.4, "peer"), 0.5, False, "time ≤ 0.4 of peer"),
        (Target("ours", "ratio", 0.4, "large"), None, None, "time ≤ 0.4 of large"),
        (Target("ours", "share", 0.8), 0.5, False, "limit ≥ 80%"),
        (Target("ours", "share", 0.4), 0.5, True, "limit ≥ 40%"),
        (Target("ours", "rate", 1.0), 1.5, True, "≥ 1 GB/s"),
        (Target("ours", "memory", 4e6), 5e6, False, "memory ≤ 4 MB"),
        (Target("ours", "seconds", 30e-6), 0.02, False, "time ≤ 30 µs"),
        (Target("nobody", "share", 0.4), None, None, "limit ≥ 40%"),
    ],
)
def test_verdicts(target, value, met, text):
    case = fabricated_case()
    verdict = judge(case, target)
    assert verdict.value == (None if value is None else pytest.approx(value))
    assert verdict.met is met
    assert verdict.text == describe(case, target) == text


def test_unknown_memory_is_not_judged():
    case = fabricated_case(measurements=(Measurement("ours", "ours", seconds=(1.0,)),))
    assert judge(case, Target("ours", "memory", 1e6)).met is None
