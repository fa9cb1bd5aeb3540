"""RESULTS.md and its like: cost, tables and figures from runs."""

import json
from dataclasses import replace

import pytest
from made_up import TEN_SHOT, evidence_of, made_up, with_seeds

from oddkout.paper.cost import extrapolated_seconds, spent_seconds
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.evidence import Evidence
from oddkout.paper.figures import PAPER_FIGURES, save_paper_figures
from oddkout.paper.lines import merge_lines, read_lines
from oddkout.paper.presets import PRESETS
from oddkout.paper.published import ACCURACY
from oddkout.paper.quality import QUALITY_SETTINGS
from oddkout.paper.reproduction import reproduction_json, write_reproduction
from oddkout.paper.results import results_markdown
from oddkout.paper.settings import Setting, paper_sizes
from oddkout.paper.summary import summary
from oddkout.paper.tables import paper_table, table_cell

# Cost


def test_what_trained_once_is_paid_once():
    together = [made_up(TEN_SHOT, name) for name in ("bb", "bb+ts", "oko")]
    assert spent_seconds(together) == pytest.approx(2 * (10 + 50 + 2))
    together[0].seconds["cpu"] = together[1].seconds["cpu"] = 35.0
    assert spent_seconds(together) == pytest.approx(35 + 62)


def test_costs_are_extrapolated_by_updates_examples_and_runs():
    """Training takes 10 s, what comes after it 2 s; five folds train four times as much again."""
    runs = [made_up(TEN_SHOT, "oko", seed=seed) for seed in range(3)]
    settings = [Setting("mnist", "heavy-tailed", size) for size in (10, 30)]
    plan = dict.fromkeys([PRESETS["paper"].config(setting, "bb") for setting in settings], 1)
    assert extrapolated_seconds(runs, plan) is None, "none knows its CPU-seconds"
    for run in runs:
        run.seconds["cpu"] = 50.0 + 2.0
    assert extrapolated_seconds(runs, plan) == pytest.approx(2 * 52 / 5), "by examples alone"
    runs.append(made_up(settings[0], "bb"))
    runs[-1].seconds["cpu"] = 10.0 + 2.0
    assert extrapolated_seconds(runs, plan) == pytest.approx(24)
    assert extrapolated_seconds(runs, dict.fromkeys(plan, 5)) == pytest.approx(120)
    double = {replace(config, updates=2 * config.updates): 1 for config in plan}
    assert extrapolated_seconds(runs, double) == pytest.approx(44)
    folded = {PRESETS["paper"].config(TEN_SHOT, "bb"): 1}
    assert extrapolated_seconds(runs, folded) == pytest.approx(52)
    assert extrapolated_seconds([], plan) is None
    runs.append(replace(runs[-1], config=replace(runs[-1].config, examples=40, updates=300)))
    runs[-1].seconds = {"cpu": 8.0 + 2.0}  # larger updates are cheaper: 600 of 20 took 10 s
    larger = {replace(config, examples=60, updates=200): 1 for config in plan}
    assert extrapolated_seconds(runs, larger) == pytest.approx(2 * (4 / 3 + 6 + 2))


# Tables, figures, RESULTS.md


def test_a_difference_to_the_paper_needs_all_of_its_sizes():
    whole = [
        run
        for size in paper_sizes("mnist")
        for run in with_seeds(Setting("mnist", "uniform", size), "oko", [0.9, 0.9])
    ]
    cell = table_cell(evidence_of(whole), ACCURACY, "oko", "mnist", "uniform")
    assert cell.difference == pytest.approx(0.9 - 0.9362)
    assert cell.seeds == 2
    cell = table_cell(evidence_of(whole[2:]), ACCURACY, "oko", "mnist", "uniform")
    assert cell.ours.mean == pytest.approx(0.9)
    assert cell.difference is None


