"""Trainer of transformers, on two processes."""

from types import SimpleNamespace

import pytest
import torch
from training_stacks import EVERY_LAYOUT, LABELS, K

from oddkout import OddKOutBatchSampler, OddKOutLoss


@EVERY_LAYOUT
def test_trainer_evaluates_the_nll_of_the_classifier(launch, layout):
    ranks, _ = launch("trainer")
    weight, bias = map(torch.tensor, ranks[0][layout]["weights"])
    logits = torch.arange(94)[:, None] / 100 @ weight.T + bias
    nll = torch.nn.functional.cross_entropy(logits, LABELS).item()
    # Trainer averages batches of up to 16, and repeats examples to fill the last ones up.
    assert ranks[0][layout]["eval_loss"] == pytest.approx(nll, rel=0.05)


def test_trainer_trains_an_odd_class_head_and_predicts_without_it(launch):
    ranks, _ = launch("trainer")
    assert ranks[0]["head"] == ranks[1]["head"] == [True, [94, 5]]


def test_the_mixin_refuses_what_would_deal_batches_out_twice_or_cut_them():
    from oddkout.integrations.hf import BatchSamplerMixin

    class Base:
        def __init__(self, split_batches):
            self.accelerator = SimpleNamespace(split_batches=split_batches)

    class Mixed(BatchSamplerMixin, Base):
        pass

    sampler = OddKOutBatchSampler(LABELS, k=K, sets_per_batch=8)
    assert Mixed(False, batch_sampler=sampler).batch_sampler is sampler
    with pytest.raises(ValueError, match="split_batches=True, which cuts sets"):
        Mixed(True, batch_sampler=sampler)
    of_rank = OddKOutBatchSampler(LABELS, k=K, sets_per_batch=8, num_replicas=2, rank=1)
    with pytest.raises(ValueError, match="only those of rank 1 of 2; do not set num_replicas"):
        Mixed(False, batch_sampler=of_rank)


def test_the_loss_of_trainer_must_be_a_mean():
    from oddkout.integrations.hf import TrainerLoss

    with pytest.raises(ValueError, match="got a loss with reduction='sum'"):
        TrainerLoss(OddKOutLoss(reduction="sum"))


def test_an_update_of_trainer_is_that_of_one_process_on_all_its_batches(launch):
    """Two processes accumulate two batches each: the gradient is the mean over all four."""
    ranks, _ = launch("trainer")
    torch.manual_seed(0)
    linear = torch.nn.Linear(1, 5)
    sampler = iter(OddKOutBatchSampler(LABELS, k=K, sets_per_batch=8, seed=0))
    criterion = OddKOutLoss(K, layout="paper")
    batches = [torch.tensor(next(sampler)) for _ in range(4)]
    losses = [criterion(linear(batch[:, None] / 100), LABELS[batch]) for batch in batches]
    expected = torch.autograd.grad(sum(losses) / 4, list(linear.parameters()))
    for rank in ranks:
        for name, factor in (("ours", 1), ("plain", 4)):
            for found, gradient in zip(rank[name], expected, strict=True):
                torch.testing.assert_close(
                    torch.tensor(found), factor * gradient, rtol=1e-4, atol=1e-5
                )
