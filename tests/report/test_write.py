"""The report holds what the runs hold: the same numbers, nothing half-written."""

import json
import re
import statistics
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from scipy import stats
from synthetic import CLASSES, METHODS, SETTING, fill, synthetic_run, with_seed

import oddkout as oko
from oddkout.cli import main
from oddkout.comparing.comparison import METRICS
from oddkout.comparing.duels import comparisons_in
from oddkout.comparing.store import RunStore
from oddkout.report.headline import headline
from oddkout.report.pooling import (
    mean_risk_coverage,
    pooled_classes,
    pooled_reliability,
    rare_classes,
)
from oddkout.report.svg import inline_svg, series_colour
from oddkout.report.tables import comparison_json, comparison_latex, comparison_markdown

HOSTILE = ("<script>alert(1)</script>", "a & b", "$5 and $10", "猫")


@pytest.fixture(scope="module")
def page(filled):
    return oko.write_report(filled[0].folder)["html"].read_text()


# The tables


def by_hand(run_jsons, metric):
    """Mean and half-width of a metric, from the files and the textbook."""
    values = [one["as_trained"][metric]["value"] for one in run_jsons]
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return statistics.mean(values), half


def test_all_tables_show_the_means_of_the_files(filled):
    store, comparison = filled
    files = {
        method: [
            json.loads((store.folder / run.config.id / "run.json").read_text()) for run in runs
        ]
        for method, runs in comparison.by_method.items()
    }
    markdown = comparison_markdown(comparison, title="t").split("### With")[0].splitlines()
    latex = comparison_latex(comparison, title="t").split(r"\end{table}")[0].splitlines()
    best = {
        metric: (max if metric == "accuracy" else min)(
            METHODS, key=lambda name, metric=metric: by_hand(files[name], metric)[0]
        )
        for metric in METRICS
    }
    for method in METHODS:
        [in_markdown] = [line for line in markdown if line.startswith(f"| {method} |")]
        [in_latex] = [line for line in latex if line.startswith(f"{method} &")]
        for place, metric in enumerate(METRICS, start=1):
            mean, half = by_hand(files[method], metric)
            scale, digits = (100, 1) if metric == "accuracy" else (1, 3)
            text = f"{scale * mean:.{digits}f} ± {scale * half:.{digits}f}"
            is_best = best[metric] == method
            shown = in_markdown.split(" | ")[place]
            assert shown.removesuffix(" ~") == (f"**{text}**" if is_best else text)
            assert shown.endswith(" ~") == (not is_best and method in comparison.tied(metric))
            text = text.replace("±", r"$\pm$")
            shown = in_latex.split(" & ")[place].removesuffix(r"\rlap{$^\sim$}")
            assert shown == (rf"\textbf{{{text}}}" if is_best else text)


def test_null_levels_are_averaged_over_seeds(filled):
    _, comparison = filled
    table = comparison_json(comparison)["methods"]
    runs = comparison.by_method["oko"]
    [row] = [row for row in table if row["method"] == "oko"]
    expected = statistics.mean(run.tempered["ece"]["null"]["mean"] for run in runs)
    assert row["tempered"]["ece"]["null"]["mean"] == pytest.approx(expected, rel=1e-12)
    assert row["tempered"]["accuracy"]["null"] is None


def test_names_cannot_break_out_of_markdown_or_latex(filled):
    _, comparison = filled
    title = r"a|b_c <i> \end{table} 50 % $x$ & ~^#{}"
    [head] = [line for line in comparison_markdown(comparison, title=title).splitlines()
              if line.startswith("## ")]  # fmt: skip
    assert r"a\|b\_c \<i\> \\end\{table\}" in head
    caption = comparison_latex(comparison, title=title).splitlines()[2]
    assert r"a\textbar{}b\_c" in caption
    assert r"\textbackslash{}end\{table\} 50 \% \$x\$ \& \textasciitilde{}" in caption


# Pooling seeds


def test_tempered_predictions_are_those_that_were_measured(filled):
    store, comparison = filled
    for run in comparison.runs:
        read = store.read(run.config, has_predictions=True)
        for is_tempered, measured in ((False, run.as_trained), (True, run.tempered)):
            logits = read.test_logits(is_tempered=is_tempered)
            nll = oko.metrics.negative_log_likelihood(logits, read.labels).item()
            assert nll == pytest.approx(measured["nll"]["value"], rel=1e-5), run.config.method


