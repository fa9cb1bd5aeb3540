"""Algorithm 1 by enumeration, against counts and the sampler."""

import math
from collections import Counter

import pytest
import torch

from oddkout import ClassIndex
from oddkout.paper.theory.algorithm import class_sets, set_probabilities
from oddkout.paper.theory.risks import constant


@pytest.mark.parametrize(("classes", "k"), [(2, 0), (3, 1), (4, 2), (5, 4)])
def test_there_are_as_many_kinds_of_sets_as_the_paper_counts(classes, k):
    sets = class_sets(classes, k)
    assert len(sets) == constant(classes, k) == classes * math.comb(classes - 1, k)
    assert len(set(map(tuple, sets.tolist()))) == len(sets)
    assert (sets[:, 0] == sets[:, 1]).all()
    assert all(len(set(row[1:])) == k + 1 for row in sets.tolist())


def test_probabilities_of_algorithm_1_are_those_of_the_sampler():
    labels = [0, 0, 0, 1, 1, 2, 2]
    probability = set_probabilities(labels, 1)
    assert sum(probability.values()) == 1
    draws = 60_000
    sets = ClassIndex(labels).draw_sets(k=1, sets=draws, generator=torch.Generator().manual_seed(0))
    seen = Counter(map(tuple, sets.tolist()))
    for outcome, chance in probability.items():
        sigma = math.sqrt(draws * chance * (1 - chance))
        assert abs(seen[outcome] - draws * chance) < 5 * sigma
    assert seen.keys() <= probability.keys()
