"""Costs: against brute force, retraining on re-weighted data, and errors."""

import numpy as np
import pytest
import torch

from oddkout.decisions import cheapest_answers, costs, policy_costs


def test_expected_costs_and_cheapest_answers_equal_brute_force():
    rng = np.random.default_rng(0)
    probs, matrix = rng.dirichlet(np.ones(4), size=50), rng.uniform(0, 9, size=(4, 6))
    expected = [[sum(row[c] * matrix[c, a] for c in range(4)) for a in range(6)] for row in probs]
    np.testing.assert_allclose(costs(probs, matrix), expected)
    np.testing.assert_allclose(costs(logits=np.log(probs), matrix=matrix), expected)
    np.testing.assert_allclose(costs(torch.tensor(probs), torch.tensor(matrix)), expected)
    np.testing.assert_allclose(costs(probs.tolist(), matrix.tolist()), expected)
    chosen = [min(range(6), key=row.__getitem__) for row in expected]
    assert cheapest_answers(probs, matrix).tolist() == chosen
    assert {4, 5} & set(chosen), "answers that are no class"


def test_equal_costs_of_all_mistakes_choose_the_most_probable_class():
    probs = np.random.default_rng(0).dirichlet(np.ones(5), size=100)
    assert (cheapest_answers(probs, 1 - np.eye(5)) == probs.argmax(axis=1)).all()


def gaussian_posterior(x, y, weights, new):
    """Retrain: a Gaussian for each class and its frequency, from weighted examples."""
    joint = []
    for c in range(3):
        mine = y == c
        mean = np.average(x[mine], axis=0, weights=weights[mine])
        covariance = np.cov(x[mine].T, aweights=weights[mine], ddof=0)
        gap = new - mean
        squares = np.einsum("ij,jk,ik->i", gap, np.linalg.inv(covariance), gap)
        density = np.exp(-squares / 2) / np.linalg.det(covariance) ** 0.5
        joint.append(weights[mine].sum() * density)
    return np.stack(joint, axis=1) / np.sum(joint, axis=0)[:, None]


def test_cheapest_answers_for_a_prior_are_those_of_retraining_on_reweighted_data():
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=600, p=[0.7, 0.2, 0.1])
    x = rng.normal(size=(600, 2)) + 1.5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    new = 2 * rng.normal(size=(500, 2)) + 0.5
    old = np.bincount(y) / 600
    wanted = np.array([0.2, 0.2, 0.6])
    matrix = np.array([[0, 2, 3, 1.2], [8, 0, 2, 1.2], [9, 1, 0, 1.2]])
    trained = gaussian_posterior(x, y, np.ones(600), new)
    retrained = gaussian_posterior(x, y, (wanted / old)[y], new)
    given = cheapest_answers(trained, matrix, prior=wanted, train_prior=old)
    np.testing.assert_array_equal(given, cheapest_answers(retrained, matrix))
    assert (given != cheapest_answers(trained, matrix)).mean() > 0.1, "the prior matters"


def test_a_retrained_logistic_regression_agrees_where_it_is_well_specified():
    """Re-weighting moves the intercepts alone, up to estimation error."""
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.1).astype(int)
    x = rng.normal(size=(20_000, 2)) + y[:, None]
    old, wanted = np.bincount(y) / len(y), np.array([0.4, 0.6])
    plain = linear.LogisticRegression(C=1e6).fit(x, y)
    again = linear.LogisticRegression(C=1e6).fit(x, y, sample_weight=(wanted / old)[y])
    new = rng.normal(size=(4000, 2)) + rng.integers(0, 2, 4000)[:, None]
    matrix = [[0, 1, 0.4], [5, 0, 0.4]]
    moved = cheapest_answers(plain.predict_proba(new), matrix, prior=wanted, train_prior=old)
    retrained = cheapest_answers(again.predict_proba(new), matrix)
    assert (moved == retrained).mean() > 0.98


def test_policies_cost_what_a_loop_adds_up():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), size=200)
    labels = np.array([rng.choice(3, p=row) for row in probs])
    matrix = np.array([[0, 1, 2, 0.5], [4, 0, 1, 0.5], [9, 2, 0, 0.5]])
    found = {
        one.policy: one
        for one in policy_costs(probs, matrix, labels, answers=["a", "b", "c", "refer"])
    }
    chosen = cheapest_answers(probs, matrix)
    paid = [matrix[c, a] for c, a in zip(labels, chosen, strict=True)]
    assert found["cheapest answers"].cost == pytest.approx(np.mean(paid))
    assert found["always refer"].cost == pytest.approx(0.5)
    assert found["always refer"].interval == pytest.approx((0.5, 0.5))
    shares = np.bincount(labels) / 200
    guess = sum(shares[c] * shares[a] * matrix[c, a] for c in range(3) for a in range(3))
    assert found["guess"].cost == pytest.approx(guess)
    assert found["always a"].excess == pytest.approx(found["always a"].cost - np.mean(paid))
    low, high = found["always a"].excess_interval
    assert 0 < low < found["always a"].excess < high


def test_costs_for_a_prior_weigh_cases_by_their_class():
    probs, labels = np.full((100, 2), 0.5), np.repeat([0, 1], [80, 20])
    found = policy_costs(probs, [[0, 1], [10, 0]], labels, prior=[0.5, 0.5], train_prior=[0.8, 0.2])
    assert {one.policy: one.cost for one in found}["always 0"] == pytest.approx(5)


def test_the_interval_holds_the_true_cost():
    rng = np.random.default_rng(0)
    outside = 0
    for _ in range(100):
        probs = rng.dirichlet(np.ones(2), size=80)
        labels = (rng.random(80) < probs[:, 1]).astype(int)
        one = policy_costs(probs, [[0, 1], [1, 0]], labels)[0]
        outside += not one.interval[0] <= 0.25 <= one.interval[1]  # mean of min(p, 1 - p)
    assert outside <= 5 + 3 * (100 * 0.05 * 0.95) ** 0.5


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        ([[0, 1]], r"a row for each of the 2 classes .* got shape \(1, 2\); rows are true classes"),
        ([[0], [1]], r"at least 2 answers, got shape \(2, 1\)"),
        ([0, 1], r"got shape \(2,\)"),
        ([[0, 1], [-2, 0]], "costs must not be negative, but that of answer 0 for class 1 is -2"),
        ([[0, 1], [None, 0]], "that of answer 0 for class 1 is nan; write 0 for no cost"),
        ([[0, float("inf")], [1, 0]], "costs must be finite numbers"),
        ([[0, "a"], [1, 0]], "costs must be a table of numbers"),
        ([[0, 1], [1]], "costs must be a table of numbers"),
        (None, "costs must be given"),
    ],
)
def test_wrong_costs_are_refused_in_one_sentence(matrix, text):
    with pytest.raises(ValueError, match=text) as error:
        costs([[0.5, 0.5]], matrix)
    assert "\n" not in str(error.value)


def test_a_prior_needs_the_frequencies_that_probabilities_are_for():
    with pytest.raises(ValueError, match="prior and train_prior must be given together"):
        costs([[0.5, 0.5]], [[0, 1], [1, 0]], prior=[0.9, 0.1])
