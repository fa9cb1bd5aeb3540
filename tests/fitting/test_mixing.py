"""Mixup and Remix against their published rules, one pair at a time."""

import pytest
import torch
import torch.nn.functional as F

from oddkout.fitting.budget import Budget
from oddkout.fitting.methods import METHODS
from oddkout.fitting.mixing import draw_mixing, label_shares
from oddkout.fitting.objective import Objective

COUNTS = torch.tensor([90, 30, 10])


def published(first, second, share):
    """Lambda of the target in Remix, with kappa = 3 and tau = 0.5, in words of its paper."""
    if COUNTS[first] / COUNTS[second] >= 3 and share < 0.5:
        return 0.0
    if COUNTS[first] / COUNTS[second] <= 1 / 3 and 1 - share < 0.5:
        return 1.0
    return share


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.8])
def test_remix_follows_its_rule_for_every_pair_of_classes(share):
    first, second = torch.cartesian_prod(torch.arange(3), torch.arange(3)).unbind(dim=1)
    shares = label_shares(first, second, share=share, kind="remix", counts=COUNTS)
    expected = [published(a, b, share) for a, b in zip(first, second, strict=True)]
    assert shares.tolist() == pytest.approx(expected)
    plain = label_shares(first, second, share=share, kind="mixup", counts=COUNTS)
    assert plain.tolist() == pytest.approx([share] * 9)


@pytest.mark.parametrize("name", ["mixup", "remix"])
def test_the_loss_is_cross_entropy_with_mixed_targets(name):
    labels = torch.arange(3).repeat_interleave(torch.tensor([9, 6, 2]))
    budget = Budget(updates=10, examples=8, sets=1)
    objective = Objective(METHODS[name], labels, classes=3, budget=budget)
    batch, _ = objective.draw(0)
    mixing = objective.mixing(0, labels[batch])
    logits = torch.randn(8, 3, dtype=torch.float64)
    loss = objective.loss(logits, labels[batch], None, update=0, head_weight=0, mixing=mixing)
    own = F.one_hot(labels[batch], 3).double()
    share = mixing.label_share[:, None].double()
    targets = share * own + (1 - share) * own[mixing.partners]
    torch.testing.assert_close(loss, F.cross_entropy(logits, targets))


def test_inputs_are_mixed_with_partners_and_draws_repeat():
    labels = torch.tensor([0, 1, 2, 0])
    first, again = (
        draw_mixing(labels, kind="mixup", counts=COUNTS, generator=torch.Generator().manual_seed(3))
        for _ in range(2)
    )
    x = torch.randn(4, 2, 2)
    mixed = first.share * x + (1 - first.share) * x[first.partners]
    torch.testing.assert_close(first.inputs(x), mixed)
    assert first.share == again.share
    assert sorted(first.partners.tolist()) == [0, 1, 2, 3]
