"""``compare``, ``train``, ``predict`` and the estimator give the same numbers: one pipeline."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import oddkout as oko
from oddkout.cli import main
from oddkout.comparing.saved import load_comparison
from oddkout.data.splits import split

pytestmark = pytest.mark.usefixtures("ours_alone", "without_shape_checks")

CLASSES = ("flu", "healthy", "sepsis")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Three classes 86 : 10 : 4, missing values, text categories."""
    rng = np.random.default_rng(0)
    rows = 250
    kind = rng.permutation(np.repeat([0, 1, 2], [215, 25, 10]))
    frame = pd.DataFrame(
        {"temperature": rng.normal(size=rows) + kind, "age": rng.normal(size=rows)}
    )
    frame.loc[rng.random(rows) < 0.1, "temperature"] = np.nan
    frame["ward"] = np.where(rng.random(rows) < 0.3 + 0.3 * kind, "icu", "general")
    frame.loc[rng.random(rows) < 0.05, "ward"] = None
    frame["diagnosis"] = np.array(["healthy", "flu", "sepsis"])[kind]
    path = tmp_path_factory.mktemp("table") / "patients.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("method", ["oko", "vanilla+ls", "bb+ts-fit"])
def test_all_report_the_same_numbers(table, tmp_path, capsys, method):
    options = ["--target", "diagnosis", "--updates", "60", "--folds", "3"]
    runs, model = tmp_path / "runs", tmp_path / "model"
    command = ["compare", str(table), "--methods", method, "--seeds", "1", "--out", str(runs)]
    assert main([*command, *options, "--json"]) == 0
    capsys.readouterr()
    [run] = load_comparison(runs, has_predictions=True).runs
    assert (
        main(["train", str(table), "--method", method, "--out", str(model), *options, "--json"])
        == 0
    )
    printed = json.loads(capsys.readouterr().out)

    assert printed["learning_rate"] == run.config.learning_rate
    assert printed["temperature"] == run.temperature
    assert list(printed["prior"]) == list(CLASSES) == list(run.classes)
    assert list(printed["prior"].values()) == run.prior
    assert run.prior == pytest.approx([0.1, 0.86, 0.04])
    assert printed["folds"] == run.fold_metrics
    for metric in ("nll", "accuracy", "ece", "brier"):
        assert printed["metrics"][metric]["value"] == run.value(metric, is_tempered=True)

    # The test rows of seed 0, by hand, through `predict`.
    frame = pd.read_csv(table)
    labels = np.searchsorted(CLASSES, frame["diagnosis"])
    train, test = split(labels, fraction=0.2, seed=0)
    frame.iloc[test].drop(columns="diagnosis").to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "new.csv")]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == list(CLASSES)
    probs = np.array(rows[1:], float)
    assert run.labels.tolist() == labels[test].tolist()
    logits = run.test_logits(is_tempered=True).astype(np.float64)
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probs, expected, rtol=2e-5)
    nll = -np.log(probs[np.arange(len(probs)), labels[test]]).mean()
    assert nll == pytest.approx(printed["metrics"]["nll"]["value"], rel=1e-4)

    # The estimator, on the same training rows with the same seed.
    features = frame.drop(columns="diagnosis")
    estimator = oko.OddKOutClassifier(method=method, max_updates=60, folds=3, random_state=0)
    estimator.fit(features.iloc[train], frame["diagnosis"].iloc[train])
    np.testing.assert_allclose(
        estimator.predict_proba(features.iloc[test]), expected, rtol=2e-5, atol=1e-9
    )
    assert estimator.temperature_ == run.temperature
