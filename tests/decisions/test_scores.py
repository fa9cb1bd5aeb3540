"""Conformity scores, against slow loops and MAPIE."""

import numpy as np
import pytest

from oddkout.decisions.scores import FREE_RANKS, PENALTY, conformity_scores


def by_loop(row, number, *, score, uniform):
    """The score of one class by its definition."""
    if score == "lac":
        return 1 - row[number]
    better = [p for other, p in enumerate(row) if (-p, other) < (-row[number], number)]
    value = sum(better) + (1 - uniform) * row[number]
    return value + (PENALTY * max(0, len(better) + 1 - FREE_RANKS) if score == "raps" else 0)


@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
@pytest.mark.parametrize("is_random", [False, True])
def test_scores_follow_their_definition(score, is_random):
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(6), size=40)
    probs[0] = [0.25, 0.25, 0.2, 0.1, 0.1, 0.1]  # ties
    uniforms = rng.random(40) if is_random else np.zeros(40)
    given = conformity_scores(probs, score=score, uniforms=uniforms if is_random else None)
    expected = [
        [by_loop(row, c, score=score, uniform=u) for c in range(6)]
        for row, u in zip(probs, uniforms, strict=True)
    ]
    np.testing.assert_allclose(given, expected, atol=1e-11)


@pytest.mark.parametrize("is_penalised", [False, True])
def test_scores_of_the_true_class_are_those_of_mapie(is_penalised):
    sets = pytest.importorskip("mapie.conformity_scores.sets")
    rng = np.random.default_rng(1)
    probs, labels = rng.dirichlet(np.ones(7), size=50), rng.integers(0, 7, 50)
    theirs, rank = sets.APSConformityScore.get_true_label_cumsum_proba(labels, probs, np.arange(7))
    if is_penalised:
        theirs = sets.RAPSConformityScore._regularize_conformity_score(
            np.array([FREE_RANKS]), PENALTY, theirs, rank
        )[:, :, 0]
    ours = conformity_scores(probs, score="raps" if is_penalised else "aps")
    np.testing.assert_allclose(ours[np.arange(50), labels], theirs[:, 0], atol=1e-11)


def test_an_unknown_score_is_refused():
    with pytest.raises(ValueError, match="score must be one of 'aps', 'raps', 'lac', got 'top'"):
        conformity_scores(np.ones((1, 2)) / 2, score="top")
