"""The check of loaders passes what is sound and names what is broken."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from gloo import ENDING
from loaders import LONG_TAIL, Changed, of_pools, of_sets
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

import oddkout as oko
from oddkout.testing import Indices, check_loader


def test_a_loader_with_indices_for_data_is_checked_with_workers_too():
    loader = DataLoader(Indices(LONG_TAIL), batch_sampler=of_sets(), num_workers=1)
    assert check_loader(loader, LONG_TAIL, 2, layout="paper").is_sound


BROKEN = {
    "torn": (lambda batch: batch[2:] + batch[:2], "is_whole"),
    "one short": (lambda batch: batch[:-1], "is_whole"),
    "strided": (lambda batch: batch[::2], "is_whole"),
    "sorted": (sorted, "is_whole"),
    "pair of one example": (lambda batch: [batch[0], *batch[0:1], *batch[2:]], "is_whole"),
    "two odd of one class": (lambda batch: [*batch[:3], batch[2], *batch[4:]], "is_whole"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_sets_are_found(name):
    change, _ = BROKEN[name]
    report = check_loader(Changed(of_sets(), change), LONG_TAIL, 2, layout="paper")
    assert not report.is_whole
    assert (report.ranks_differ, report.epochs_differ, report.is_even) == (True, True, True)
    with pytest.raises(ValueError, match=r"sets are broken, first on rank 0 in epoch 0, batch 0"):
        report.raise_if_broken()


def test_one_broken_set_is_counted_as_one():
    batches = list(of_sets())
    batches[3][0], batches[3][2] = batches[3][2], batches[3][0]
    report = check_loader(batches, LONG_TAIL, 2, layout="paper")
    assert (report.broken, report.units) == (2, 188)  # one in each epoch
    assert "in epoch 0, batch 3" in report.first_broken


@pytest.mark.parametrize(
    "change",
    [
        lambda batch: batch[:-1],
        lambda batch: [batch[0], batch[0], *batch[2:]],  # an example twice
        lambda batch: batch[::2],  # no pair
        lambda batch: batch[:4],  # two classes are too few for k = 2
    ],
)
def test_batches_that_are_no_pools_are_found(change):
    report = check_loader(Changed(of_pools(), change), LONG_TAIL, 2)
    assert report.broken == report.units == 80


def test_a_shuffled_loader_gives_no_pools():
    shuffled = BatchSampler(RandomSampler(LONG_TAIL), batch_size=30, drop_last=False)
    report = check_loader(shuffled, LONG_TAIL, 2)
    assert not report.is_whole
    assert "NO" in str(report)


def test_a_class_smaller_than_its_share_does_not_break_a_pool():
    report = check_loader(of_pools(classes_per_batch=5, examples_per_class=7), LONG_TAIL, 2)
    assert report.is_sound
    assert report.p_value == 1.0


def test_classes_of_one_example_do_not_look_uneven():
    labels = torch.cat([LONG_TAIL, torch.tensor([5, 6])])
    for singletons in ("odd-only", "repeat"):
        sampler = oko.OddKOutBatchSampler(
            labels, k=2, sets_per_batch=200, sets_per_epoch=1000, singletons=singletons
        )
        assert check_loader(sampler, labels, 2, layout="paper").is_sound


def test_epochs_that_repeat_are_found_unless_the_check_calls_set_epoch():
    frozen = list(of_sets())
    report = check_loader(frozen, LONG_TAIL, 2, layout="paper")
    assert report.is_whole
    assert report.shared_by_epochs == 1.0
    assert report.problems == [
        "epochs share 100% of their batches; call set_epoch before every epoch (and pass it to the "
        "check as before_epoch)"
    ]

    class NeedsSetEpoch:
        def set_epoch(self, epoch):
            self.epoch = epoch

        def __iter__(self):
            sampler = of_sets()
            sampler.set_epoch(self.epoch)
            return iter(sampler)

    loader = NeedsSetEpoch()
    report = check_loader(loader, LONG_TAIL, 2, layout="paper", before_epoch=loader.set_epoch)
    assert report.is_sound


def test_a_class_that_is_left_out_is_found():
    common = LONG_TAIL[:92]  # without class 4
    sets = oko.OddKOutBatchSampler(common, k=2, sets_per_batch=40, sets_per_epoch=400)
    pools = oko.ClassBalancedBatchSampler(
        common, classes_per_batch=3, examples_per_class=2, batches=60
    )
    for sampler, layout in ((sets, "paper"), (pools, "pool")):
        report = check_loader(sampler, LONG_TAIL, 2, layout=layout)
        assert report.is_whole
        assert not report.is_uniform
        assert report.draws[0] == 0
        assert "one class came 0 times" in report.problems[0]


def test_odd_classes_that_are_uneven_are_found_though_pairs_are_uniform():
    labels = torch.arange(40) % 4
    pair = torch.arange(400) % 4
    odd = (pair + 1) % 4
    odd[pair == 3] = 1  # class 0 is never odd
    index = torch.stack([pair, pair + 4 * (1 + torch.arange(400) % 9), odd], dim=1)
    report = check_loader([index.flatten()], labels, 1, layout="paper")
    assert report.is_whole
    assert not report.is_uniform


RANKS = """
import json, sys, torch, oddkout as oko
from pathlib import Path
torch.distributed.init_process_group("gloo")
rank, labels = torch.distributed.get_rank(), torch.arange(100) % 10
def pools(**changes):
    return oko.ClassBalancedBatchSampler(labels, examples_per_class=4, batches=20, **changes)
class Changed:
    def __init__(self, change, **changes):
        self.sampler, self.change = pools(**changes), change
    def __iter__(self):
        return (self.change(batch) for batch in self.sampler)
class Shifted:
    # a stack that adds the rank to the epoch: rank 1 sees now what rank 0 will see next
    def __init__(self):
        self.sampler = pools()
        self.sampler.set_epoch(rank)
    def __iter__(self):
        return iter(self.sampler)
cases = {
    "sound": pools(num_replicas=2, rank=rank),
    "same": pools(),
    "split": Changed(lambda batch: batch[20 * rank : 20 * rank + 20]),
    "uneven": pools(seed=rank) if rank else list(pools(seed=7))[:-1],
    "shifted": Shifted(),
}
found = {}
for name, loader in cases.items():
    report = oko.testing.check_loader(loader, labels, 1)
    found[name] = [report.is_whole, report.is_even, report.ranks_differ, report.epochs_differ,
        report.is_uniform]
try:
    oko.testing.check_loader([[0, 10, 1]] if rank else [[0, 999]], labels, 1)
except ValueError as error:
    found["error"] = str(error)
Path(sys.argv[1], f"{rank}.json").write_text(json.dumps(found))
"""


def test_two_ranks_are_compared(tmp_path):
    (tmp_path / "script.py").write_text(RANKS + ENDING)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*launcher, "--nproc-per-node", "2", tmp_path / "script.py", tmp_path],
        env=os.environ | {"PYTHONPATH": str(Path(oko.__file__).parents[1]), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert first == second, "every rank has the same report"
    assert "got a list of [int, int]" in first.pop("error"), "the error of rank 0, on both"
    assert first == {  # whole, even, ranks differ, epochs differ, uniform
        "sound": [True, True, True, True, True],
        "same": [True, True, False, True, True],
        "split": [True, True, True, True, False],
        "uneven": [True, False, True, False, True],
        "shifted": [True, True, True, False, True],
    }
