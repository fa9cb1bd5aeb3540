"""The table of versions counts runs where versions differ."""

from dataclasses import replace

from made_up import made_up

from oddkout.paper.settings import Setting
from oddkout.paper.versions_table import versions_table


def test_versions_that_differ_are_counted_and_missing_ones_named():
    run = made_up(Setting("mnist", "uniform", 10), "oko", seed=0, accuracy=0.9)
    runs = [
        replace(run, versions={"torch": "2.13.0"}),
        replace(run, versions={"torch": "2.13.0", "instructions": "AVX512 amx_bf16"}),
        replace(run, versions={"torch": "2.13.0", "instructions": "AVX512 amx_bf16"}),
    ]
    assert versions_table(runs).rows == [
        ["instructions", "AVX512 amx_bf16 (2 runs), not recorded (1 runs)"],
        ["torch", "2.13.0"],
    ]
    assert versions_table([]).rows == []
