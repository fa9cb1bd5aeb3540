"""What is left of a lead when every method is calibrated."""

from dataclasses import replace

import pytest
from made_up import TEN_SHOT, evidence_of, made_up

from oddkout.paper.after_calibration import after_calibration, calibrated_value
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


def test_adjustment_equals_the_temperature_where_classes_are_equally_frequent():
    run = replace(made_up(TEN_SHOT, "oko"), extras={"temperature": {"nll": 0.5}})
    assert calibrated_value("nll", "adjusted")(run) == pytest.approx(0.5)
    assert calibrated_value("nll", "adjusted")(made_up(TEN_SHOT, "oko")) is None


def test_without_digests_there_is_no_section():
    assert after_calibration(evidence_of()).parts == []