def test_pooled_points_are_those_of_all_predictions_with_intervals_of_one_seed():
    runs = [synthetic_run(with_seed(seed)) for seed in range(3)]
    curves = [oko.metrics.reliability_curve(logits=run.logits, labels=run.labels, bins=10)
              for run in runs]  # fmt: skip
    pooled = pooled_reliability(curves)
    together = oko.metrics.reliability_curve(
        logits=np.concatenate([run.logits for run in runs]),
        labels=np.concatenate([run.labels for run in runs]),
        bins=10,
    )
    for name in ("low_edge", "high_edge", "count", "confidence", "accuracy"):
        np.testing.assert_allclose(getattr(pooled, name), getattr(together, name), rtol=1e-6)
    widths = [curve.accuracy_high - curve.accuracy_low for curve in (pooled, together)]
    assert (widths[0] >= widths[1]).all()
    assert (widths[0] > 1.5 * widths[1])[together.count > 20].all()
    # Three times the same seed is that seed, intervals and bands included.
    same = pooled_reliability([curves[0]] * 3)
    for name in ("accuracy_low", "accuracy_high", "null_low", "null_high", "error"):
        np.testing.assert_allclose(getattr(same, name), getattr(curves[0], name), rtol=1e-6)


def test_the_mean_risk_ends_at_the_mean_error():
    runs = [synthetic_run(with_seed(seed)) for seed in range(3)]
    curves = [oko.metrics.risk_coverage(logits=run.logits, labels=run.labels) for run in runs]
    mean = mean_risk_coverage(curves)
    errors = [(run.logits.argmax(1) != run.labels).mean() for run in runs]
    assert mean.risk[-1].item() == pytest.approx(statistics.mean(errors))
    assert mean.coverage[49].item() == pytest.approx(0.5)


def test_a_rare_class_is_measured_in_the_seeds_in_which_it_is_rare():
    runs = [synthetic_run(with_seed(seed)) for seed in range(3)]
    runs[2].train_counts = runs[2].train_counts[::-1]
    assert [rare_classes(run) for run in runs] == [[0], [0], [3]]
    results, has_rare = pooled_classes(runs, is_tempered=False)
    assert has_rare
    assert [result.name for result in results] == [CLASSES[0], CLASSES[3]]
    calls = [(run.logits.argmax(1) == 0) for run in runs[:2]]
    right = sum((call & (run.labels == 0)).sum() for call, run in zip(calls, runs, strict=False))
    assert results[0].precision.value == pytest.approx(right / sum(map(sum, calls)))
    probs = [torch.from_numpy(run.logits).softmax(1).amax(1).numpy() for run in runs[:2]]
    said = np.concatenate([prob[call] for prob, call in zip(probs, calls, strict=True)])
    assert results[0].confidence == pytest.approx(said.mean(), rel=1e-5)
    for run in runs:
        run.train_counts = [10, 11, 12, 13]
    assert len(pooled_classes(runs, is_tempered=False)[0]) == 4


# The page


def test_every_reference_of_a_figure_is_to_an_id_of_its_own(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    wanted = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)
    assert wanted
    assert {one or other for one, other in wanted} <= set(ids)


def test_nothing_on_the_page_comes_from_elsewhere(page):
    without_names = page.replace("http://www.w3.org/", "")
    assert "http" not in without_names.replace('http-equiv="Content', "")
    assert not re.search(r"<(img|iframe|object|embed|link(?! rel=\"icon\" href=\"data:,\"))", page)
    assert page.count("<script") == 1


def test_the_page_has_the_numbers_of_the_table_and_the_verdict(filled, page):
    _, comparison = filled
    assert comparison.verdict in page
    assert headline(comparison) in page
    for method in METHODS:
        for is_tempered in (False, True):
            mean = comparison.mean(method, "nll", is_tempered=is_tempered)
            half = (mean.high - mean.low) / 2
            assert f"{mean.mean:.3f} ± {half:.3f}" in page
    for run in (*comparison.runs, *comparison.tuning):
        assert run.config.id in page


def test_hostile_names_are_shown_as_text(tmp_path):
    setting = replace(SETTING, data="<b>no & such.npz", population="train")
    fill(tmp_path, methods=["vanilla", "oko"], setting=setting, classes=HOSTILE)
    text = oko.write_report(tmp_path)["html"].read_text()
    assert text.count("<script") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<b>no" not in text
    assert "&lt;b&gt;no &amp; such.npz" in text
    assert "猫" in text


def test_a_dollar_in_a_class_name_is_no_mathematics(tmp_path):
    fill(tmp_path, methods=["oko"], classes=("$a$b$", "x_1", "$", "^{"), rates=(0.1,))
    text = oko.write_report(tmp_path)["html"].read_text()
    assert re.search(r"<text[^>]*>\$a\$b\$</text>", text)


