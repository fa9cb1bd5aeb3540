"""Tables of a comparison: the numbers of the files, in every format."""

import json
import statistics

import pytest
from grids import comparison_of
from synthetic import METHODS

from oddkout.comparing.schema import COMPARED
from oddkout.comparing.tables import (
    FURTHER,
    comparison_json,
    comparison_latex,
    comparison_markdown,
)


def by_hand(run_jsons, metric):
    """Mean of a metric, computed from the files."""
    return statistics.mean(one["as_trained"][metric]["value"] for one in run_jsons)


def test_all_tables_show_the_means_of_the_files(filled):
    store, comparison = filled
    files = {
        method: [
            json.loads((store.folder / run.config.id / "run.json").read_text()) for run in runs
        ]
        for method, runs in comparison.by_method.items()
    }
    markdown = comparison_markdown(comparison, title="t").split("### ")[2].splitlines()
    assert markdown[0] == "As trained"
    latex = comparison_latex(comparison, title="t").split(r"\end{table}")[1].splitlines()
    best = {
        metric: (max if metric == "accuracy" else min)(
            METHODS, key=lambda name, metric=metric: by_hand(files[name], metric)
        )
        for metric in COMPARED
    }
    for method in METHODS:
        [in_markdown] = [line for line in markdown if line.startswith(f"| {method} |")]
        [in_latex] = [line for line in latex if line.startswith(f"{method} &")]
        for column, metric in enumerate(COMPARED, start=1):
            mean, limits = by_hand(files[method], metric), comparison.mean(method, metric)
            scale, digits = (100, 1) if metric == "accuracy" else (1, 3)
            mean, low, high = (
                f"{scale * value:.{digits}f}" for value in (mean, limits.low, limits.high)
            )
            text = f"{mean} [{low}, {high}]"
            is_best = best[metric] == method
            entry = in_markdown.split(" | ")[column]
            assert entry.removesuffix(" ~") == (f"**{text}**" if is_best else text)
            assert entry.endswith(" ~") == (not is_best and method in comparison.tied(metric))
            entry = in_latex.split(" & ")[column].removesuffix(r"\rlap{$^\sim$}")
            assert entry == (rf"\textbf{{{text}}}" if is_best else text)


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


def test_the_table_prints_and_becomes_a_frame():
    table = comparison_of(oko=[0.9, 0.91, 0.92], bb=[0.91, 0.9, 0.91]).table
    assert str(table) == repr(table)
    assert "judged for equally frequent classes: uniform, as in the paper" in str(table)
    frame = table.to_frame()
    assert frame.index.tolist() == ["bb", "oko"]
    assert frame.loc["oko", "accuracy"] == pytest.approx(0.91)
    assert frame.loc["oko", "accuracy_low"] < 0.91 < frame.loc["oko", "accuracy_high"]


def test_frames_and_json_hold_further_metrics_if_the_runs_have_them():
    comparison = comparison_of(oko=[0.9, 0.91, 0.92], bb=[0.91, 0.9, 0.91])
    for method, base in (("oko", 0.5), ("bb", 0.6)):
        for number, run in enumerate(comparison.by_method[method]):
            value = base + number / 10
            more = {name: {"value": value, "low": value - 0.1, "high": value + 0.1}
                    for name in FURTHER}  # fmt: skip
            run.as_trained = run.as_trained | more
            run.tempered = run.tempered | more
    frame = comparison.table.to_frame()
    for name in FURTHER:
        assert frame.loc["oko", name] == pytest.approx(0.6)
        assert frame.loc["oko", f"{name}_low"] < 0.6 < frame.loc["oko", f"{name}_high"] <= 1
    rows = comparison_json(comparison)["methods"]
    assert rows[0]["method"] == "bb"
    assert rows[0]["further"]["tempered"]["auroc"]["mean"] == pytest.approx(0.7)
    del comparison.by_method["bb"][0].tempered["skill"]
    assert comparison_json(comparison)["methods"][0]["further"]["tempered"].keys() == (
        {*FURTHER} - {"skill"}
    )
