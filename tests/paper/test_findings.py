"""Sentences on what other protocols found: each says no more than its interval."""

import json
import re
from pathlib import Path

import pytest

from oddkout.paper.findings import findings

RESULTS = Path(__file__).parents[2] / "results"


def numbers(text):
    return [[float(part) for part in found] for found in
            re.findall(r"([+-]?[\d.]+) \[([+-]?[\d.]+), ([+-]?[\d.]+)\]", text)]  # fmt: skip


def test_the_words_of_each_finding_agree_with_its_interval():
    folds, few, heavy, larger, classes, tables = findings(RESULTS)
    assert all(high < 1 for _, _, high in numbers(folds))
    ratio, points = numbers(few)
    assert ratio[2] < 1
    assert points[1] > 0
    assert "not significant" in heavy
    assert numbers(heavy)[0][1] < 1 < numbers(heavy)[0][2]
    assert len(numbers(larger)) == 2
    assert all(low < 0 < high for _, low, high in numbers(larger)), "it does not lead"
    assert all(high < 0 for _, _, high in numbers(classes))
    over_best, by_sets = numbers(tables)
    assert over_best[0] > 0.97, "missed"
    assert over_best[1] < 1 < over_best[2], "level"
    assert by_sets[1] < 1 < by_sets[2]
    text = (RESULTS.parent / "docs" / "small-tables.md").read_text()
    for mean, low, high in (over_best, by_sets):
        assert f"{mean:.3f} [{low:.3f}, {high:.3f}]" in text  # computed by the script of the lines


def test_a_mean_is_over_settings_and_an_interval_over_the_common_seeds(tmp_path):
    """OKO's NLL is half of the other's in one setting, equal in the second: a ratio of 0.707."""
    lines = [
        {"method": method, "arm": arm, "setting": setting, "seed": seed,
         "metrics": {key: {"nll": 0.5 if (method, setting) == ("oko", "b, heavy-tailed") else 1.0,
                           "accuracy": 0.8}}}
        for method, arm, key in (("oko", "0.2", "members, calibrated"),
                                 ("vanilla+ls", "0.2", "members, calibrated"),
                                 ("oko", "0.1.0", "single, T"))
        for setting in ("a, heavy-tailed", "b, heavy-tailed", "a, 10 per class")
        for seed in ((1, 2, 3) if method == "oko" else (1, 2))
    ]  # fmt: skip
    (tmp_path / "folds-test.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    _, _, heavy = findings(tmp_path)
    assert numbers(heavy)[0] == pytest.approx([0.707] * 3)
    assert "(2 seeds)" in heavy
    assert findings(tmp_path / "nowhere") == []
