"""The page and its files hold what the runs hold, nothing half-written."""

import json
import re
from dataclasses import replace

import pytest
from synthetic import METHODS, SETTING, fill

import oddkout as oko
from oddkout.cli import main
from oddkout.report.headline import headline

HOSTILE = ("<script>alert(1)</script>", "a & b", "$5 and $10", "猫")


@pytest.fixture(scope="module")
def page(filled):
    return oko.write_report(filled[0].folder)["html"].read_text()


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
    setting = replace(
        SETTING,
        data="<b>no & such.npz",
        population="train",
        distribution="all",
        train_examples=None,
    )
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
    entry = json.loads(paths["json"].read_text())
    assert [row["method"] for row in entry["methods"]] == ["vanilla", "oko"]
    assert len(store.runs()) == 2 * (2 + 2) + 2 * 1 + 2  # failed everywhere: rates, then seeds


@pytest.mark.usefixtures("without_pictures")
def test_a_report_of_failures_alone_is_a_report(tmp_path):
    fill(tmp_path, methods=["vanilla", "oko"], is_failing=lambda config: True)
    assert "Every method failed" in oko.write_report(tmp_path)["html"].read_text()


@pytest.mark.usefixtures("without_pictures")
def test_one_seed_claims_nothing(tmp_path):
    _, comparison = fill(tmp_path, methods=["vanilla", "oko"], seeds=1)
    assert "one seed cannot show a significant difference" in headline(comparison)
    text = oko.write_report(tmp_path)["html"].read_text()
    assert "nan" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL).lower()


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
