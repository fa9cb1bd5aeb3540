"""Keyed generators repeat for equal keys, differ for others, and leave the global one alone."""

import torch

from oddkout.randomness import keyed_generator, keyed_globals


def test_streams_of_different_keys_differ():
    keys = [(seed, epoch) for seed in range(20) for epoch in range(20)]
    draws = [torch.rand(1, generator=keyed_generator(*key)).item() for key in keys]
    assert len(set(draws)) == len(keys)
    assert draws == [torch.rand(1, generator=keyed_generator(*key)).item() for key in keys]


def test_global_generators_are_restored():
    before = torch.random.get_rng_state()
    with keyed_globals(0, 1, device=torch.device("cpu")):
        first = torch.nn.functional.dropout(torch.ones(100))
    assert torch.equal(before, torch.random.get_rng_state())
    with keyed_globals(0, 1, device=torch.device("cpu")):
        assert torch.equal(first, torch.nn.functional.dropout(torch.ones(100)))
