"""Samplers of a long-tailed data set, and loaders that change their batches."""

import torch

import oddkout as oko

LONG_TAIL = torch.tensor([0] * 60 + [1] * 20 + [2] * 8 + [3] * 4 + [4] * 2)


def of_sets(**changes):
    return oko.OddKOutBatchSampler(LONG_TAIL, **{"k": 2, "sets_per_batch": 8} | changes)


def of_pools(**changes):
    arguments = {"classes_per_batch": 3, "examples_per_class": 2, "batches": 40}
    return oko.ClassBalancedBatchSampler(LONG_TAIL, **arguments | changes)


class Changed:
    """A loader that does something to every batch of a sampler."""

    def __init__(self, sampler, change):
        self.sampler, self.change = sampler, change

    def __iter__(self):
        return (self.change(batch) for batch in self.sampler)
