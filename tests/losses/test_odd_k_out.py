"""The odd-k-out loss is that of the paper, in value and in expected gradient."""

from itertools import permutations

import pytest
import torch
import torch.nn.functional as F
from loss_inputs import LABELS, generator, random_logits
from torch import nn

from oddkout import (
    ClassIndex,
    OddKOutLoss,
    set_loss,
    set_sum,
)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_the_paper_layout_is_the_head_of_the_paper(k):
    """Its listing: features of b sets of k + 2 members, the classifier on each, summed."""
    sets = ClassIndex(LABELS).draw_sets(k=k, sets=16, generator=generator())
    features = torch.randn(16 * (k + 2), 5, generator=generator(1), dtype=torch.float64)
    classifier = nn.Linear(5, 8, dtype=torch.float64)
    labels = LABELS[sets].flatten()

    per_member = [classifier(features.view(16, k + 2, 5)[:, i]) for i in range(k + 2)]
    literal = F.cross_entropy(torch.stack(per_member, dim=1).sum(dim=1), labels[:: k + 2])
    found = OddKOutLoss(k=k, layout="paper")(classifier(features), labels)
    torch.testing.assert_close(found, literal)


@pytest.mark.parametrize("k", [1, 3])
def test_the_odd_class_loss_is_the_mean_over_the_odd_classes(k):
    logits, odd_logits = random_logits(), random_logits(seed=1)
    sets = ClassIndex(LABELS).draw_sets(k=k, sets=30, generator=generator())
    summed = set_sum(odd_logits, sets)
    odd = sum(F.cross_entropy(summed, LABELS[sets[:, 2 + i]]) for i in range(k)) / k
    expected = set_loss(logits, LABELS, sets) + 0.3 * odd
    criterion = OddKOutLoss(k=k, odd_weight=0.3)
    found = criterion(logits, LABELS, odd_logits=odd_logits, sets=sets)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(criterion((logits, odd_logits), LABELS, sets=sets), expected)


def test_the_pool_layout_is_the_set_loss_of_the_sets_it_draws():
    logits = random_logits()
    sets = ClassIndex(LABELS).draw_sets(k=2, sets=80, generator=generator(3))
    criterion = OddKOutLoss(k=2, targets="soft", generator=generator(3))
    expected = set_loss(logits, LABELS, sets, targets="soft")
    torch.testing.assert_close(criterion(logits, LABELS), expected)
    assert criterion(logits, LABELS).item() != expected.item(), "every step draws anew"
    losses = OddKOutLoss(k=2, sets=7, reduction="none")(logits, LABELS)
    assert losses.shape == (7,)


def test_gradients_are_exact():
    sets = ClassIndex(LABELS).draw_sets(k=2, sets=20, generator=generator())
    logits, odd_logits = (random_logits(seed=seed).requires_grad_() for seed in (0, 1))
    for targets in ("hard", "soft"):
        criterion = OddKOutLoss(k=2, targets=targets, odd_weight=0.5)
        assert torch.autograd.gradcheck(
            lambda a, b, criterion=criterion: criterion(a, LABELS, odd_logits=b, sets=sets),
            (logits, odd_logits),
        )


class TestExpectedGradient:
    """Both layouts are unbiased: the mean gradient is that of Algorithm 1, summed over all sets."""

    labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3])
    inputs = torch.randn(11, 3, generator=generator(5), dtype=torch.float64)
    weight = torch.randn(3, 4, generator=generator(6), dtype=torch.float64)

    def gradient(self, examples, criterion):
        weight = self.weight.clone().requires_grad_()
        criterion(self.inputs[examples] @ weight, self.labels[examples]).backward()
        return weight.grad.flatten()

    def enumerated(self):
        members = [(self.labels == c).nonzero().flatten().tolist() for c in range(4)]
        total = torch.zeros(12, dtype=torch.float64)
        for pair_class in range(4):
            pairs = list(permutations(members[pair_class], 2))
            for odd_class in set(range(4)) - {pair_class}:
                sets = [(*pair, odd) for pair in pairs for odd in members[odd_class]]
                rows = torch.tensor(sets).flatten()
                mean = self.gradient(rows, OddKOutLoss(k=1, layout="paper"))
                total += mean / 12  # 4 pair classes, 3 odd ones each, all equally likely
        return total

    def draw(self, layout, source):
        index = ClassIndex(self.labels)
        if layout == "paper":
            sets = index.draw_sets(k=1, sets=8, generator=source)
            return self.gradient(sets.flatten(), OddKOutLoss(k=1, layout="paper"))
        pool = index.draw_balanced(classes=3, per_class=3, generator=source)
        return self.gradient(pool, OddKOutLoss(k=1, sets=20, generator=source))

    @pytest.mark.parametrize("layout", ["paper", "pool"])
    def test_it_is_the_enumerated_one(self, layout):
        source = generator(7)
        drawn = torch.stack([self.draw(layout, source) for _ in range(2000)])
        standard_error = drawn.std(dim=0) / len(drawn) ** 0.5
        deviations = (drawn.mean(dim=0) - self.enumerated()) / standard_error
        assert deviations.abs().max() < 4  # 12 entries: false alarm once in 1,300
        assert (drawn.mean(dim=0) / standard_error).abs().max() > 10, "the gradient is not noise"


