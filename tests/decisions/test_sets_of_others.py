"""Prediction sets agree with those of MAPIE and crepes on the same scores."""

import numpy as np
import pytest
from simulated import problem, softmax

from oddkout.decisions import PredictionSets, conformity_scores


@pytest.mark.parametrize("by_class", [True, False])
@pytest.mark.parametrize("score", ["aps", "lac"])
def test_p_values_are_those_of_crepes(by_class, score):
    crepes = pytest.importorskip("crepes")
    logits, labels, new, _ = problem(ratio=10.0)
    sets = PredictionSets(0.9, by_class=by_class, score=score).fit(logits, labels)
    own = conformity_scores(softmax(logits), score=score)[np.arange(200), labels]
    fresh = conformity_scores(softmax(new), score=score)
    theirs = crepes.ConformalClassifier()
    theirs.fit(own, bins=labels if by_class else None)
    if by_class:
        p_values = np.stack(
            [
                theirs.predict_p(fresh[:, [c]], bins=np.full(300, c), smoothing=False)[:, 0]
                for c in range(4)
            ],
            axis=1,
        )
    else:
        p_values = theirs.predict_p(fresh, smoothing=False)
    np.testing.assert_allclose(sets.p_values(new), p_values, rtol=1e-12)
    is_boundary = np.isclose(p_values, 0.1)  # crepes keeps classes there, which is not needed
    np.testing.assert_array_equal(sets.predict(new)[~is_boundary], (p_values > 0.1)[~is_boundary])


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_sets_of_lac_are_those_of_mapie(coverage):
    mapie = pytest.importorskip("mapie.classification")
    sklearn = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    x[:, 0] += y
    model = sklearn.LogisticRegression().fit(x[:150], y[:150])
    theirs = mapie.SplitConformalClassifier(
        model, confidence_level=coverage, conformity_score="lac", prefit=True
    ).conformalize(x[150:300], y[150:300])
    _, expected = theirs.predict_set(x[300:])
    ours = PredictionSets(coverage, by_class=False, score="lac").fit(
        probs=model.predict_proba(x[150:300]), labels=y[150:300]
    )
    given = ours.predict(probs=model.predict_proba(x[300:]))
    np.testing.assert_array_equal(given, expected[:, :, 0])


def test_randomised_sets_of_aps_are_those_of_mapie_for_the_same_draws(monkeypatch):
    mapie = pytest.importorskip("mapie.classification")
    sklearn = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 3)), rng.integers(0, 5, 500)
    x[:, 0] += y
    model = sklearn.LogisticRegression().fit(x[:150], y[:150])
    theirs = mapie.SplitConformalClassifier(
        model, confidence_level=0.9, conformity_score="aps", prefit=True, random_state=3
    ).conformalize(x[150:300], y[150:300])
    _, expected = theirs.predict_set(
        x[300:], conformity_score_params={"include_last_label": "randomized"}
    )
    draws = {
        0: np.random.RandomState(3).uniform(size=150),
        1: np.random.RandomState(3).uniform(size=200),
        2: np.ones(200),  # MAPIE does not break ties of scores
    }
    monkeypatch.setattr(PredictionSets, "_uniforms", lambda self, stream, examples: draws[stream])
    ours = PredictionSets(0.9, by_class=False, score="aps", seed=3).fit(
        probs=model.predict_proba(x[150:300]), labels=y[150:300]
    )
    given = ours.predict(probs=model.predict_proba(x[300:]))
    np.testing.assert_array_equal(given, expected[:, :, 0])


def test_sets_of_members_are_those_of_mapie():
    """MAPIE asks for alpha (n - 1) worse scores, we for more than alpha (n + 1) - 1: 14 of 140."""
    mapie = pytest.importorskip("mapie.classification")
    linear = pytest.importorskip("sklearn.linear_model")
    selection = pytest.importorskip("sklearn.model_selection")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(340, 3)), rng.integers(0, 4, 340)
    x[:, 0] += y
    theirs = mapie.CrossConformalClassifier(
        linear.LogisticRegression(), confidence_level=0.9, cv=selection.KFold(5)
    ).fit_conformalize(x[:140], y[:140])
    _, expected = theirs.predict_set(x[140:], agg_scores="crossval")
    folds, probs, each = np.empty(140, int), np.empty((140, 4)), []
    for number, (seen, held) in enumerate(selection.KFold(5).split(x[:140])):
        member = linear.LogisticRegression().fit(x[seen], y[seen])
        folds[held], probs[held] = number, member.predict_proba(x[held])
        each.append(member.predict_proba(x[140:]))
    ours = PredictionSets(0.9, by_class=False).fit(probs=probs, labels=y[:140], folds=folds)
    np.testing.assert_array_equal(ours.predict(probs=np.stack(each, axis=1)), expected[:, :, 0])


def test_crepes_answers_every_class_without_a_word_where_we_say_so(recwarn):
    crepes = pytest.importorskip("crepes")
    theirs = crepes.ConformalClassifier()
    theirs.fit(np.linspace(0, 1, 18))
    assert theirs.predict_set(np.array([[9.0, 9.0]]), smoothing=False).all()
    assert len(recwarn) == 0
    sets = PredictionSets(0.95, by_class=False).fit(np.zeros((18, 2)), np.arange(18) % 2)
    assert "the guarantee says nothing about them" in sets.notes[0]
