"""What is left of a lead when every method is calibrated."""

import math
from dataclasses import replace
from itertools import product

import pytest
from made_up import TEN_SHOT, evidence_of, made_up

from oddkout.paper.after_calibration import (
    after_calibration,
    calibrated_comparisons,
    calibrated_value,
)
from oddkout.paper.comparisons import PRIMARY
from oddkout.paper.document import TextTable
from oddkout.paper.settings import Setting

HEAVY = Setting("fashion_mnist", "heavy-tailed", 20)


def test_the_table_has_means_as_trained_with_temperature_and_adjusted():
    runs = [
        replace(made_up(setting, "oko", seed=seed),
                extras={"temperature": {"nll": 0.5 + seed / 10}, **more})
        for setting, more in ((TEN_SHOT, {}), (HEAVY, {"adjusted": {"nll": 0.25}}))
        for seed in (0, 1)
    ]  # fmt: skip
    large = Setting("mnist", "uniform", 500)
    runs.append(replace(made_up(large, "oko"), extras={"temperature": {"nll": 9.0}}))
    tables = [part for part in after_calibration(evidence_of(runs)).parts
              if isinstance(part, TextTable)]  # fmt: skip
    uniform, heavy = tables
    half = f"{0.05 * 12.7062:.3f}"  # two seeds, 0.1 apart
    assert uniform.rows == [["OKO", "0.600 ± 0.000", f"0.550 ± {half}", "", ""]]
    assert heavy.rows == [["OKO", "", "", "", "0.600 ± 0.000", f"0.550 ± {half}", "0.250 ± 0.000"]]
    assert heavy.header[-1] == "FashionMNIST: adjusted, with T"


def test_ratios_after_calibration_are_paired_by_seed_for_each_data_set():
    runs = []
    for one in PRIMARY:
        for setting, name, seed in product(one.settings, (one.first, one.second), one.seeds):
            kind = "temperature" if one.distribution == "uniform" else "adjusted"
            lead = 0.5 if setting.data == "mnist" else 0.8
            nll = (seed - 39) * (
                lead if name == "oko" else 1.0
            )  # seeds differ, their ratio does not
            extras = {"temperature": {"nll": 99.0}} | {kind: {"nll": nll}}
            runs.append(replace(made_up(setting, name, seed=seed), extras=extras))
    rows = calibrated_comparisons(evidence_of(runs)).rows
    both = math.sqrt(0.5 * 0.8)
    assert [row[1] for row in rows] == ["1.000 [1.000, 1.000]"] * 3
    assert rows[0][2] == f"{both:.3f} [{both:.3f}, {both:.3f}]"
    assert rows[1][3:] == ["0.500 [0.500, 0.500]", "0.800 [0.800, 0.800]"]
    assert rows[2][4] == "1.250 [1.250, 1.250]", "oko is the second one there"
    some = [run for run in runs if run.config.seed != 44]
    assert calibrated_comparisons(evidence_of(some)) is None


def test_adjustment_equals_the_temperature_where_classes_are_equally_frequent():
    run = replace(made_up(TEN_SHOT, "oko"), extras={"temperature": {"nll": 0.5}})
    assert calibrated_value("nll", "adjusted")(run) == pytest.approx(0.5)
    assert calibrated_value("nll", "adjusted")(made_up(TEN_SHOT, "oko")) is None


def test_without_digests_there_is_no_section():
    assert after_calibration(evidence_of()).parts == []
