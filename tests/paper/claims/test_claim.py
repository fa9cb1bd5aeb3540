"""The verdict on an interval."""

from oddkout.comparing.statistics import Interval
from oddkout.paper.claims import verdict_on


def test_an_interval_decides_only_if_it_lies_on_one_side():
    nan = float("nan")
    assert verdict_on(Interval(1.0, 0.5, 1.5), above=0, below=2) == "holds"
    assert verdict_on(Interval(1.9, 1.5, 2.3), above=0, below=2) == "undecided"
    assert verdict_on(Interval(2.5, 2.1, 2.9), above=0, below=2) == "does not hold"
    assert verdict_on(Interval(1.0, nan, nan), above=0) == "undecided"
