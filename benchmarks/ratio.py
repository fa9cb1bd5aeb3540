"""Ratios of two things measured in turn, so that a drifting machine hurts both alike."""

import statistics
import time
from collections.abc import Callable


def quartiles(
    candidate: Callable[[], object], baseline: Callable[[], object], rounds: int
) -> tuple[float, float, float]:
    """Quartiles of candidate / baseline over ``rounds`` alternated rounds."""
    candidate(), baseline()  # warm up
    measured = []
    for number in range(rounds):
        if number % 2:  # who goes first takes turns too
            first, second = seconds(baseline), seconds(candidate)
            measured.append(second / first)
        else:
            first, second = seconds(candidate), seconds(baseline)
            measured.append(first / second)
    low, median, high = statistics.quantiles(measured, n=4)
    return low, median, high


def seconds(work: Callable[[], object]) -> float:
    """Time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def line(name: str, measured: tuple[float, float, float], rounds: int, target: str) -> None:
    """Print one result beside its target."""
    low, median, high = measured
    print(f"{name}\n    {median:.3f}x  quartiles [{low:.3f}, {high:.3f}]  n={rounds}   ({target})")