def test_a_row_that_lacks_a_size_of_its_column_has_no_number():
    large = Setting("mnist", "uniform", 100)
    found = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.8]),
        with_seeds(large, "oko", [0.9]),
        with_seeds(large, "bb", [0.9]),
    )
    assert table_cell(found, ACCURACY, "oko", "mnist", "uniform").ours.mean == pytest.approx(0.85)
    assert table_cell(found, ACCURACY, "bb", "mnist", "uniform").ours is None
    assert "| BB | 1 of 2 sizes | 92.31 |" in paper_table(found, ACCURACY).markdown()


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    runs = [
        run
        for place, setting in enumerate(QUALITY_SETTINGS[:2])
        for name in ("oko", "bb", "bb+ls", "oko-paper", "pair", "oko-k1")
        for run in with_seeds(setting, name, [0.8 + place / 50 + seed / 100 for seed in range(3)])
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


def test_results_show_numbers_and_say_what_is_missing(text):
    mean, half = 81.0, 100 * 0.01 / 3**0.5 * 4.302653  # t with two degrees of freedom
    assert f"| OKO | 3 | {mean:.1f} ± {half:.1f} | 0.050 ± 0.000 (0.010)" in text
    assert "### FashionMNIST, uniform, 10 per class\n\nNo runs yet." in text
    assert "OKO, paper's recipe" in text
    assert "No runs yet: FashionMNIST, CIFAR-10, CIFAR-100." in text
    assert "| wine | MLP | 1 | 0.970 |" in text
    assert "| MNIST, uniform: OKO is more accurate than BB, averaged over sizes. |" in text
    assert "nan" not in text


def test_in_short_oko_stands_beside_the_best_of_the_others():
    evidence = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.92, 0.94], ece=0.02),
        with_seeds(TEN_SHOT, "bb", [0.91, 0.93], ece=0.05),
        with_seeds(TEN_SHOT, "focal", [0.89, 0.9], ece=0.03),
        with_seeds(TEN_SHOT, "vanilla", [0.99]),  # lacks a seed
        with_seeds(TEN_SHOT, "oko-soft", [0.99, 0.99]),  # learns from sets, too
        with_seeds(Setting("mnist", "uniform", 20), "oko", [0.9, 0.9]),  # stands alone
    )
    text = summary(evidence).markdown()
    assert "accuracy in 1, NLL in 0 and ECE in 1 of 1 settings" in text
    [line] = [line for line in text.splitlines() if line.startswith("| MNIST")]
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells[:2] == ["MNIST, uniform, 10 per class", "2"]
    assert [cell.split(" ±")[0] for cell in cells[2:]] == [
        "93.0", "BB: 92.0", "0.600", "Focal loss: 0.600", "0.020", "Focal loss: 0.030",
    ]  # fmt: skip
    assert [cell.endswith(" *") for cell in cells[2::2]] == [True, False, True]
    assert summary(evidence_of()).parts == []


def test_a_document_says_the_same_in_three_languages():
    document = Document()
    document.add(Heading("A & B"), "100 % <sure>", TextTable(header=["x_1"], rows=[["1 ± 2"]]))
    assert document.markdown() == "## A & B\n\n100 % <sure>\n\n| x_1 |\n| --- |\n| 1 ± 2 |\n"
    assert r"\subsection{A \& B}" in document.latex()
    assert r"x\_1 \\" in document.latex()
    assert r"1 $\pm$ 2 \\" in document.latex()
    assert "<h2>A &amp; B</h2>\n<p>100 % &lt;sure&gt;</p>" in document.html()
    document.add("Type `a <b_c>`.")
    assert document.markdown().endswith("Type `a <b_c>`.\n")
    assert document.latex().endswith("Type \\texttt{a \\textless{}b\\_c\\textgreater{}}.\n")
    assert "<p>Type <code>a &lt;b_c&gt;</code>.</p>" in document.html()


def test_the_report_of_a_reproduction_is_whole(tmp_path):
    runs = [
        made_up(setting, name, seed=seed, predictions=name in ("oko", "bb"))
        for setting in (TEN_SHOT, Setting("mnist", "heavy-tailed", 20))
        for name in ("oko", "bb", "pair")
        for seed in range(2)
    ]
    found = Evidence(runs, PRESETS["paper"])
    absent = write_reproduction(found, tmp_path)
    assert set(absent) == {"8"}  # CIFAR has no runs
    assert len(PAPER_FIGURES) == 15
    drawn = {file.stem for file in tmp_path.glob("figure-*.svg")}
    assert drawn == {f"figure-{figure.name}" for figure in PAPER_FIGURES if figure.name != "8"}
    page = (tmp_path / "results.html").read_text()
    assert page.count("<figure>") == 14
    assert "http://www.w3.org/2000/svg" in page
    assert "src=" not in page  # nothing is loaded from elsewhere
    assert (tmp_path / "results.tex").read_text().count(r"\begin{tabular}") >= 6
    assert json.loads((tmp_path / "results.json").read_text()) == reproduction_json(found)


def test_figures_that_need_predictions_say_so(tmp_path):
    found = evidence_of(with_seeds(TEN_SHOT, "oko", [0.8, 0.9]))
    _, absent = save_paper_figures(found, tmp_path)
    assert absent["3"] == "it needs runs with predictions, and there are none"
    assert "2" not in absent