@pytest.mark.usefixtures("without_pictures")
def test_failed_methods_are_shown_with_their_reason(tmp_path):
    store, _ = fill(
        tmp_path,
        methods=["vanilla", "focal", "oko"],
        is_failing=lambda config: config.method == "focal",
    )
    paths = oko.write_report(tmp_path)
    for kind in ("html", "markdown", "latex", "json"):
        text = paths[kind].read_text()
        assert "the loss is not finite at update 7" in text, kind
    [entry] = json.loads(paths["json"].read_text())
    assert [row["method"] for row in entry["methods"]] == ["vanilla", "oko"]
    assert len(store.runs()) == 2 * (2 + 2) + 2 * 1 + 2  # failed everywhere: rates, then seeds


@pytest.mark.usefixtures("without_pictures")
def test_a_report_of_failures_alone_is_a_report(tmp_path):
    fill(tmp_path, methods=["vanilla", "oko"], is_failing=lambda config: True)
    assert "Every method failed" in oko.write_report(tmp_path)["html"].read_text()


@pytest.mark.usefixtures("without_pictures")
def test_one_seed_claims_nothing(tmp_path):
    _, comparison = fill(tmp_path, methods=["vanilla", "oko"], seeds=1)
    assert "one seed cannot tell methods apart" in headline(comparison)
    text = oko.write_report(tmp_path)["html"].read_text()
    assert "nan" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL).lower()


def test_the_headline_claims_a_winner_only_where_seeds_tell():
    """Runs whose metrics are set: oko is ahead by nearly the same, or by this and that."""

    def compared(gaps):
        runs = []
        for seed, gap in enumerate(gaps):
            for method, lead in (("vanilla", 0.0), ("oko", gap)):
                run = synthetic_run(with_seed(seed, method=method), examples=20)
                run.as_trained["accuracy"]["value"] = 0.5 + lead
                run.as_trained["nll"]["value"] = 0.9 - lead
                runs.append(run)
        [comparison] = comparisons_in(runs)
        return headline(comparison)

    steady, fickle = [0.10, 0.11, 0.12, 0.11, 0.10], [0.4, -0.3, 0.3, -0.2, 0.1]
    assert compared(steady) == "oko is the most accurate method and has the best probabilities"
    assert compared(fickle) == "oko leads, but 5 seeds do not tell it from the next best"


def test_figures_take_the_colours_of_the_page():
    figure = Figure()
    ax = figure.subplots()
    [line] = ax.plot([0, 1], [0, 1], color=series_colour(3))
    line.set_gid("series-3")
    ax.set_title("<i>&")
    text = inline_svg(figure, name="f", title="a <title>", description="1 & 2")
    assert "var(--series-3)" in text
    assert 'data-series="3"' in text
    assert "#000000" not in text
    assert "a &lt;title&gt;</title>" in text
    assert "1 &amp; 2</desc>" in text
    assert 'role="img"' in text


# Files


@pytest.mark.usefixtures("without_pictures")
def test_the_command_line_says_where_the_report_is(filled, tmp_path, capsys):
    store, _ = filled
    assert main(["report", str(store.folder), "--out", str(tmp_path / "new"), "--json"]) == 0
    paths = json.loads(capsys.readouterr().out)
    assert sorted(paths) == ["html", "json", "latex", "markdown"]
    assert all(str(tmp_path / "new") in path for path in paths.values())
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "report.html", "tables.json", "tables.md", "tables.tex",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["absent", "empty"])
def test_a_folder_without_runs_is_refused_in_one_line(tmp_path, capsys, kind):
    folder = tmp_path / "runs"
    if kind == "empty":
        folder.mkdir()
    assert main(["report", str(folder)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(folder) in error


def test_fifty_readers_never_see_a_half_written_run(tmp_path):
    """Every run keeps the sum of its logits in its notes, so that a reader can tell."""
    store = RunStore(tmp_path)
    made = [synthetic_run(with_seed(seed), examples=400) for seed in range(6)]
    for run in made:
        run.notes = [repr(float(run.logits.sum()))]
    store.write(made[0])
    is_over, problems, reads = threading.Event(), [], []

    def keep_reading():
        while not is_over.is_set():
            try:
                for run in store.runs(has_predictions=True):
                    if run.notes != [repr(float(run.logits.sum()))]:
                        problems.append(f"{run.config.id} is not whole")
                    reads.append(run.config.seed)
            except Exception as error:
                problems.append(repr(error))

    readers = [threading.Thread(target=keep_reading) for _ in range(50)]
    for reader in readers:
        reader.start()
    for _ in range(2):
        for run in made[1:]:
            store.write(run)
        for run in made[1:]:
            store.forget(run)
    for run in made[1:]:
        store.write(run)
    is_over.set()
    for reader in readers:
        reader.join()
    assert not problems, problems[:3]
    assert len(reads) > 50
    assert len(store.runs()) == 6
    assert len(list(tmp_path.iterdir())) == 6
