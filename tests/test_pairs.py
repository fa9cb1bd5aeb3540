"""Natural sets: the same as an enumeration of all choices; completed batches in closed form."""

from collections import Counter
from itertools import product

import pytest
import torch
from scipy.stats import chisquare

from oddkout.pairs import natural_sets, pair_frequencies, sets_of_pairs


def enumerated(labels, k):
    """Probability of every set of one batch: example, partner and odd members drawn in turn."""
    members = range(len(labels))
    paired = [i for i in members if labels.count(labels[i]) > 1]
    chances = Counter()
    for first in paired:
        partners = [i for i in members if labels[i] == labels[first] and i != first]
        for partner in partners:
            chance = 1 / len(paired) / len(partners)
            for odd in odd_members(labels, [labels[first]], k):
                chances[(first, partner, *odd[0])] += chance * odd[1]
    return chances


def odd_members(labels, seen, k):
    """All ways to draw k odd members in turn, with their probabilities."""
    if k == 0:
        return [((), 1.0)]
    free = [i for i, label in enumerate(labels) if label not in seen]
    return [
        ((first, *rest), chance / len(free))
        for first in free
        for rest, chance in odd_members(labels, [*seen, labels[first]], k - 1)
    ]


@pytest.mark.parametrize(
    ("labels", "k"), [([0, 0, 0, 1, 1, 2], 1), ([0, 0, 1, 1, 2], 2), ([0, 0, 1, 1], 0)]
)
def test_natural_sets_are_as_likely_as_enumerated(labels, k):
    chances = enumerated(labels, k)
    assert sum(chances.values()) == pytest.approx(1)
    source = torch.Generator().manual_seed(0)
    sets = natural_sets(torch.tensor(labels), k=k, sets=20_000, generator=source)
    counts = Counter(map(tuple, sets.tolist()))
    assert counts.keys() <= chances.keys()
    observed, expected = zip(*((counts[s], 20_000 * p) for s, p in chances.items()), strict=True)
    assert chisquare(observed, expected).pvalue > 1e-4


def test_several_batches_are_drawn_at_once_each_from_its_own_labels():
    labels = torch.tensor([[0, 0, 1, 1], [2, 3, 3, 2], [5, 4, 4, 4]])
    sets = natural_sets(labels, k=1, sets=50)
    assert sets.shape == (3, 50, 3)
    classes = labels.gather(1, sets.flatten(1)).view(3, 50, 3)
    assert (classes[..., 0] == classes[..., 1]).all()
    assert (classes[..., 0] != classes[..., 2]).all()
    assert (classes[2, :, 0] == 4).all(), "class 5 has no partner"


@pytest.mark.parametrize(
    ("labels", "k", "text"),
    [
        ([0, 1, 2], 1, "every class occurs once; use PairedBatchSampler"),
        ([0, 0, 0], 1, "k=1 odd classes needs 2 classes in its batch"),
        ([0, 0, 1], 2, "k=2 odd classes needs 3 classes in its batch"),
    ],
)
def test_batches_without_sets_are_refused(labels, k, text):
    with pytest.raises(ValueError, match=text):
        natural_sets(torch.tensor(labels), k=k, sets=4)


@pytest.mark.parametrize("pairs", [2, 3, 4])
def test_frequencies_of_completed_batches_equal_an_enumeration(pairs):
    shares = [0.7, 0.2, 0.1]
    expected = [0.0] * 3
    for drawn in product(range(3), repeat=pairs):
        chance = 1.0
        for label in drawn:
            chance *= shares[label]
        if len(set(drawn)) > 1:
            for label in drawn:
                expected[label] += chance / pairs
            continue
        own = drawn[0]
        expected[own] += chance * (pairs - 1) / pairs
        for other in range(3):
            if other != own:
                expected[other] += chance * shares[other] / (1 - shares[own]) / pairs
    found = pair_frequencies(torch.tensor(shares), pairs=pairs, distinct=2)
    assert found.tolist() == pytest.approx(expected, rel=1e-6)
    assert pair_frequencies(
        torch.tensor(shares), pairs=pairs, distinct=1
    ).tolist() == pytest.approx(shares)


def test_each_pair_gets_odd_examples_that_are_uniform_among_other_classes():
    labels = torch.tensor([[2, 2, 0, 0, 2, 2, 1, 1, 0, 0, 1]])  # the last example has no partner
    sets = sets_of_pairs(labels, sets=40_000, generator=torch.Generator().manual_seed(0))[0]
    assert sets.shape == (40_000, 3)
    for pair in range(5):
        own = sets[sets[:, 0] == 2 * pair]
        assert (own[:, 1] == 2 * pair + 1).all()
        others = (labels[0] != labels[0, 2 * pair]).nonzero().flatten()
        counts = own[:, 2].bincount(minlength=11)
        assert counts.sum() == 8_000 == counts[others].sum()
        assert chisquare(counts[others].numpy()).pvalue > 1e-4
    with pytest.raises(ValueError, match="needs a second class in its batch"):
        sets_of_pairs(torch.zeros(1, 4, dtype=torch.long), sets=2)
