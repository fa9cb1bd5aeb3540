"""Adjusted sets: the enumeration, and the condition that the minimiser satisfies."""

import pytest
import torch

from oddkout.paper.theory.adjusted_sets import (
    LIKELIHOODS,
    PRIOR,
    all_sets,
    found_logits,
)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_all_sets_have_probability_one_and_pairs_follow_the_prior(k):
    members, pairs, chances = all_sets(LIKELIHOODS, PRIOR, k=k)
    assert members.shape[1] == k + 2
    assert chances.sum().item() == pytest.approx(1)
    by_class = torch.zeros(3, dtype=torch.float64).index_add_(0, pairs, chances)
    torch.testing.assert_close(by_class, PRIOR)


def test_a_member_of_the_pair_has_the_likelihood_of_its_class():
    members, pairs, chances = all_sets(LIKELIHOODS, PRIOR, k=1)
    for label in range(3):
        own = pairs == label
        by_value = torch.zeros(4, dtype=torch.float64).index_add_(0, members[own, 1], chances[own])
        torch.testing.assert_close(by_value / by_value.sum(), LIKELIHOODS[label])
    # An odd member of pair class 0 is of class 1 twice as often as of class 2.
    own = pairs == 0
    by_value = torch.zeros(4, dtype=torch.float64).index_add_(0, members[own, 2], chances[own])
    torch.testing.assert_close(by_value / by_value.sum(), (2 * LIKELIHOODS[1] + LIKELIHOODS[2]) / 3)


@pytest.mark.parametrize("is_adjusted", [True, False])
def test_the_minimiser_predicts_each_class_as_often_as_it_is_the_pair(is_adjusted):
    """Summed over all sets that hold a value of x: predicted mass equals true mass."""
    logits = found_logits(k=1, power=1, is_adjusted=is_adjusted)
    members, pairs, chances = all_sets(LIKELIHOODS, PRIOR, k=1)
    for value in range(4):
        predicted, true = [0.0] * 3, [0.0] * 3
        for x, pair, chance in zip(members.tolist(), pairs.tolist(), chances.tolist(), strict=True):
            summed = sum(logits[i] for i in x) + (PRIOR.log() if is_adjusted else 0)
            probs = summed.softmax(dim=0).tolist()
            for label in range(3):
                predicted[label] += x.count(value) * chance * probs[label]
            true[pair] += x.count(value) * chance
        assert predicted == pytest.approx(true, abs=1e-7)
