"""Batches reach the model as they were drawn, in every training stack and on two processes."""

import pytest
from training_stacks import EVERY_LAYOUT, LABELS, STACKS, K

EVERY_STACK = pytest.mark.parametrize("stack", list(STACKS))


@EVERY_STACK
@EVERY_LAYOUT
def test_no_set_is_broken_and_ranks_and_epochs_differ(launch, stack, layout):
    ranks, _ = launch(stack)
    epochs = {}
    for rank, found in enumerate(ranks):
        for epoch, batch in found[layout]["whole"]:
            epochs.setdefault((rank, epoch), []).append(tuple(batch))
            classes = LABELS[batch]
            if layout == "paper":
                for pair, partner, *odd in classes.view(-1, K + 2).tolist():
                    assert pair == partner
                    assert len({pair, *odd}) == K + 1
            else:
                assert len(set(batch)) == 8
                assert sorted(classes.bincount(minlength=5).tolist()) == [0, 2, 2, 2, 2]
    assert [len(batches) for batches in epochs.values()] == [6] * 6
    assert len({batch for batches in epochs.values() for batch in batches}) == 36


@EVERY_STACK
@EVERY_LAYOUT
def test_the_check_that_users_run_agrees(launch, stack, layout):
    ranks, _ = launch(stack)
    for found in ranks:
        assert found[layout]["check"] == [True, True, True, True, True, 2]


@EVERY_STACK
@EVERY_LAYOUT
def test_an_epoch_resumed_after_two_batches_gives_the_remaining_ones(launch, stack, layout):
    ranks, _ = launch(stack)
    for found in ranks:
        assert found[layout]["whole"][8][0] == 1, "batch 8 is in epoch 1"
        assert found[layout]["resumed"] == found[layout]["whole"][8:]
        assert len(found[layout]["resumed"]) == 10
