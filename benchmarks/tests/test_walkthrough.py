import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from slimline.data import simulate_genotypes
from slimline.laws import norm_failure
from slimline_benchmarks.walkthrough import DemoSettings, run_demo
from slimline_benchmarks.walkthrough import run as run_module
from slimline_benchmarks.walkthrough.people import know_people, lawful_distortion, look_back, pair_distances, scores
from slimline_benchmarks.walkthrough.view import demo_view
from tests.cli.command import run_here

SMALL = DemoSettings(people=120, variants=2000, populations=3, fst=0.05, components=64, peer=True)


@pytest.fixture(scope="module")
def result():
    return run_demo(SMALL)


def _text(result, width):
    console = Console(width=width)
    with console.capture() as capture:
        console.print(demo_view(result))
    return capture.get()


def test_every_family_is_shown_beside_the_law(result):
    assert len(result.families) == 6
    for one in result.families:
        assert one.seconds > 0 and 0 <= one.accuracy <= 1 and one.stored_bytes > 0
        # far looser than the law: a family that is broken is off by much more
        assert one.distortion.typical < 2 * result.law.typical
        assert one.distortion.worst >= one.distortion.typical
    assert result.pairs == 120 * 119 // 2
    assert result.law.beyond == norm_failure(64, 0.10)


def test_lifted_weights_predict_what_the_sketch_predicts(result):
    assert result.same_predictions == result.tested == 36


def test_looking_back_beats_lifting(result):
    assert result.full.cosine == pytest.approx(1)
    assert result.full.found == 20
    assert result.looked_back.cosine > 0.8 > result.lifted.cosine
    assert [one.exact_rank for one in result.top if one.exact_rank < 1] == []
    assert all(one.lowest <= one.highest for one in result.top)


def test_two_populations_have_one_row_of_weights_each():
    two = run_demo(replace(SMALL, populations=2, peer=False))
    assert two.peer is None and two.same_predictions == two.tested
    assert two.looked_back.cosine > 0.5


@pytest.mark.parametrize("width", [80, 120])
def test_view_fits_and_ends_in_plain_words(result, width):
    text = _text(result, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for part in ("the exact law says", "Hadamard (SRHT)", "scikit-learn Gaussian", "In plain words", "never stored"):
        assert part in text


def test_view_without_peer_and_without_memory(result):
    bare = [replace(one, extra_bytes=None) for one in result.families]
    text = _text(replace(result, peer=None, families=tuple(bare), full_extra_bytes=None), 100)
    assert "scikit-learn" not in text and "never stored" in text


def test_peer_is_left_out_where_memory_is_short(monkeypatch):
    monkeypatch.setattr(run_module, "available_bytes", lambda: 1000)
    assert run_module._peer(know_people(simulate_genotypes(20, 100, 2)), SMALL) is None


def test_distances_and_products_by_blocks(global_random_seed):
    people = simulate_genotypes(30, 500, 2, seed=global_random_seed)
    X = people.X.astype(float)
    i, j = np.triu_indices(30, k=1)
    np.testing.assert_array_equal(know_people(people).distances, np.sum((X[i] - X[j]) ** 2, axis=1))
    np.testing.assert_allclose(pair_distances(X @ X.T), np.sum((X[i] - X[j]) ** 2, axis=1))
    rng = np.random.default_rng(global_random_seed)
    W, A = rng.normal(size=(3, 500)), rng.normal(size=(30, 3))
    np.testing.assert_allclose(scores(people.X, W), X @ W.T, atol=1e-3)
    np.testing.assert_allclose(look_back(people.X, A), A.T @ X, atol=1e-3)


def test_law_expects_one_pair_beyond_its_worst():
    law = lawful_distortion(512, 10_000)
    assert 10_000 * norm_failure(512, law.worst) == pytest.approx(1)
    assert law.typical == pytest.approx(np.sqrt(2 / 512))


def test_quick_tour_of_the_projections_and_its_json(monkeypatch, capsys, tmp_path):
    path = tmp_path / "demo.json"
    options = ["--projections", "--quick", "--peer", "--people", "100", "--json", str(path)]
    assert run_here(monkeypatch, "demo", *options) == 0
    text = capsys.readouterr().out
    assert "100 people × 5,000 genetic variants" in text and "In plain words" in text
    fields = json.loads(path.read_text())
    assert fields["layout"] == 1
    assert fields["demo"]["settings"]["people"] == 100
    assert len(fields["demo"]["families"]) == 6
    assert set(fields["demo"]["law"]) == {"typical", "worst", "beyond"}


def test_json_alone_on_standard_output(monkeypatch, capsys):
    assert run_here(monkeypatch, "demo", "--projections", "--quick", "--people", "60", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["demo"]["peer"] is None
