"""Batch samplers: layout, balance, and what training stacks do to them."""

import copy
from itertools import islice

import pytest
import torch
from accelerate.data_loader import BatchSamplerShard
from scipy.stats import chisquare
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

from oddkout import (
    ClassBalancedBatchSampler,
    OddKOutBatchSampler,
    OddKOutLoss,
    PairedBatchSampler,
)

LONG_TAIL = torch.tensor([0] * 60 + [1] * 20 + [2] * 8 + [3] * 4 + [4] * 2)


def of_sets(**changes):
    return OddKOutBatchSampler(LONG_TAIL, **{"k": 2, "sets_per_batch": 8, "seed": 0} | changes)


def of_pools(**changes):
    arguments = {"classes_per_batch": 3, "examples_per_class": 2, "batches": 12, "seed": 0}
    return ClassBalancedBatchSampler(LONG_TAIL, **arguments | changes)


def of_examples(**changes):
    return ClassBalancedBatchSampler(LONG_TAIL, **{"batch_size": 16, "batches": 12} | changes)


def of_pairs(**changes):
    return PairedBatchSampler(LONG_TAIL, **{"pairs": 6, "batches": 12, "seed": 0} | changes)


EVERY_SAMPLER = pytest.mark.parametrize("make", [of_sets, of_pools, of_examples, of_pairs])


@pytest.mark.parametrize("k", [0, 1, 2, 4])
def test_a_batch_is_laid_out_set_by_set(k):
    for batch in of_sets(k=k):
        classes = LONG_TAIL[batch].view(-1, k + 2)
        examples = torch.tensor(batch).view(-1, k + 2)
        assert (classes[:, 0] == classes[:, 1]).all()
        assert (examples[:, 0] != examples[:, 1]).all(), "the pair must be two different examples"
        assert (classes[:, 1:].sort(dim=1).values.diff(dim=1) != 0).all()


def test_an_epoch_holds_as_many_sets_as_examples_unless_told():
    sizes = [len(batch) for batch in of_sets()]
    assert sizes == [32] * 11 + [24]  # 94 sets of 4: 11 batches of 8 sets, one of 6
    assert len(of_sets()) == 12
    assert [len(batch) for batch in of_sets(drop_last=True)] == [32] * 11
    assert [len(batch) for batch in of_sets(sets_per_epoch=16)] == [32, 32]


def test_a_pool_holds_distinct_examples_of_distinct_classes():
    for batch in of_pools(classes_per_batch=4, examples_per_class=2):
        assert len(set(batch)) == 8
        assert sorted(LONG_TAIL[batch].bincount(minlength=5).tolist()) == [0, 2, 2, 2, 2]
    assert of_pools().batch_size == 6
    assert of_pools(examples_per_class=5).batch_size is None, "the smallest class has 2"


@pytest.mark.parametrize("make", [of_sets, of_examples])
def test_classes_are_uniform_however_long_the_tail(make):
    sampler = make(sets_per_epoch=9000) if make is of_sets else make(batches=600)
    drawn = LONG_TAIL[[i for batch in sampler for i in (batch[::4] if make is of_sets else batch)]]
    assert chisquare(drawn.bincount()).pvalue > 1e-3


@EVERY_SAMPLER
def test_batches_differ_between_steps_epochs_ranks_and_seeds_and_repeat_otherwise(make):
    first = list(make())
    assert first == list(make())
    assert len({tuple(batch) for batch in first}) == len(first)
    sampler = make()
    epochs = [list(sampler), list(sampler)]
    assert epochs[0] == first
    assert epochs[1] != first, "the epoch moves on by itself"
    sampler.set_epoch(0)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) == epochs[1]
    ranks = [list(make(num_replicas=2, rank=rank)) for rank in (0, 1)]
    assert not set(map(tuple, ranks[0])) & set(map(tuple, ranks[1]))
    assert list(make(seed=1)) != first


@EVERY_SAMPLER
def test_ranks_share_an_epoch_in_equal_parts(make):
    lengths = {len(make(num_replicas=5, rank=rank)) for rank in range(5)}
    assert lengths == {3}  # 12 batches, or 94 sets as 19 for each: 3 batches


