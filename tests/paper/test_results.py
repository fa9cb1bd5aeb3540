"""RESULTS.md is written from committed runs alone."""

import json
from dataclasses import replace

import pytest
from made_up import TEN_SHOT, made_up, with_seeds

from oddkout.paper.lines import merge_lines, read_lines
from oddkout.paper.presets import PRESETS
from oddkout.paper.quality import QUALITY_SETTINGS
from oddkout.paper.results import LIMITS, results_markdown


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    runs = [
        run
        for position, setting in enumerate(QUALITY_SETTINGS[:2])
        for name in ("oko", "bb", "bb+ls", "oko-paper", "pair", "oko-k1")
        for run in with_seeds(
            setting, name, [0.8 + position / 50 + seed / 100 for seed in range(3)]
        )
    ]
    merge_lines(folder, runs)
    line = {"data": "wine", "model": "MLP", "fold": 0, "metrics": {"accuracy": 0.97, "nll": 0.1}}
    (folder / "tables.jsonl").write_text(json.dumps(line) + "\nnot JSON\n" + '{"other": 1}\n')
    return folder


@pytest.fixture(scope="module")
def text(committed):
    return results_markdown(committed)


def test_results_regenerate_byte_for_byte(committed, text, tmp_path):
    merge_lines(tmp_path, reversed(read_lines(committed)))
    (tmp_path / "tables.jsonl").write_bytes((committed / "tables.jsonl").read_bytes())
    assert results_markdown(tmp_path).encode() == text.encode()


def test_results_have_numbers_and_name_what_is_missing(text):
    mean, half = 81.0, 100 * 0.01 / 3**0.5 * 4.302653  # t with two degrees of freedom
    assert f"| OKO | 3 | {mean:.1f} ± {half:.1f} | 0.050 ± 0.000 (0.010)" in text
    assert "### FashionMNIST, uniform, 10 per class\n\nNo runs yet." in text
    assert "OKO, paper's recipe" in text
    assert "No runs yet: FashionMNIST, CIFAR-10, CIFAR-100." in text
    assert "| wine | MLP | 1 | 0.970 |" in text
    assert "| MNIST, uniform: OKO is more accurate than BB, averaged over sizes. |" in text
    assert "nan" not in text


def test_the_committed_results_begin_with_their_limits(text):
    assert text.index("## Limits of these results") < text.index("## Summary")
    for limit in LIMITS:
        assert limit in text


def test_narrow_runs_have_their_own_section(tmp_path):
    setting, preset = PRESETS["cifar"].settings[0], PRESETS["cifar"]
    runs = [
        replace(
            made_up(setting, variant, seed=seed, accuracy=accuracy),
            config=replace(preset.config(setting, variant), learning_rate=0.1, seed=seed),
            fold_metrics={},
        )
        for variant, accuracy in (("oko", 0.4), ("bb+ls", 0.35))
        for seed in range(3)
    ]
    fitted = made_up(setting, "bb+ts-fit")
    fitted = replace(fitted, config=replace(preset.config(setting, "bb+ts-fit"), learning_rate=0.1))
    merge_lines(tmp_path, [*runs, fitted, made_up(TEN_SHOT, "oko")])
    text = results_markdown(tmp_path)
    assert "1 runs, 0 failed. 0 runs with other recipes" in text
    section = text[text.index("## CIFAR with narrow ResNets") : text.index("## Claims")]
    assert "| OKO | 3 | 40.0 ± 0.0 |" in section
    assert "| BB + LS | +5.0 ± 0.0 * |" in section
    assert "tempered" not in section
    assert "MNIST" not in section
