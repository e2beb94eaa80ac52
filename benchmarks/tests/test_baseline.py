import json

import pytest

from slimline_benchmarks import baseline


@pytest.mark.slow
def test_quick_figures_their_files_and_the_comparison(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(baseline, "QUICK", {"dense": (40, 400), "genotypes": (30, 300), "sparse": (60, 400)})
    baseline.main(["--quick", "--repeats", "1", "--out", str(tmp_path)])
    record = json.loads((tmp_path / "baseline.json").read_text())
    assert record["layout"] == 1 and record["settings"] == {"quick": True, "repeats": 1}
    names = [one["name"] for one in record["figures"]]
    assert len(names) == len(set(names)) >= 12 and all(one["seconds"] > 0 for one in record["figures"])
    shown = capsys.readouterr().out
    assert (tmp_path / "baseline.md").read_text() == shown
    assert all(f"| {name} |" in shown for name in names)
    halved = [one | {"seconds": one["seconds"] / 2} for one in record["figures"]]
    assert baseline.table(record, {"figures": halved}).count("| 2 |") == len(names)


def test_mistakes_are_refused(tmp_path):
    for arguments in (["--repeats", "0"], ["--out", str(tmp_path / "none")]):
        with pytest.raises(SystemExit) as stop:
            baseline.main(arguments)
        assert stop.value.code == 2
