"""What a contestant wins by: always out of fold, and with costs against brute force."""

import json
from dataclasses import replace

import numpy as np
import pytest
from grids import SMALL, run_of
from synthetic import CLASSES, SETTING, fill, synthetic_run

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.criterion import chosen_criterion, in_words, priced
from oddkout.comparing.example_values import TRIED
from oddkout.comparing.saved import FILE, load_comparison
from oddkout.comparing.winner import compared_winner
from oddkout.decisions.cost_table import cost_table
from oddkout.decisions.trial import RISKS
from oddkout.metrics.catalogue import CATALOGUE

COSTS = np.array([[0, 5, 5, 5, 1], [5, 0, 5, 5, 1], [5, 5, 0, 5, 1], [60, 60, 60, 0, 1.0]])


def runs_with(**fold_metrics):
    names = ("nll", "accuracy", "cost")
    return [
        replace(
            run_of(replace(SMALL, method=method)),
            fold_metrics=dict(zip(names, values, strict=True)),
        )
        for method, values in fold_metrics.items()
    ]


def test_each_criterion_has_its_own_winner_and_nll_breaks_ties():
    runs = runs_with(oko=(0.2, 0.7, 3.0), bb=(0.5, 0.9, 2.0), pair=(0.4, 0.9, 1.0))
    winners = {by: Comparison(runs=runs, criterion=by).winner for by in ("nll", "accuracy", "cost")}
    assert winners == {"nll": "oko", "accuracy": "pair", "cost": "pair"}
    assert Comparison(runs=runs, criterion="cost").ranked == ["pair", "bb", "oko"]


def test_the_default_is_nll_and_with_costs_cost():
    assert chosen_criterion(None, has_costs=False) == "nll"
    assert chosen_criterion(None, has_costs=True) == "cost"
    assert chosen_criterion("accuracy", has_costs=True) == "accuracy"
    assert in_words("cost") == "lowest out-of-fold cost"
    with pytest.raises(ValueError, match="to win by cost, costs must be given, got none; pass"):
        chosen_criterion("cost", has_costs=False)
    with pytest.raises(ValueError, match="criterion must be one of"):
        chosen_criterion("brier", has_costs=False)


def brute_force(logits, labels, costs):
    """What each example costs if every answer is tried and the cheapest on average taken."""
    paid = []
    for row, label in zip(logits.astype(float), labels, strict=True):
        probs = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
        expected = [
            sum(probs[c] * costs[c, a] for c in range(len(probs))) for a in range(costs.shape[1])
        ]
        paid.append(costs[label, int(np.argmin(expected))])
    return np.array(paid)


@pytest.mark.parametrize("population", ["train", "uniform", (0.1, 0.2, 0.3, 0.4)])
def test_costs_are_those_of_brute_force_for_the_judged_class_frequencies(population):
    run = synthetic_run(replace(SETTING, population=population))
    [found] = priced([run], cost_table(COSTS, classes=CLASSES))
    paid = brute_force(run.fold_calibrated, run.fold_labels, COSTS)
    shares = {"train": None, "uniform": [0.25] * 4}.get(population, population)
    counts = np.bincount(run.fold_labels)
    weight = np.ones(len(paid)) if shares is None else (np.array(shares) / counts)[run.fold_labels]
    expected = np.average(paid, weights=weight)
    assert found.fold_metrics["cost"] == pytest.approx(expected)
    tested = brute_force(run.calibrated_logits, run.labels, COSTS)
    by_class = np.array([tested[run.labels == c].mean() for c in range(4)])
    is_weighted = isinstance(population, tuple)
    mean = by_class @ np.array(population) if is_weighted else tested.mean()
    assert found.value("cost", is_tempered=True) == pytest.approx(mean)
    assert "cost" not in run.fold_metrics, "the stored run is left as it is"


def test_the_criterion_is_saved_repeated_and_told(tmp_path):
    fill(tmp_path, methods=["vanilla", "bb", "oko"], costs=COSTS, seeds=2)
    comparison = load_comparison(tmp_path, has_predictions=False)
    record = json.loads((tmp_path / FILE).read_text())
    assert record["criterion"] == comparison.criterion == "cost"
    assert record["costs"] == {"answers": [*CLASSES, "refer"], "matrix": COSTS.tolist()}
    assert record["choices"]["winner"]["by"] == "lowest out-of-fold cost, mean of the seeds"
    assert record["choices"]["learning_rate"]["by"].startswith("lowest out-of-fold NLL")
    out_of_fold = {
        name: np.mean([run.fold_metrics["cost"] for run in runs])
        for name, runs in comparison.by_method.items()
    }
    assert comparison.winner == min(out_of_fold, key=out_of_fold.get)
    _, config = compared_winner(tmp_path, source="digits")
    assert config.method == comparison.winner
    best = f"{comparison.winner} wins, as asked for, by the lowest out-of-fold cost,"
    assert best in comparison.verdict
    assert " has the lowest cost, " in comparison.verdict
    assert "cost per case" in str(comparison.table)
    fill(tmp_path, methods=["vanilla", "bb", "oko"], criterion="accuracy", seeds=2)
    by_accuracy = load_comparison(tmp_path)
    assert by_accuracy.costs is None
    assert by_accuracy.criterion == "accuracy"
    assert "by the highest out-of-fold accuracy, 80.0 %." in by_accuracy.verdict


def test_wrong_costs_are_refused_before_anything_is_trained(tmp_path):
    with pytest.raises(ValueError, match="a row for each of the 4 classes"):
        fill(tmp_path, methods=["vanilla"], costs=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="chosen out of fold, got folds=0; set folds to 5"):
        fill(tmp_path, methods=["vanilla"], costs=COSTS, rates=(0.1,),
             setting=replace(SETTING, folds=0))  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_runs_of_an_earlier_version_say_what_costs_need():
    run = replace(synthetic_run(SETTING), fold_calibrated=None)
    with pytest.raises(ValueError, match="earlier version, without the calibrated out-of-fold"):
        priced([run], cost_table(COSTS, classes=CLASSES))


def test_every_tried_metric_is_in_the_catalogue_with_its_risk():
    assert set(TRIED) | {"cost"} <= set(CATALOGUE)
    for risk, name in zip(RISKS, TRIED[2:], strict=True):
        assert f"{100 * risk:g} % risk" in CATALOGUE[name].title
