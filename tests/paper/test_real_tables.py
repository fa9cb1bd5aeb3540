"""The table of real tables is made of recorded comparisons."""

import json

from oddkout.paper.real_tables import real_tables


def test_a_row_has_the_winner_and_the_best_of_the_others(tmp_path):
    assert real_tables(tmp_path) is None
    nll = {"guess": 1.0, "logistic": 0.5, "oko": 0.45, "tables": 0.4, "svm": 0.44, "forest": 0.43}
    line = {
        "table": "wine",
        "rows": 178,
        "classes": 3,
        "winner": "tables",
        "better than logistic": ["tables", "forest"],
        "calibrated": [{"method": name, "nll": value} for name, value in nll.items()],
    }
    (tmp_path / "compared-tables.jsonl").write_text(json.dumps(line) + "\n")
    table = real_tables(tmp_path)
    assert len(table.header) == 10
    (row,) = table.rows
    assert row[:4] == ["wine", "178", "3", "`tables`"]
    assert row[4:8] == ["1.000", "0.500", "0.450", "0.400"]
    assert row[8:] == ["`forest` 0.430", "`tables`, `forest`"]
