"""RESULTS.md and the pages of docs/results are written from committed runs alone."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_up import made_up, with_seeds

from oddkout.paper.comparisons import PRIMARY
from oddkout.paper.front_page import LIMITS
from oddkout.paper.lines import merge_lines, read_lines
from oddkout.paper.presets import PRESETS
from oddkout.paper.quality import FIRST_SETTINGS
from oddkout.paper.results import results_pages
from oddkout.paper.results_figures import FEW_FIGURE, FOLDER
from oddkout.paper.settings import Setting

pytestmark = pytest.mark.usefixtures("without_shape_checks")

ROOT = Path(__file__).parents[2]
FRONT, CLAIMS, LONG, FIRST = (
    "RESULTS.md", "docs/results/claims.md", "docs/results/paper.md", "docs/results/version-0.1.md",
)  # fmt: skip


def first_runs_of(settings):
    """Runs as version 0.1.0 made them."""
    return [
        replace(run, config=replace(run.config, folds=5), fold_metrics={"nll": 1.0})
        for position, setting in enumerate(settings)
        for name in ("oko", "bb", "bb+ls", "oko-paper", "pair", "oko-k1")
        for run in with_seeds(
            setting, name, [0.8 + position / 50 + seed / 100 for seed in range(3)]
        )
    ]


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    """Only the runs of version 0.1.0."""
    folder = tmp_path_factory.mktemp("first") / "results"
    merge_lines(folder, first_runs_of(FIRST_SETTINGS[:2]), kind="runs")
    line = {"data": "wine", "model": "MLP", "fold": 0, "metrics": {"accuracy": 0.97, "nll": 0.1}}
    (folder / "tables.jsonl").write_text(json.dumps(line) + "\nnot JSON\n" + '{"other": 1}\n')
    return folder


@pytest.fixture(scope="module")
def pages(committed):
    return results_pages(committed)


@pytest.fixture(scope="module")
def whole():
    """All runs of MNIST and FashionMNIST; ``oko`` leads as in ``primary_runs``."""
    return [
        made_up(setting, name, seed=seed,
                accuracy=0.8 + (0.01 + (seed - 40) / 1000) * (name == "oko"))
        for setting, name, seed in PRESETS["paper"].entries
    ]  # fmt: skip


def primary_runs(**changes):
    """All runs of the primary comparisons; ``oko`` leads by one point and a bit for each seed."""
    wanted = {
        (setting, name, seed)
        for one in PRIMARY
        for setting in one.settings
        for name in (one.first, one.second)
        for seed in one.seeds
    }
    return [
        replace(
            made_up(setting, name, seed=seed,
                    accuracy=0.8 + (0.01 + (seed - 40) / 1000) * (name == "oko")), **changes,
        )
        for setting, name, seed in sorted(wanted)
    ]  # fmt: skip


def test_the_committed_pages_are_what_the_lines_give():
    pages = results_pages(ROOT / "results")
    for name, text in pages.items():
        assert (ROOT / name).read_text() == text, f"{name}: oddkout reproduce --report"
    assert len((ROOT / FRONT).read_text().splitlines()) <= 250
    shown = set(re.findall(r"figures/([\w-]+)\.svg", "".join(pages.values())))
    kept = {path.stem for path in (ROOT / FOLDER).glob("*.svg")}
    assert kept == shown | {FEW_FIGURE}, "the figures of the pages, and that of the README"


def test_pages_regenerate_byte_for_byte(committed, pages, tmp_path):
    folder = tmp_path / "results"
    merge_lines(folder, reversed(read_lines(committed, kind="runs")), kind="runs")
    (folder / "tables.jsonl").write_bytes((committed / "tables.jsonl").read_bytes())
    assert results_pages(folder) == pages


def test_pages_without_a_grid_show_version_0_1_and_say_what_is_missing(pages):
    assert "MNIST and FashionMNIST: not yet performed, 1,846 runs planned." in pages[FRONT]
    assert "CIFAR: not yet performed" in pages[FRONT]
    assert "| not yet performed | 0 |" in pages[FRONT]
    assert "## Methods for imbalanced classes\n\nNot yet performed." in pages[FRONT]
    for limit in LIMITS:
        assert limit in pages[FRONT]
    mean, half = 81.0, 100 * 0.01 / 3**0.5 * 4.302653  # t with two degrees of freedom
    assert f"| OKO | 3 | {mean:.1f} ± {half:.1f} | 0.050 ± 0.000 (0.010)" in pages[FIRST]
    assert "### FashionMNIST, uniform, 10 per class\n\nNot yet performed." in pages[FIRST]
    assert "| wine | MLP | 1 | 0.970 |" in pages[FIRST]
    assert "| MNIST, uniform: OKO is more accurate than BB, averaged over sizes. |" in pages[CLAIMS]
    assert "Judged from the runs of version 0.1.0" in pages[CLAIMS]
    assert pages[LONG].endswith("CIFAR: not yet performed, 138 runs planned.\n")
    assert not any("nan" in text for text in pages.values())


def test_a_partial_grid_is_shown_without_decisions(committed, tmp_path):
    folder = tmp_path / "results"
    runs = [run for run in primary_runs() if run.config.train_examples <= 100]
    merge_lines(folder, runs)
    pages = results_pages(folder)
    assert f"{len(runs)} of 1,846 runs performed, 0 failed; not yet complete." in pages[FRONT]
    assert "| not yet performed |" in pages[FRONT]
    assert "Judged from the runs of version 0.1.0" in pages[CLAIMS]
    assert "claims from the runs of version 0.1.0: " in pages[FRONT]
    assert "## The paper's tables" not in pages[FRONT], "some sizes are no mean over all"
    assert "Not yet performed: vanilla, vanilla+ls, weighted, focal" in pages[LONG]


def test_a_whole_grid_has_estimates_decisions_and_the_papers_numbers(whole, tmp_path):
    folder = tmp_path / "results"
    merge_lines(folder, whole)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "methods.md").write_text(
        "# Methods\n\n## Primary comparison\n\nA ratio of **0.9**.\n\n## Aims\n\nMet.\n\n"
        "## Results\n\nMore.\n"
    )
    front = results_pages(folder)[FRONT]
    assert "| 1 | uniform, 10 to 100 per class: accuracy of OKO minus BB + LS, points | " in front
    assert "| +1.20 [+1.00, +1.40] | 5 |" in front
    assert "OKO: more accurate |" in front
    title = "What was found in favour of OKO, with or without prior adjustment:\n\n* "
    found = "OKO is more accurate than BB + LS: +1.20 [+1.00, +1.40] points. (1)\n"
    assert f"{title}Uniform, 10 to 100 per class: {found}" in front
    assert "the NLL of OKO is 1.000 [1.000, 1.000] times that of BB + LS, not signif" in front
    assert "What is not decided:" in front
    assert "## Methods for imbalanced classes\n\nA ratio of **0.9**.\n\nMet.\n\n[All" in front
    assert "| OKO | 81.17 ± 0.25 (93.62, -12.45) | " in front
    assert "| Vanilla + LS + LA | as Vanilla + LS | 80.00 ± 0.00 |" in front
    assert "Its runs are replaced by those above." in front
    assert len(front.splitlines()) <= 250


def test_pages_refuse_to_mix_protocols(tmp_path):
    folder = tmp_path / "results"
    runs = primary_runs(protocol="a")
    merge_lines(folder, [*runs[1:], replace(runs[0], protocol="b")])
    with pytest.raises(ValueError, match="must follow one protocol"):
        results_pages(folder)


def test_narrow_runs_of_the_grid_count_as_evidence_on_cifar(whole, tmp_path):
    setting = Setting("cifar10", "uniform", 40)
    runs = [
        replace(
            made_up(setting, variant, accuracy=accuracy),
            config=replace(PRESETS["cifar"].config(setting, variant), seed=seed),
        )
        for variant, accuracy in (("oko", 0.4), ("bb+ls", 0.35))
        for seed in (40, 41, 42)
    ]
    merge_lines(tmp_path / "results", [*whole, *runs])
    pages = results_pages(tmp_path / "results")
    assert "CIFAR rests on narrow ResNets" in pages[CLAIMS]
    assert "| CIFAR-10, uniform: OKO is more accurate than BB + LS, averaged over" in pages[CLAIMS]
    assert "CIFAR-10, examples per class averaged over: uniform 40 (1 of 6 sizes)" in pages[LONG]
