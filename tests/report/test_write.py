"""The report files hold the numbers of the runs."""

import json
import re

import pytest
from synthetic import METHODS, fill

import oddkout as oko
from oddkout.report.headline import headline


@pytest.fixture(scope="module")
def page(filled):
    return oko.write_report(filled[0].folder)["html"].read_text()


def test_the_page_has_the_numbers_of_the_table_and_the_verdict(filled, page):
    _, comparison = filled
    assert comparison.verdict in page
    assert headline(comparison) in page
    for method in METHODS:
        for is_tempered in (False, True):
            mean = comparison.mean(method, "nll", is_tempered=is_tempered)
            assert f"{mean.mean:.3f}" in page
            assert f"[{mean.low:.3f}, {mean.high:.3f}]" in page
    for run in (*comparison.runs, *comparison.tuning):
        assert run.config.id in page


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