def test_training_under_autocast_follows_full_precision():
    model, inputs = nn.Linear(20, 8), torch.randn(40, 20, generator=generator())
    sets = ClassIndex(LABELS).draw_sets(k=1, sets=64, generator=generator())
    gradients = []
    for is_enabled in (False, True):
        model.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_enabled):
            loss = OddKOutLoss(k=1)(model(inputs), LABELS, sets=sets)
        assert loss.dtype == torch.float32
        loss.backward()
        gradients.append(model.weight.grad.clone())
    error = (gradients[0] - gradients[1]).norm() / gradients[0].norm()
    assert error < 0.02  # bfloat16 keeps 8 bits: 2 ** -8 for a rounding, a few of them in a row


@pytest.mark.parametrize(
    ("logits", "labels", "text"),
    [
        (torch.zeros(4, 3), [0, 0, 1], "4 rows of logits and 3 labels; pass the labels of the b"),
        (torch.zeros(4, 3), [0, 0, 1, 3], r"lie in 0 .. 2.* got 0 .. 3; number the classes from 0"),
        (torch.zeros(4, 3), [0, 0, 1, -1], r"got -1 .. 1"),
        (torch.zeros(4, 3), [0.0, 0.0, 1.0, 1.0], "labels must be integers, got torch.float32"),
        (torch.full((4, 3), torch.nan), [0, 0, 1, 1], r"finite, but rows \[0, 1, 2, 3\] hold NaN"),
        (torch.zeros(4), [0, 0, 1, 1], r"shape \(examples, classes\), got .* \(4,\)"),
        (torch.zeros(4, 3), [0, 0, 0, 0], "batch of 4 examples: a set with k=1 odd.*classes_per_b"),
        (torch.zeros(3, 3), [0, 1, 2], "batch of 3 examples: a set needs a pair.*occurs only once"),
    ],
)
def test_batches_without_sets_are_refused(logits, labels, text):
    with pytest.raises(ValueError, match=text):
        OddKOutLoss(k=1)(logits, torch.tensor(labels))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: OddKOutLoss(k=-1), "k must be at least 0, got -1"),
        (lambda: OddKOutLoss(layout="paper", sets=3), "reads its sets from the rows.*got sets=3"),
        (
            lambda: OddKOutLoss(layout="paper")(torch.zeros(4, 3), torch.tensor([0, 0, 1, 1])),
            "sets of 3 rows, got 4 rows; feed it from OddKOutBatchSampler",
        ),
        (
            lambda: OddKOutLoss(layout="paper")(torch.zeros(3, 3), torch.tensor([0, 1, 1])),
            r"pair of one class.* set 0 holds classes \[0, 1, 1\]; .*unshuffled",
        ),
        (
            lambda: OddKOutLoss(k=2, layout="paper")(torch.zeros(4, 3), torch.tensor([0, 0, 1, 1])),
            r"set 0 holds classes \[0, 0, 1, 1\]",
        ),
        (
            lambda: OddKOutLoss(k=1)(
                torch.zeros(4, 3), torch.tensor([0, 0, 1, 1]), sets=torch.tensor([[0, 1]])
            ),
            "k=1 odd classes has 3 members, got sets of 2",
        ),
        (
            lambda: OddKOutLoss(k=0)((torch.zeros(2, 3), torch.zeros(2, 3)), torch.tensor([0, 0])),
            "odd_logits need an odd class to predict, but k=0",
        ),
        (
            lambda: OddKOutLoss(k=1)(
                torch.zeros(4, 3), torch.tensor([0, 0, 1, 1]), odd_logits=torch.zeros(3, 3)
            ),
            "3 rows of logits and 4 labels",
        ),
    ],
)
def test_bad_input_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_the_criterion_prints_its_arguments():
    assert "k=2, targets='soft'" in repr(OddKOutLoss(k=2, targets="soft"))
