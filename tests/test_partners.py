"""Partners in another group: exhaustive, uniform, and only where there are any."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from oddkout.partners import Partners

SMALL = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=12)


@given(SMALL, st.integers(0, 99))
def test_a_partner_has_the_class_and_another_group_whenever_there_is_one(examples, seed):
    labels, groups = (torch.tensor(column) for column in zip(*examples, strict=True))
    partners = Partners(labels, groups)
    source = torch.Generator().manual_seed(seed)
    drawn = partners.draw(torch.arange(len(labels)), generator=source)
    for example, (label, group) in enumerate(examples):
        others = [
            other for other, (own, its) in enumerate(examples) if own == label and its != group
        ]
        assert partners.has_other[example] == bool(others)
        assert int(drawn[example]) in (others or [example])


def test_every_partner_is_equally_likely():
    partners = Partners([0] * 7 + [1, 1], [3, 3, 0, 0, 0, 9, 5, 1, 2])
    source = torch.Generator().manual_seed(0)
    drawn = partners.draw(torch.zeros(6000, dtype=torch.int64), generator=source)
    counts = drawn.bincount(minlength=9)
    assert counts[[0, 1, 7, 8]].sum() == 0
    assert chisquare(counts[2:7].numpy()).pvalue > 0.001


@given(SMALL, st.integers(0, 99))
def test_pools_hold_two_groups_of_a_class_where_there_are_two(examples, seed):
    labels, groups = (torch.tensor(column) for column in zip(*examples, strict=True))
    partners = Partners(labels, groups)
    source = torch.Generator().manual_seed(seed)
    pools = torch.stack([torch.randperm(len(labels), generator=source)[:6] for _ in range(4)])
    separated = partners.separate_pools(pools, generator=source)
    assert torch.equal(labels[separated], labels[pools])
    for pool in separated:
        assert len(set(pool.tolist())) == len(pool)
        for label in set(labels[pool].tolist()):
            own = pool[labels[pool] == label]
            if len(own) > 1 and len(groups[labels == label].unique()) > 1:
                assert len(groups[own].unique()) > 1


def test_pairs_of_one_group_get_another_partner_of_the_pool():
    partners = Partners([0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 2])
    pool = torch.tensor([[5, 0, 1, 2, 3]]).expand(3, -1)
    sets = torch.tensor([[1, 2, 0], [1, 3, 0], [0, 4, 1]])
    separated = partners.separate_sets(sets, pool)
    assert separated.tolist() == [[1, 3, 0], [1, 3, 0], [0, 4, 1]]


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="each of the 3 examples, got 2"):
        Partners([0, 0, 1], [1, 2])
