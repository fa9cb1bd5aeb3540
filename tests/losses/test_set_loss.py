"""The set loss is compared with closed forms and slow loops."""

import math

import pytest
import torch
import torch.nn.functional as F
from loss_inputs import LABELS, generator, random_logits

from oddkout import (
    ClassIndex,
    set_loss,
)


@pytest.mark.parametrize("k", [0, 1, 2, 5])
@pytest.mark.parametrize("margin", [-1.0, 0.0, 0.5, 3.0])
def test_losses_match_their_closed_forms(k, margin):
    """Every member scores `margin` for the pair class, 0 elsewhere: the sum is (k + 2) margin."""
    labels = torch.tensor([0, 0, *range(1, k + 1)])
    sets = torch.arange(k + 2)[None]
    logits = torch.zeros(k + 2, 10, dtype=torch.float64)
    logits[:, 0] = margin

    log_partition = math.log(math.exp((k + 2) * margin) + 9)
    hard = log_partition - (k + 2) * margin
    soft = log_partition - 2 / (k + 2) * (k + 2) * margin
    assert set_loss(logits, labels, sets).item() == pytest.approx(hard, rel=1e-12)
    found = set_loss(logits, labels, sets, targets="soft").item()
    assert found == pytest.approx(soft, rel=1e-12)


@pytest.mark.parametrize("k", [0, 1, 3, 7])
@pytest.mark.parametrize("targets", ["hard", "soft"])
def test_losses_equal_a_slow_loop(k, targets):
    logits = random_logits()
    sets = ClassIndex(LABELS).draw_sets(k=k, sets=25, generator=generator())
    slow = []
    for row in sets.tolist():
        summed = [math.fsum(float(logits[i, c]) for i in row) for c in range(8)]
        partition = math.fsum(map(math.exp, summed))
        log_probs = [math.log(math.exp(value) / partition) for value in summed]
        classes = [int(LABELS[i]) for i in row]
        named = classes[:1] if targets == "hard" else classes
        slow.append(-math.fsum(log_probs[c] for c in named) / len(named))
    found = set_loss(logits, LABELS, sets, targets=targets, reduction="none")
    torch.testing.assert_close(found, torch.tensor(slow, dtype=torch.float64))
    mean = set_loss(logits, LABELS, sets, targets=targets)
    total = set_loss(logits, LABELS, sets, targets=targets, reduction="sum")
    assert mean.item() == pytest.approx(math.fsum(slow) / 25)
    assert total.item() == pytest.approx(math.fsum(slow))


def test_no_odd_classes_is_cross_entropy_on_pairs():
    logits, sets = random_logits(), ClassIndex(LABELS).draw_sets(k=0, sets=50)
    first, second = sets.T
    pairs = F.cross_entropy(logits[first] + logits[second], LABELS[first])
    for targets in ("hard", "soft"):
        torch.testing.assert_close(set_loss(logits, LABELS, sets, targets=targets), pairs)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: set_loss(torch.zeros(4, 3), torch.tensor([0, 0, 1, 1]), torch.tensor([[0]])),
            "at least 2 members, a pair, got 1",
        ),
        (
            lambda: set_loss(torch.zeros(2, 3), torch.tensor([0, 0]), torch.tensor([[0, 2]])),
            "sets must point into the pool, 0 .. 1, got positions 0 .. 2",
        ),
    ],
)
def test_bad_input_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
