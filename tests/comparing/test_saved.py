"""``comparison.json`` lists what is reported; other runs of the folder are ignored."""

import json

import pytest
from synthetic import fill

import oddkout as oko
from oddkout.cli import main
from oddkout.comparing.saved import FILE, load_comparison
from oddkout.comparing.store import RunStore
from oddkout.comparing.tables import comparison_json
from oddkout.comparing.winner import compared_winner
from oddkout.fitting.methods import METHODS


def configs(runs):
    return {run.config for run in runs}


@pytest.mark.parametrize("rates", [(0.05, 0.1, 0.2), (0.2, 0.05, 0.1)])
def test_the_saved_comparison_is_the_one_that_compare_returned(tmp_path, rates):
    def is_failing(config):
        return config.method == "focal" and config.learning_rate == 0.1

    _, returned = fill(
        tmp_path,
        methods=["oko", "vanilla", "focal", "pair"],
        rates=rates,
        is_failing=is_failing,
    )
    read = load_comparison(tmp_path)
    assert configs(read.runs) == configs(returned.runs)
    assert configs(read.tuning) == configs(returned.tuning)
    assert comparison_json(read) == comparison_json(returned)
    record = json.loads((tmp_path / FILE).read_text())
    for method, runs in read.by_method.items():
        nll = {
            run.config.learning_rate: run.fold_metrics["nll"]
            for run in read.tuning
            if run.config.method == method and not run.has_failed
        }
        assert len(nll) == 3 - (method == "focal")
        best = min(nll, key=nll.__getitem__)
        assert {run.config.learning_rate for run in runs} == {best}
        assert record["choices"]["learning_rate"]["chosen"][method] == {"learning_rate": best}
    assert record["choices"]["winner"]["chosen"] == read.winner
    assert record["verdict"] == returned.verdict
    assert record["seeds"] == [0, 1, 2]


@pytest.mark.usefixtures("without_pictures")
def test_leftovers_of_an_interrupted_comparison_are_not_shown(tmp_path, capsys):
    """After an interrupted comparison of all methods, one of three methods in the same folder."""
    stopped_after = 30

    def stop(config):
        if len(list(tmp_path.glob("*/run.json"))) >= stopped_after:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path, methods=list(METHODS), is_failing=stop)
    assert main(["report", str(tmp_path)]) == 2
    assert (
        "holds no finished comparison: comparison.json is missing; run oddkout compare"
        in capsys.readouterr().err
    )

    three = ["vanilla", "bb+ls", "oko"]
    _, comparison = fill(tmp_path, methods=three)
    assert len(RunStore(tmp_path).runs()) > len(configs([*comparison.runs, *comparison.tuning]))
    paths = comparison.report(tmp_path / "report")
    table = json.loads(paths["json"].read_text())
    assert [row["method"] for row in table["methods"]] == three
    assert set(table["contestants"]) == set(three)
    page = paths["html"].read_text()
    for other in METHODS.keys() - set(three):
        assert f'data-method="{other}"' not in page
    assert comparison.winner in three
    assert compared_winner(tmp_path, source="digits")[1].method == comparison.winner


def test_the_last_comparison_of_a_folder_counts(tmp_path):
    fill(tmp_path, methods=["vanilla", "oko"], seeds=2)
    fill(tmp_path, methods=["bb", "oko"], seeds=3)
    read = load_comparison(tmp_path)
    assert list(read.by_method) == ["bb", "oko"]
    assert read.seeds == 3


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("{", "cannot be read as a comparison that this version knows"),
        ("[]", "cannot be read as a comparison that this version knows"),
        ('{"format": 7}', "its format is 7, not 2"),
    ],
)
def test_a_damaged_comparison_is_refused_by_name(tmp_path, change, text):
    fill(tmp_path, methods=["vanilla"], seeds=1)
    (tmp_path / FILE).write_text(change)
    with pytest.raises(ValueError, match=text):
        oko.write_report(tmp_path)


def test_a_run_that_is_gone_is_named(tmp_path):
    store, comparison = fill(tmp_path, methods=["vanilla"], seeds=1)
    store.forget(comparison.runs[0])
    with pytest.raises(FileNotFoundError, match=f"run {comparison.runs[0].config.id} is not in"):
        load_comparison(tmp_path)
