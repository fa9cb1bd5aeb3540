"""Drawing is compared with Algorithm 1 enumerated outcome by outcome."""

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from oddkout import ClassIndex, set_sum


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def examples_by_class(labels):
    return {c: [i for i, label in enumerate(labels) if label == c] for c in sorted(set(labels))}


def algorithm_1(labels, k, *, is_repeating=False):
    """Probability of every set (ordered tuple of examples), by going through all choices."""
    members = examples_by_class(labels)
    pairs = {c: list(permutations(members[c], 2)) for c in members}
    if is_repeating:
        pairs |= {c: [(i, i) for i in members[c]] for c in members if len(members[c]) == 1}
    pairs = {c: choices for c, choices in pairs.items() if choices}
    probability = Counter()
    for pair_class, choices in pairs.items():
        odd_choices = list(permutations(members.keys() - {pair_class}, k))
        for odd_classes in odd_choices:
            sets = list(product(choices, *(members[c] for c in odd_classes)))
            for pair, *odd in sets:
                probability[(*pair, *odd)] += 1 / (len(pairs) * len(odd_choices) * len(sets))
    assert sum(probability.values()) == pytest.approx(1)
    return probability


def assert_drawn_from(probability, outcomes):
    """Chi-squared test at 0.1 %: the seeds are fixed, so this passes always or never."""
    seen = Counter(map(tuple, outcomes))
    assert seen.keys() <= probability.keys(), "an outcome that has no probability"
    expected = np.array(list(probability.values())) * seen.total()
    assert expected.min() > 5
    assert chisquare([seen[outcome] for outcome in probability], expected).pvalue > 1e-3


UNEVEN = {
    1: [7, 7, 7],
    2: [0, 0, 0, 5, 5],
    3: [1, 0, 1, 0, 0, 0, -4, -4],
    4: [0, 0, 1, 1, 1, 2, 2, 3, 3],
    5: [0, 1, 1, 2, 2, 0, 3, 4, 3, 4, 4],
}


@pytest.mark.parametrize(
    ("classes", "k"), [(classes, k) for classes in UNEVEN for k in range(classes)]
)
def test_sets_are_drawn_as_in_algorithm_1(classes, k):
    sets = ClassIndex(UNEVEN[classes]).draw_sets(k=k, sets=300_000, generator=generator(1))
    assert_drawn_from(algorithm_1(UNEVEN[classes], k), sets.tolist())


@pytest.mark.parametrize(
    ("labels", "classes", "per_class", "k"),
    [
        ([0, 0, 0, 0, 1, 1, 1, 2, 2], 2, 2, 0),
        ([0, 0, 0, 0, 1, 1, 1, 2, 2], 2, 2, 1),
        ([0, 0, 0, 0, 1, 1, 1, 2, 2], 3, 3, 1),
        ([0, 0, 0, 1, 1, 2, 2], 3, 2, 2),
    ],
)
def test_one_set_in_a_balanced_pool_is_drawn_as_in_algorithm_1(labels, classes, per_class, k):
    whole, source, drawn = ClassIndex(labels), generator(2), []
    for _ in range(3000):
        pool = whole.draw_balanced(classes=classes, per_class=per_class, generator=source)
        inside = ClassIndex(torch.tensor(labels)[pool]).draw_sets(k=k, sets=1, generator=source)
        drawn.append(pool[inside[0]].tolist())
    assert_drawn_from(algorithm_1(labels, k), drawn)


def test_every_pool_is_equally_likely_given_its_classes():
    labels = [0, 0, 0, 0, 1, 1, 1, 2, 2]
    members = examples_by_class(labels)
    probability = {}
    for two in combinations(members, 2):
        pools = [sum(choice, ()) for choice in product(*(combinations(members[c], 2) for c in two))]
        probability |= {tuple(sorted(pool)): 1 / (3 * len(pools)) for pool in pools}
    index, source = ClassIndex(labels), generator(3)
    drawn = [index.draw_balanced(classes=2, per_class=2, generator=source) for _ in range(3000)]
    assert_drawn_from(probability, (sorted(pool.tolist()) for pool in drawn))


