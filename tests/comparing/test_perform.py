"""Performing a run: data, training, temperature, prior and evaluation."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from grids import SMALL, configs, here

from oddkout import evaluate, load_data
from oddkout.calibrators import AdjustedTemperature
from oddkout.comparing import perform as performing
from oddkout.comparing.grid import perform_grid
from oddkout.comparing.perform import check, data_for, perform
from oddkout.comparing.store import RunStore
from oddkout.fitting.folds import assigned_folds
from oddkout.fitting.networks import train_network
from oddkout.fitting.preparation import prepared
from oddkout.fitting.training import predict_logits

# One network with a decaying rate and a temperature: what can be repeated by hand in a few lines.
FIRST = {
    "schedule": "cosine", "averaging": None, "members": "single", "calibrate": "temperature",
    "dropout": 0.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def small_runs():
    """Three runs that share their training, with ``population="train"``, and their config."""
    config = replace(SMALL, population="train", folds=3, **FIRST)
    job = [replace(config, method=name) for name in ("bb", "bb+ts", "bb+ts-fit")]
    return config, dict(zip(("bb", "bb+ts", "bb+ts-fit"), perform(job), strict=True))


def trained_by_hand(config, x, y, *, method, seed, updates=None):
    """Train a network with the recipe, without folds."""
    recipe = config.recipe if updates is None else replace(config.recipe, updates=updates)
    row = replace(config, method=method).spec
    return train_network(x, y, recipe=recipe, method=row, classes=10, seed=seed).model


def by_hand(config, method):
    """The prepared data, and logits of the test part from a network trained without folds."""
    data = prepared(data_for(config))
    model = trained_by_hand(config, data.x, data.y, method=method, seed=0)
    return data, predict_logits(model, data.x_test)


def test_balanced_methods_are_corrected_to_the_population_by_bayes_rule(small_runs):
    config, runs = small_runs
    data, logits = by_hand(config, "bb")
    share = data.y.bincount() / len(data.y)
    odds = logits.double().softmax(dim=1) * share  # of a uniform prior, times the new one
    expected = odds / odds.sum(dim=1, keepdim=True)
    corrected = torch.from_numpy(runs["bb"].logits).double().softmax(dim=1)
    assert torch.allclose(corrected, expected, atol=1e-5)
    assert share.max() > 5 * share.min(), "there is something to correct"
    assert runs["bb"].prior == pytest.approx(share.tolist())

    for changed in ({"population": "uniform", "method": "bb"}, {"method": "vanilla"}):
        other = replace(config, folds=0, **changed)
        _, logits = by_hand(other, other.method)
        assert np.array_equal(perform([other])[0].logits, logits.numpy())


def test_the_temperature_is_fitted_to_out_of_fold_predictions(small_runs):
    """An explicit loop over folds; two thirds of the examples get two thirds of the updates."""
    config, runs = small_runs
    data = prepared(data_for(config))
    folds = assigned_folds(data.y, folds=3, seed=0)
    logits = torch.empty(len(data.y), 10)
    for fold in range(3):
        inside = folds == fold
        model = trained_by_hand(
            config,
            data.x[~inside],
            data.y[~inside],
            method="bb",
            seed=1_000_003 + fold,
            updates=round(config.updates * 2 / 3),
        )
        logits[inside] = predict_logits(model, data.x[inside])
    shares = data.y.bincount() / len(data.y)
    shift = shares.log() - math.log(1 / 10)

    def fitted(rows):
        calibrator = AdjustedTemperature(shares, shift=shift)
        return calibrator.fit(logits[rows], data.y[rows], has_strength=False)

    temperature = fitted(folds >= 0).temperature.item()
    assert runs["bb"].temperature == pytest.approx(temperature, rel=1e-4)
    stored = torch.from_numpy(runs["bb"].fold_logits)
    torch.testing.assert_close(stored, logits, rtol=1e-4, atol=1e-4)
    assert runs["bb"].fold_labels.tolist() == data.y.tolist()

    total = 0.0
    for fold in range(3):
        inside = folds == fold
        log_probs = fitted(~inside)(logits[inside]).log_softmax(dim=1)
        total -= log_probs.gather(1, data.y[inside, None]).sum().item()
    assert runs["bb"].fold_metrics["nll"] == pytest.approx(total / len(folds), rel=1e-4)


def test_methods_that_train_once_differ_by_their_temperatures_alone(small_runs):
    config, runs = small_runs
    data = prepared(data_for(config))
    shift = (data.y.bincount() / len(data.y)).log().numpy() - math.log(1 / 10)
    raw, temperature = runs["bb"].logits - shift, runs["bb"].temperature
    assert np.allclose(runs["bb+ts"].logits, raw / 2.0 + shift, atol=1e-5)
    assert np.allclose(runs["bb+ts-fit"].logits, raw / temperature + shift, atol=1e-5)
    for run in runs.values():
        for is_tempered, logits in ((False, run.logits), (True, raw / temperature + shift)):
            log_probs = torch.from_numpy(logits).log_softmax(dim=1).numpy()
            nll = -log_probs[np.arange(len(run.labels)), run.labels].mean()
            assert run.value("nll", is_tempered=is_tempered) == pytest.approx(nll, rel=1e-5)


def test_a_temperature_that_cannot_be_fitted_is_said_to_be_1():
    [run] = perform([replace(SMALL, method="bb+ts-fit", folds=0, updates=2)])
    assert run.temperature == 1
    assert (
        run.notes[-1] == "bb+ts-fit fits its temperature out of fold: without folds it stays at 1"
    )


def test_training_that_diverges_gives_its_reason():
    config = replace(SMALL, method="vanilla", learning_rate=1e30, folds=0)
    run = perform([config])[0]
    assert run.has_failed
    assert run.reason.startswith("training stopped at update")
    assert "lower the learning rate" in run.reason


@pytest.mark.parametrize("error", [MemoryError("no memory"), KeyError("bug"), OSError("disk")])
def test_whatever_goes_wrong_becomes_the_reason_of_the_run(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(performing, "prepared", fail)
    runs = perform([SMALL, replace(SMALL, method="bb")])
    assert [run.config.method for run in runs] == ["oko", "bb"]
    if isinstance(error, OSError):
        assert runs[0].reason == "disk"
    else:
        assert runs[0].reason.splitlines()[0] == f"{type(error).__name__}: {error}"
        assert "Traceback" in runs[0].reason


def test_bad_data_and_models_are_found_before_a_grid_begins(tmp_path):
    with pytest.raises(FileNotFoundError, match="did you mean digits"):
        check(replace(SMALL, data="digit"))
    with pytest.raises(ValueError, match="mlpp"):
        check(replace(SMALL, model="mlpp"))
    check(SMALL)


def test_a_seed_of_own_data_has_its_own_split(tmp_path):
    data = load_data("digits")
    np.savez(tmp_path / "own.npz", x=data.x_test, y=data.y_test)
    first, second = (
        data_for(
            replace(
                SMALL,
                data=str(tmp_path / "own.npz"),
                distribution="all",
                train_examples=None,
                seed=seed,
            )
        )
        for seed in (0, 1)
    )
    assert len(first.x_test) == len(second.x_test) == pytest.approx(0.2 * len(data.y_test), abs=5)
    assert not np.array_equal(first.y_test, second.y_test)


def test_a_grid_of_real_runs_is_stored_whole(tmp_path):
    store, grid = RunStore(tmp_path), configs(["vanilla", "bb"])
    runs = perform_grid(grid, store, executor=here)
    for run in store.runs(has_predictions=True):
        assert run.logits.shape == (450, 10)
        predicted = run.logits.argmax(axis=1)
        assert run.value("accuracy") == pytest.approx((predicted == run.labels).mean())
    assert all(run.value("accuracy") > 0.3 for run in runs), "chance is 0.1"


def test_test_groups_and_prior_reach_the_metrics_of_a_run():
    data = prepared(load_data("digits"))
    logits = torch.randn(len(data.y_test), 10, generator=torch.Generator().manual_seed(0))
    groups = np.arange(len(data.y_test)) // 5
    prior = [0.19, *[0.09] * 9]
    options = {"prior": prior, "is_weighted": False}
    grouped = performing._measured(logits, data=replace(data, test_units=groups), **options)
    given = {"bins": 10, "replicates": 200, "prior": prior}
    expected = evaluate(logits, data.y_test, groups=groups, **given).to_dict()["metrics"]
    assert grouped == expected
    assert grouped != performing._measured(logits, data=data, **options)


@pytest.mark.parametrize(("method", "is_missing"), [("tables", True), ("vanilla", False)])
def test_only_the_stack_sees_missing_cells(method, is_missing, monkeypatch, tmp_path):
    frame = pd.DataFrame({"a": np.arange(60) % 7, "b": [1.0, np.nan, 3.0] * 20, "y": [0, 1] * 30})
    seen = []

    def watched(data, **_):
        seen.append((bool(data.x.isnan().any()), bool(data.x_test.isnan().any())))
        raise ValueError("seen")

    monkeypatch.setattr(performing, "fit_stack", watched)
    frame.to_csv(tmp_path / "table.csv", index=False)
    config = replace(SMALL, data=str(tmp_path / "table.csv"), target="y", method=method)
    [run] = perform([replace(config, distribution="all", train_examples=None)])
    assert (run.reason, seen) == ("seen", [(is_missing, is_missing)])
