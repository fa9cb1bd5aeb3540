"""Subsets and splits against their distributions and the formulas of the literature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from oddkout import last_split, split, subset

BALANCED = np.repeat(np.arange(10), 5000)

SUBSET_0 = [5, 10, 13, 16, 19, 23, 30, 36]
SUBSET_1 = [
    1,
    2,
    3,
    5,
    6,
    7,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    17,
    18,
    19,
    20,
    21,
    22,
    23,
    24,
    25,
    26,
    29,
    30,
    32,
    33,
    34,
    37,
    38,
]
SPLIT_0 = [2, 17, 20, 27]


def counts(labels, chosen):
    return np.bincount(labels[chosen], minlength=labels.max() + 1)


def test_uniform_subsets_hold_the_same_number_of_each_class():
    assert counts(BALANCED, subset(BALANCED, per_class=7)).tolist() == [7] * 10
    uneven = counts(BALANCED, subset(BALANCED, examples=57))
    assert sorted(uneven.tolist()) == [5] * 3 + [6] * 7


def test_every_example_of_a_class_is_equally_likely():
    labels = np.repeat([0, 1], [12, 5])
    drawn = np.concatenate([subset(labels, per_class=3, seed=seed) for seed in range(3000)])
    seen = np.bincount(drawn, minlength=17)
    assert chisquare(seen[:12]).pvalue > 1e-3
    assert chisquare(seen[12:]).pvalue > 1e-3


def test_heavy_tailed_counts_are_multinomial():
    """Three random classes share 0.9 evenly, seven the rest; the floor is out of reach here."""
    frequent = []
    for seed in range(200):
        found = counts(
            BALANCED, subset(BALANCED, examples=4000, distribution="heavy-tailed", seed=seed)
        )
        assert found.sum() == 4000
        top = np.argsort(found)[-3:]
        frequent.extend(top)
        is_top = np.isin(np.arange(10), top)
        expected = np.where(is_top, 4000 * 0.3, 4000 * 0.1 / 7)
        assert chisquare(found, expected).pvalue > 1e-5
    assert chisquare(np.bincount(frequent, minlength=10)).pvalue > 1e-3
    spread = [
        counts(BALANCED, subset(BALANCED, examples=400, distribution="heavy-tailed", seed=s)).max()
        for s in range(50)
    ]
    assert np.std(spread) > 3, "the counts are drawn, not rounded"


@pytest.mark.parametrize("examples", [60, 200, 400])
def test_heavy_tailed_subsets_keep_a_minimum_and_their_size(examples):
    for seed in range(30):
        chosen = subset(BALANCED, examples=examples, distribution="heavy-tailed", seed=seed)
        found = counts(BALANCED, chosen)
        assert found.min() >= 5
        assert found.sum() == examples == len(set(chosen.tolist()))


def test_exponential_counts_are_those_of_cifar10_lt():
    """The published numbers of CIFAR-10-LT with imbalance factors 100 and 10."""
    long_tail = subset(BALANCED, per_class=5000, distribution="exponential", imbalance=100)
    published = [5000, 2997, 1796, 1077, 645, 387, 232, 139, 83, 50]
    assert counts(BALANCED, long_tail).tolist() == published
    total = counts(BALANCED, subset(BALANCED, examples=3000, distribution="exponential"))
    assert 2990 <= total.sum() <= 3000
    assert total[0] / total[-1] == pytest.approx(100, rel=0.1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(5, 40), min_size=4, max_size=8),
    st.sampled_from(["uniform", "heavy-tailed", "exponential"]),
    st.integers(1, 300),
    st.integers(0, 10),
)
def test_no_class_gives_more_than_it_has(sizes, distribution, examples, seed):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    try:
        chosen = subset(labels, examples=examples, distribution=distribution, seed=seed)
    except ValueError:  # more than there is, or less than the minimum
        return
    assert len(set(chosen.tolist())) == len(chosen)
    assert (counts(labels, chosen) <= sizes).all()
    if distribution != "exponential":
        assert len(chosen) == examples


def test_the_same_seed_gives_the_same_indices_for_ever():
    """Written down once: these numbers must not change with versions or platforms."""
    labels = np.arange(40) % 4
    assert subset(labels, per_class=2, seed=0).tolist() == SUBSET_0
    assert (
        subset(
            labels, examples=30, distribution="heavy-tailed", minimum=1, seed=1, frequent_classes=2
        ).tolist()
        == SUBSET_1
    )
    assert split(labels, fraction=0.1, seed=0)[1].tolist() == SPLIT_0
    assert not np.array_equal(subset(labels, per_class=2, seed=1), SUBSET_0)


def test_a_split_takes_its_share_of_every_class():
    labels = np.repeat([0, 1, 2, 3], [100, 10, 2, 1])
    first, second = split(labels, fraction=0.2, seed=3)
    assert sorted([*first, *second]) == list(range(113))
    assert counts(labels, second).tolist() == [20, 2, 1, 0]
    picked = [split(labels, fraction=0.2, seed=seed)[1][0] for seed in range(200)]
    assert len(set(picked)) > 3
    assert (
        binomtest(
            sum(0 in split(labels, fraction=0.2, seed=s)[1] for s in range(400)), 400, 0.2
        ).pvalue
        > 1e-3
    )


def test_the_paper_validates_on_the_last_fifth():
    first, second = last_split(60_000)
    assert (first[[0, -1]].tolist(), second[[0, -1]].tolist()) == ([0, 47_999], [48_000, 59_999])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: subset([0, 1]), "give either per_class or examples, got per_class=None and exam"),
        (lambda: subset([0, 1], per_class=1, examples=2), "give either per_class or examples"),
        (lambda: subset([0, 0, 1], per_class=2), "2 examples of class 1 are asked for, but .* 1;"),
        (lambda: subset([0, 1], per_class=0), "per_class must be at least 1, got 0"),
        (
            lambda: subset(BALANCED, examples=40, distribution="heavy-tailed"),
            "40 examples with at least 5 of each of 10 classes are asked for, but",
        ),
        (
            lambda: subset([0, 0, 1, 1], examples=2, distribution="heavy-tailed"),
            "frequent_classes must be fewer than the 2 classes",
        ),
        (
            lambda: subset(BALANCED, per_class=9, distribution="exponential", imbalance=0.5),
            "imbalance, .* must be at least 1, got 0.5",
        ),
        (lambda: split([0, 1], fraction=1.0), "must lie between 0 and 1, got 1.0"),
        (lambda: last_split(10, fraction=0), "must lie between 0 and 1, got 0"),
    ],
)
def test_what_cannot_be_chosen_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