def test_pools_drawn_together_are_as_likely_as_one_by_one():
    labels = [0, 0, 0, 0, 1, 1, 1, 2, 2]
    members = examples_by_class(labels)
    choices = product(*(combinations(own, min(2, len(own))) for own in members.values()))
    pools = [tuple(sorted(sum(choice, ()))) for choice in choices]
    index = ClassIndex(labels)
    drawn, _ = index.draw_pools(pools=4000, examples=6, generator=generator(5))
    assert_drawn_from({pool: 1 / len(pools) for pool in pools}, drawn.sort(dim=1).values.tolist())
    one, other = drawn[:-1], drawn[1:]
    alike = (one.sort(dim=1).values == other.sort(dim=1).values).all(dim=1).double().mean().item()
    assert abs(alike - 1 / 18) < 4 * (17 / 18 / 18 / 3999) ** 0.5, "neighbours are independent"


@given(
    st.lists(st.integers(1, 30), min_size=2, max_size=12),
    st.integers(2, 40),
    st.integers(0, 99),
)
def test_a_pool_has_exactly_the_size_asked_for_and_is_as_balanced_as_can_be(sizes, examples, seed):
    labels = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    assume(examples <= len(labels) or examples < 2 * len(sizes))
    index = ClassIndex(labels, singletons="repeat")
    pools, slots = index.draw_pools(pools=7, examples=examples, generator=generator(seed))
    assert pools.shape == (7, examples)
    for pool in pools:
        for slot in slots.unique().tolist():
            assert labels[pool[slots == slot]].unique().numel() == 1, "a slot is one class"
        drawn = labels[pool].bincount(minlength=len(sizes)).tolist()
        if 2 * len(sizes) <= examples:
            assert len(pool.unique()) == examples, "no example twice"
            room = [own for own, size in zip(drawn, sizes, strict=True) if own < size]
            assert max(drawn) <= min(room, default=max(drawn)) + 1, "one more at most"
        else:
            assert len(slots.unique()) == examples // 2
            assert set(drawn) <= {0, 2, 3}


def test_sets_in_a_pool_of_some_classes_are_as_likely_as_sets_of_all_data():
    """Six classes, pools of four examples: the class of the pair is uniform, so is the odd one."""
    labels = torch.arange(6).repeat_interleave(3)
    index = ClassIndex(labels)
    pools, slots = index.draw_pools(pools=6000, examples=4, generator=generator(0))
    inside = ClassIndex(slots).draw_sets(k=1, sets=6000, generator=generator(1))
    sets = pools.gather(1, inside)
    pair, partner, odd = labels[sets].T
    assert (pair == partner).all()
    assert (sets[:, 0] != sets[:, 1]).all()
    assert_drawn_from(
        {(a, b): 1 / 30 for a in range(6) for b in range(6) if a != b},
        list(zip(pair.tolist(), odd.tolist(), strict=True)),
    )


def test_a_pool_larger_than_the_data_is_refused():
    with pytest.raises(ValueError, match="at most all 5 examples, got examples=6"):
        ClassIndex([0, 0, 1, 1, 1]).draw_pools(pools=1, examples=6)


def test_a_small_class_gives_all_it_has():
    labels = torch.tensor([0] * 50 + [1] * 3 + [2] * 2)
    for seed in range(20):
        pool = ClassIndex(labels).draw_balanced(per_class=4, generator=generator(seed))
        assert len(pool.unique()) == len(pool)
        assert labels[pool].bincount().tolist() == [4, 3, 2]


def test_batch_balancing_draws_classes_then_examples_with_replacement():
    labels = [0, 0, 0, 0, 0, 1, 1, 2]
    drawn = ClassIndex(labels, singletons="repeat").draw_examples(
        examples=30_000, generator=generator(4)
    )
    counts = Counter(labels)
    probability = {(i,): 1 / (3 * counts[label]) for i, label in enumerate(labels)}
    assert_drawn_from(probability, drawn[:, None].tolist())


