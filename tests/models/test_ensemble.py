"""An ensemble outputs the logits of every member."""

import torch
from torch import nn

from oddkout.models.ensemble import Ensemble, combined


def test_the_logits_of_every_member_are_stacked():
    members = [nn.Linear(4, 3) for _ in range(5)]
    x = torch.randn(7, 4)
    logits = combined(members)(x)
    assert logits.shape == (7, 5, 3)
    for number, member in enumerate(members):
        torch.testing.assert_close(logits[:, number], member(x))


def test_a_single_member_is_itself():
    member = nn.Linear(4, 3)
    assert combined([member]) is member
    assert isinstance(combined([member, member]), Ensemble)
