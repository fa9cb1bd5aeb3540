"""Deciding with a fitted classifier."""

import numpy as np
import pandas as pd
import pytest

from oddkout import Classifier, decisions, fit

OPTIONS = {"learning_rates": [0.1], "recipe": {"updates": 60}, "test_size": 0.0}


def cases(examples, seed, ill=0.3):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(examples) < ill, "ill", "well")
    return pd.DataFrame(rng.normal(size=(examples, 3)) + 2 * (y == "ill")[:, None]), y


@pytest.fixture(scope="module")
def classifier():
    x, y = cases(300, 0)
    return fit((x.set_axis(["a", "b", "c"], axis=1), y), **OPTIONS)


@pytest.fixture(scope="module")
def new():
    x, y = cases(2000, 1)
    return x.set_axis(["a", "b", "c"], axis=1), y


def test_sets_hold_the_true_class_of_new_cases(classifier, new):
    x, y = new
    found = classifier.decide(x, coverage=0.9)
    assert "1 - 2 alpha = 80 %" in found.guarantee
    for name in ("ill", "well"):
        hits = [name in answer for answer, own in zip(found, y, strict=True) if own == name]
        assert 0.82 < np.mean(hits) <= 1


def test_sets_are_those_of_the_members_and_their_out_of_fold_scores(classifier, new):
    held_out = classifier.held_out
    logits = classifier.network_logits(classifier.encoder.encode(new[0]))
    sets = decisions.PredictionSets(0.8).fit(
        held_out.logits, held_out.labels, folds=held_out.folds, classes=classifier.classes
    )
    expected = sets.predict(classifier.mixture.by_member(logits))
    found = classifier.decide(new[0], coverage=0.8)
    given = [[name in answer for name in classifier.classes] for answer in found]
    np.testing.assert_array_equal(given, expected)


def test_answered_cases_are_seldom_wrong_and_the_others_are_referred(classifier, new):
    x, y = new
    found = classifier.decide(x, risk=0.1)
    pairs = [(a, own) for a, own in zip(found, y, strict=True) if a != "refer"]
    assert len(pairs) > 200
    assert np.mean([a != own for a, own in pairs]) <= 0.1
    assert "at most 10 % of the answered are wrong, with 95 % confidence" in found.summary


def test_costs_are_minimised_for_the_requested_prior(classifier, new):
    matrix = pd.DataFrame({"treat": [0, 1], "leave": [10, 0]}, index=["ill", "well"])
    probs = classifier.predict_proba(new[0], prior=[0.1, 0.9])
    found = classifier.decide(new[0], costs=matrix, prior=[0.1, 0.9])
    expected = np.where(probs[:, 1] < 10 * probs[:, 0], "treat", "leave")
    assert list(found) == expected.tolist()
    assert found.policies[0].policy == "cheapest answers"


def test_a_loaded_classifier_decides_alike(classifier, new, tmp_path):
    classifier.save(tmp_path)
    again = Classifier.load(tmp_path)
    for request in ({"coverage": 0.9}, {"risk": 0.1}, {"costs": [[0, 1], [1, 0]]}):
        assert again.decide(new[0], **request) == classifier.decide(new[0], **request)


def test_an_old_model_says_what_it_lacks(classifier, new, tmp_path):
    classifier.save(tmp_path)
    (tmp_path / "held-out.safetensors").unlink()
    old = Classifier.load(tmp_path)
    for request in ({"coverage": 0.9}, {"risk": 0.1}):
        with pytest.raises(ValueError, match="held-out predictions, but it has none: it was train"):
            old.decide(new[0], **request)
    assert len(old.decide(new[0], costs=[[0, 1], [1, 0]])) == 2000


def test_groups_are_kept_and_used():
    x, y = cases(60, 0)
    frame = x.set_axis(["a", "b", "c"], axis=1)
    rows = pd.concat([frame.assign(y=y, who=[f"p{i}" for i in range(60)])] * 3)
    grouped = fit(rows, target="y", group="who", **OPTIONS)
    assert len(np.unique(grouped.held_out.groups)) <= 60
    found = grouped.decide(frame, risk=0.04)
    assert "are referred" in " ".join(found.notes), "60 patients are too few, 180 rows are not"
    assert "with groups" in grouped.decide(frame, coverage=0.8).guarantee


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({}, "one of coverage, risk and costs must be given, got none"),
        ({"coverage": 0.9, "risk": 0.1}, "got coverage and risk"),
        ({"coverage": 1.2}, "coverage must lie between 0 and 1"),
        ({"risk": 0}, "risk must lie between 0 and 1"),
        ({"costs": [[0, 1]]}, "a row for each of the 2 classes"),
        ({"costs": [[0, 1], [1, 0]], "by_class": True}, "by_class is for coverage or risk"),
        (
            {"coverage": 0.9, "prior": [0.2, 0.2, 0.6]},
            "one frequency for each of the 2 classes, .* got 3",
        ),
    ],
)
def test_wrong_requests_are_refused_in_one_sentence(classifier, new, request_, text):
    with pytest.raises(ValueError, match=text):
        classifier.decide(new[0][:3], **request_)
