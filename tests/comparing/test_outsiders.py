"""Contestants that are not ours get the same folds and the same calibration."""

import numpy as np
import pandas as pd
import pytest
import torch
from rivals import QUICK, Constant, signal_table
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB

import oddkout as oko
from oddkout.comparing.outsiders import fit_outsider
from oddkout.fitting.folds import assigned_folds, scored_folds
from oddkout.fitting.preparation import prepared
from oddkout.models.foreign import (
    LEAST,
)
from oddkout.prior import PriorLedger


def fitted(estimator, **options):
    data = prepared(oko.load_data(signal_table(), seed=0))
    defaults = {
        "name": "mine", "folds": 3, "calibration": "folds", "population": "train", "seed": 0,
    }  # fmt: skip
    return data, fit_outsider(data, estimator=estimator, **defaults | options)


def test_an_outsider_gets_our_folds_and_our_calibration():
    data, result = fitted(GaussianNB())
    folds = assigned_folds(data.y, folds=3, seed=0)
    x, y = data.x.double().numpy(), data.y.numpy()
    logits = torch.zeros(len(y), 3)
    for fold in range(3):
        held = (folds == fold).numpy()
        model = clone(GaussianNB()).fit(x[~held], y[~held])
        logits[held] = torch.from_numpy(
            np.log(np.maximum(model.predict_proba(x[held]), LEAST))
        ).float()
    prior = tuple(np.bincount(y) / len(y))
    ledger = PriorLedger(assumed=prior, stated=prior, train=prior)
    expected = scored_folds(logits, data.y, folds, ledger=ledger, calibration="folds", judged=None)
    assert result.scores.metrics["nll"] == pytest.approx(expected.metrics["nll"], rel=1e-4)
    assert result.calibrated.temperature == pytest.approx(expected.ledger.temperature, rel=1e-3)


def test_on_benchmarks_outsiders_are_judged_for_equal_classes_too():
    _, result = fitted(GaussianNB(), population="uniform")
    assert result.calibrated.stated == (1 / 3,) * 3
    assert result.ledger.stated == result.ledger.train, "as trained, nothing is corrected"


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ([0.5, 0.4, 0.3], "must sum to 1, got a row with sum 1.2"),
        ([0.5, np.nan, 0.5], "negative or not finite"),
        ([1.5, -0.5, 0.0], "negative or not finite"),
        ([0.5, 0.5], r"of 3 classes, got shape \(\d+, 2\)"),
    ],
)
def test_what_is_not_a_probability_is_refused(row, text):
    with pytest.raises(ValueError, match=text):
        fitted(Constant(row=row))


class Reader(ClassifierMixin, BaseEstimator):
    """Takes frames, and knows the class of each word of the training part."""

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        self.columns_ = list(x.columns)
        self.table_ = pd.crosstab(x["word"], y, normalize="index")
        return self

    def predict_proba(self, x):
        assert list(x.columns) == self.columns_
        return self.table_.reindex(x["word"]).fillna(0.5).to_numpy()


def worded_table():
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 40)
    words = np.where(y == "yes", "fever", "cough")
    return pd.DataFrame(
        {"word": words, "patient": np.arange(80) // 2, "age": rng.random(80), "y": y}
    )


def test_a_contestant_gets_raw_columns_on_request(tmp_path):
    comparison = oko.compare(
        worded_table(), target="y", group="patient", methods=["oko"], seeds=1, out=tmp_path,
        contestants={"mine": Reader()}, raw=["mine"], **QUICK,
    )  # fmt: skip
    assert not comparison.failed
    assert comparison.mean("mine", "accuracy", is_tempered=True).mean == 1.0


def test_columns_of_target_and_group_are_not_among_raw_columns():
    data = prepared(oko.load_data(worded_table(), target="y", group="patient", seed=0))
    assert list(data.raw.columns) == list(data.raw_test.columns) == ["word", "age"]
    assert len(data.raw) == len(data.y)


@pytest.mark.parametrize("name", ["logistic", "mined", "oko"])
def test_raw_columns_are_for_contestants_of_the_user(tmp_path, name):
    with pytest.raises(ValueError, match=r"raw must name your own contestants, got .*yours are"):
        oko.compare(worded_table(), target="y", contestants={"mine": Reader()}, raw=[name],
                    out=tmp_path)  # fmt: skip


def test_raw_columns_need_a_table():
    with pytest.raises(ValueError, match="raw columns are those of a table, but the data are"):
        fitted(GaussianNB(), is_raw=True)
