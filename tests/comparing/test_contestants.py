"""Any classifier can take part; what fails is shown with its reason."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from rivals import QUICK, Constant, Plain, Stuck, signal_table
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import oddkout as oko
from oddkout.comparing.contestants import (
    OUTSIDERS,
    Guess,
    checked_contestants,
    description,
    unfitted,
)
from oddkout.comparing.executors.local import LocalExecutor


def test_guess_predicts_the_class_frequencies():
    guess = Guess().fit(np.zeros((4, 1)), np.array([0, 2, 2, 2]))
    assert guess.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(guess.predict_proba(np.zeros((2, 1))), [[0.25, 0.75]] * 2)


@pytest.mark.filterwarnings("ignore")
def test_all_take_part_and_what_fails_is_shown_with_its_reason(tmp_path):
    rivals = {
        "bayes": GaussianNB(),
        "plain": Plain(),
        "broken": Constant(error="no license"),
        "wrong": Constant(row=[0.9, 0.9, 0.9]),
        "slow": Constant(seconds=60.0),
        "maker": Plain,
    }
    comparison = oko.compare(
        signal_table(),
        methods=["vanilla"],
        contestants=rivals,
        seeds=1,
        out=tmp_path,
        time_limit=2,
        **QUICK,
    )
    assert comparison.methods == ["guess", "logistic", "vanilla", "bayes", "plain", "maker"]
    assert comparison.failed["broken"].startswith("RuntimeError: no license")
    assert (
        comparison.failed["wrong"]
        == "each row of predict_proba must sum to 1, got a row with sum 2.7"
    )
    assert comparison.failed["slow"] == "it took longer than the limit of 2 seconds"
    text = str(comparison.table)
    assert text.index("\nguess ") < text.index("\nlogistic ") < text.index("\nvanilla ")
    assert "slow failed: it took longer" in " ".join(text.split())
    again = oko.compare(
        signal_table(), methods=["vanilla"], contestants=rivals, seeds=1, out=tmp_path, **QUICK
    )
    assert again.table.rows == comparison.table.rows


def test_a_contestant_that_hangs_in_compiled_code_is_killed_and_the_rest_finish(tmp_path):
    comparison = oko.compare(
        signal_table(),
        methods=["vanilla"],
        contestants={"stuck": Stuck()},
        seeds=1,
        out=tmp_path,
        time_limit=1,
        **QUICK | {"executor": LocalExecutor(1)},
    )
    assert comparison.methods == ["guess", "logistic", "vanilla"]
    assert comparison.failed["stuck"] == (
        "it took longer than the limit of 1 seconds; it did not react, so its process was killed"
    )


def test_named_contestants_and_those_of_a_module():
    assert list(checked_contestants(["forest", "rivals:uniform"])) == [
        "guess",
        "logistic",
        "forest",
        "rivals:uniform",
    ]
    assert isinstance(unfitted("rivals:uniform", None, seed=0), Constant)
    with pytest.raises(ValueError, match=r"must name a function as package.module:function, but"):
        unfitted("rivals:nothing", None, seed=0)


@pytest.mark.filterwarnings("ignore")  # of convergence
@pytest.mark.parametrize("name", ["logistic", "forest", "boosting", "svm", "mlp"])
def test_built_in_contestants_learn(name):
    x, y = signal_table()
    model = unfitted(name, None, seed=0).fit(x, y)
    assert (model.predict_proba(x).argmax(axis=1) == y).mean() > 0.7
    assert OUTSIDERS[name].summary.endswith(".")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    with pytest.raises(
        ValueError, match=r"catboost needs the package catboost .* run: pip install catboost"
    ):
        unfitted("catboost", None, seed=0)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"oko": GaussianNB()}, "a contestant needs a name of its own, got 'oko'"),
        ({"guess": GaussianNB()}, "a contestant needs a name of its own, got 'guess'"),
        ({"mine": 3}, "must have fit and predict_proba, or be a function"),
        (["forrest"], "contestant must be one of"),
    ],
)
def test_what_cannot_take_part_is_refused(given, text):
    with pytest.raises(ValueError, match=text):
        checked_contestants(given)


def test_tabpfn_is_made_as_its_current_versions_want_it(monkeypatch):
    class TabPFNClassifier(GaussianNB):
        def __init__(self, *, device="auto", random_state=0):
            self.device, self.random_state = device, random_state

    fake = SimpleNamespace(TabPFNClassifier=TabPFNClassifier)
    monkeypatch.setitem(sys.modules, "tabpfn", fake)
    made = unfitted("tabpfn", None, seed=7)
    assert (made.device, made.random_state) == ("cpu", 7)


def test_a_copy_gets_the_seed_unless_it_has_one():
    assert unfitted("mine", LogisticRegression(), seed=7).random_state == 7
    assert unfitted("mine", LogisticRegression(random_state=3), seed=7).random_state == 3
    own = GaussianNB()
    assert unfitted("mine", own, seed=7) is not own


def test_descriptions_tell_settings_apart():
    assert description(LogisticRegression(C=2.0)) != description(LogisticRegression(C=3.0))
    assert description(Plain) == "rivals.Plain"
