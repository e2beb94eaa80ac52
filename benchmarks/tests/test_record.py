import json

import pytest

from benchmarks.tests.fabricate import fabricated_report
from slimline_benchmarks.record import LAYOUT


def test_json_holds_raw_times_and_what_follows_from_them():
    fields = json.loads(fabricated_report().to_json())
    assert set(fields) == {"layout", "suite", "machine", "settings", "cases"}
    assert fields["layout"] == LAYOUT
    case, skipped = fields["cases"]
    assert set(case) == {"name", "title", "input_bytes", "threads", "skipped", "contenders", "targets"}
    ours = next(c for c in case["contenders"] if c["contender"] == "ours")
    assert ours["seconds"] == [0.03, 0.02, 0.025]
    assert ours["best"] == 0.02
    assert ours["ratios"] == {"peer": pytest.approx(0.5)}
    assert ours["share"] == pytest.approx(0.5)
    absent = next(c for c in case["contenders"] if c["contender"] == "missing")
    assert absent["status"] == "absent" and absent["best"] is None and absent["seconds"] == []
    assert [t["met"] for t in case["targets"]] == [True, None, False, True, False, True]
    assert skipped["skipped"] and skipped["contenders"] == []
