"""Threads: one for little work, all for much, restored afterwards."""

import pytest
import torch

from oddkout.fitting import threads
from oddkout.fitting.threads import suitable_threads


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 1), (1, 2), (2, 2)])
def test_little_work_is_done_by_one_thread(share, expected):
    with suitable_threads(share * threads._WORTH_THREADS):
        assert torch.get_num_threads() == expected
    assert torch.get_num_threads() == 2


def test_the_number_is_restored_when_training_fails():
    with pytest.raises(RuntimeError, match="diverged"), suitable_threads(1):
        raise RuntimeError("diverged")
    assert torch.get_num_threads() == 2