@pytest.mark.parametrize("singletons", ["odd-only", "repeat"])
def test_singletons_are_treated_as_asked(singletons):
    labels = [0, 0, 0, 1, 2, 2]
    index = ClassIndex(labels, singletons=singletons)
    sets = index.draw_sets(k=1, sets=100_000, generator=generator(5))
    probability = algorithm_1(labels, 1, is_repeating=singletons == "repeat")
    assert_drawn_from(probability, sets.tolist())


@pytest.mark.parametrize(
    "labels",
    [[3, 3, 9, 9], (3, 3, 9, 9), np.array([3, 3, 9, 9], np.uint8), torch.tensor([3, 3, 9, 9])],
)
def test_labels_come_in_any_form(labels):
    class DataSet:
        targets = labels

    for source in (labels, DataSet()):
        index = ClassIndex(source)
        assert (index.classes.tolist(), index.counts.tolist(), len(index)) == ([3, 9], [2, 2], 4)


def test_the_same_generator_state_draws_the_same_sets():
    index = ClassIndex(torch.arange(1000) % 10)
    first, second = (index.draw_sets(k=3, sets=50, generator=generator(6)) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, index.draw_sets(k=3, sets=50, generator=generator(7)))


def test_set_sum_equals_a_loop():
    logits = torch.randn(12, 5, generator=generator(), dtype=torch.float64)
    sets = torch.randint(12, (30, 4), generator=generator())
    slow = [[sum(float(logits[i, c]) for i in row) for c in range(5)] for row in sets.tolist()]
    torch.testing.assert_close(set_sum(logits, sets), torch.tensor(slow, dtype=torch.float64))


def test_a_class_with_one_example_is_refused_by_name():
    with pytest.raises(ValueError, match=r"classes \[2\] hold only 1; drop these classes"):
        ClassIndex([0, 0, 1, 1, 2])


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda index: index.draw_sets(k=2, sets=1), "k=2 odd classes needs 3 classes.* hold 2; l"),
        (lambda index: index.draw_sets(k=-1, sets=1), "k must be at least 0, got -1"),
        (lambda index: index.draw_sets(k=1, sets=0), "sets must be at least 1, got 0"),
        (lambda index: index.draw_balanced(classes=3, per_class=2), "3 distinct classes .* hold 2"),
        (lambda index: index.draw_balanced(classes=2, per_class=0), "per_class must be at least 1"),
        (lambda index: index.draw_examples(examples=0), "examples must be at least 1"),
    ],
)
def test_draws_that_cannot_be_made_are_refused(draw, text):
    with pytest.raises(ValueError, match=text):
        draw(ClassIndex([0, 0, 1, 1]))


def test_classes_that_all_occur_once_hold_no_pair():
    with pytest.raises(ValueError, match="each of the 3 classes occurs only once"):
        ClassIndex([0, 1, 2], singletons="odd-only").draw_sets(k=1, sets=1)


@pytest.mark.parametrize(
    ("logits", "sets", "text"),
    [
        (torch.zeros(3, 2), [[0, 1, 3]], r"point into the pool, 0 .. 2, got positions 0 .. 3"),
        (torch.zeros(3, 2), [[0, -1]], r"got positions -1 .. 0"),
        (torch.zeros(3, 2), [0, 1], r"shape \(sets, members\).* got torch.int64 of shape \(2,\)"),
        (torch.zeros(3, 2), [[0.0, 1.0]], "sets must be integers"),
        (torch.zeros(3), [[0, 1]], r"logits must be floats of shape \(examples, classes\)"),
        (torch.zeros(0, 2), [[0, 1]], "logits must hold at least one example"),
        (torch.tensor([[0.0], [torch.nan], [torch.inf]]), [[0, 1]], r"finite, but rows \[1, 2\]"),
    ],
)
def test_sets_and_logits_that_do_not_fit_are_refused(logits, sets, text):
    with pytest.raises(ValueError, match=text):
        set_sum(logits, torch.tensor(sets))
