"""The allocator: memory is kept if the system supports it."""

import ctypes

import pytest

from oddkout.fitting.allocator import keep_memory


def test_large_blocks_are_kept(monkeypatch):
    calls = []

    class Library:
        def __init__(self, name):
            self.mallopt = lambda option, value: calls.append((option, value))

    monkeypatch.setattr(ctypes, "CDLL", Library)
    keep_memory()
    assert dict(calls) == {-3: 2**30, -1: 2**31 - 1}, "the options of malloc.h"


@pytest.mark.parametrize("error", [TypeError, OSError, None])
def test_a_system_without_such_an_allocator_is_left_alone(monkeypatch, error):
    def library(name):
        if error is not None:
            raise error("no such library")
        return object()

    monkeypatch.setattr(ctypes, "CDLL", library)
    keep_memory()
