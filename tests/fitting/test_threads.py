"""Threads: one for little work, all for much, restored afterwards."""

import sys
import threading

import pytest
import scipy.linalg  # noqa: F401  # its threads are counted
import threadpoolctl
import torch

import oddkout as oko
from oddkout.fitting import threads
from oddkout.fitting.threads import one_blas_thread, suitable_threads


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


def blas_threads():
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info()
            if pool["user_api"] == "blas"}  # fmt: skip


def test_linear_algebra_has_one_thread_inside_and_the_number_before_afterwards():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this build of BLAS has one thread")
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {2}
        with pytest.raises(RuntimeError, match="diverged"), one_blas_thread():
            raise RuntimeError("diverged")
        assert blas_threads() == {2}


def test_blocks_of_two_threads_that_overlap_restore_the_number():
    """The second begins inside the first and ends after it."""
    first_ended, second_began = threading.Event(), threading.Event()

    def second():
        with one_blas_thread():
            second_began.set()
            first_ended.wait(10)

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        other = threading.Thread(target=second)
        with one_blas_thread():
            other.start()
            second_began.wait(10)
        first_ended.set()
        other.join()
        assert blas_threads() == before


def test_a_fit_uses_one_thread_and_restores_the_users_numbers(monkeypatch):
    """Calibration uses one, too."""
    seen = []
    fit = oko.calibrators.AdjustedTemperature.fit

    def watched(self, *given, **named):
        seen.append((torch.get_num_threads(), blas_threads()))
        return fit(self, *given, **named)

    monkeypatch.setattr(oko.calibrators.AdjustedTemperature, "fit", watched)
    x = torch.randn(40, 2, generator=torch.Generator().manual_seed(0)).numpy()
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        oko.fit((x, x[:, 0] > 0), method="tables", folds=2, recipe={"updates": 5}, test_size=0)
        assert set(map(str, seen)) == {"(1, {1})"}
        assert (torch.get_num_threads(), blas_threads()) == (2, before)


def test_without_threadpoolctl_nothing_changes(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with one_blas_thread():
        pass