@EVERY_SAMPLER
@pytest.mark.parametrize("done", [0, 1, 5, 12])
def test_a_resumed_epoch_gives_the_remaining_batches(make, done):
    sampler = make(seed=3)
    list(sampler)
    under_way = iter(sampler)
    list(islice(under_way, done))
    state = sampler.state_dict()
    remaining = list(under_way)
    assert len(remaining) == 12 - done

    resumed = make(seed=3)
    resumed.load_state_dict(state)
    resumed.set_epoch(state["epoch"])  # as Lightning does before it goes on
    assert resumed.state_dict() == state
    assert list(resumed) == remaining
    assert list(resumed) == list(sampler), "and the next epoch is the next epoch"


@EVERY_SAMPLER
def test_a_pass_that_was_broken_off_is_not_resumed_by_itself(make):
    sampler = make()
    next(iter(sampler))
    assert len(list(sampler)) == len(sampler)


@EVERY_SAMPLER
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # torchdata 0.11 calls it
def test_a_stateful_loader_resumes_in_mid_epoch(make, workers):
    data = TensorDataset(torch.arange(len(LONG_TAIL)))

    def loader():
        return StatefulDataLoader(data, batch_sampler=make(), num_workers=workers)

    under_way = loader()
    batches = iter(under_way)
    for _ in range(5):
        next(batches)
    state = copy.deepcopy(under_way.state_dict())
    remaining = [batch[0].tolist() for batch in batches]

    resumed = loader()
    resumed.load_state_dict(state)
    assert [batch[0].tolist() for batch in resumed] == remaining
    assert len(remaining) == 7


@EVERY_SAMPLER
def test_lightning_injects_a_distributed_sampler_for_its_rank_alone(make):
    injected = [
        make(sampler=DistributedSampler(range(94), num_replicas=2, rank=rank)) for rank in (0, 1)
    ]
    for rank, sampler in enumerate(injected):
        assert (sampler.rank, sampler.num_replicas) == (rank, 2)
        assert list(sampler) == list(make(num_replicas=2, rank=rank))
    sampler = make()
    sampler.sampler.set_epoch(4)  # where Lightning and Accelerate look for it
    assert sampler.state_dict() == {"epoch": 4, "batch": 0}


@EVERY_SAMPLER
def test_accelerate_deals_out_whole_batches(make):
    shards = [list(BatchSamplerShard(make(), num_processes=2, process_index=i)) for i in (0, 1)]
    dealt = [batch for pair in zip(*shards, strict=True) for batch in pair]
    whole = list(make())
    assert dealt[:11] == whole[:11]
    if make is of_sets:  # it fills the short last batch up from the first: whole sets again
        assert dealt[11][:24] == whole[11]
        OddKOutLoss(k=2, layout="paper")(torch.zeros(32, 5), LONG_TAIL[dealt[11]])


def test_sampler_loader_and_loss_fit_together():
    data = TensorDataset(torch.randn(94, 3), LONG_TAIL)
    model = torch.nn.Linear(3, 5)
    for sampler, criterion in (
        (of_sets(k=2), OddKOutLoss(k=2, layout="paper")),
        (of_pools(), OddKOutLoss(k=2)),
    ):
        for inputs, labels in DataLoader(data, batch_sampler=sampler):
            assert criterion(model(inputs), labels).isfinite()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: of_sets(k=5), "k=5 odd classes needs 6 classes, but the labels hold 5; lower k"),
        (lambda: of_sets(sets_per_batch=0), "sets_per_batch must be at least 1, got 0"),
        (lambda: of_sets(sets_per_epoch=0), "sets_per_epoch must be at least 1, got 0"),
        (lambda: of_sets(rank=1), "rank must be below num_replicas=1, got 1; ranks count from 0"),
        (lambda: of_pools(classes_per_batch=6), "6 distinct classes needs as many.*hold 5"),
        (lambda: of_pools(batches=0), "batches must be at least 1, got 0"),
        (lambda: of_pools(batch_size=8), "either a pool.*classes_per_batch=3.*batch_size=8"),
        (lambda: ClassBalancedBatchSampler([0, 0], batches=1), "give one of the two"),
        (
            lambda: OddKOutBatchSampler([0, 0, 1], k=1, sets_per_batch=1),
            r"classes \[1\] hold only 1",
        ),
        (
            lambda: of_pools().load_state_dict({"epoch": 0, "batch": 13}),
            "after batch 13 of an epoch, but this sampler gives only 12",
        ),
        (lambda: of_pools().set_epoch(-1), "epoch must be at least 0, got -1"),
    ],
)
def test_bad_arguments_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_batch_balancing_takes_classes_of_one_example():
    sampler = ClassBalancedBatchSampler([0, 0, 0, 1], batch_size=50, batches=1)
    assert set(next(iter(sampler))) == {0, 1, 2, 3}
