"""Tables of decisions are means of recorded lines."""

import json

from oddkout.paper.decision_results import decision_results

SETTING = "mnist, heavy-tailed 200"


def decided(size, error):
    """Decisions of one fit."""
    return {
        "best": {"size": size, "answered": {"0.05": 0.8, "0.1": 0.9}},
        "by class": {"coverage": 0.9, "size": 2 * size},
        "risk 0.05, equal classes": {"answered": 0.25, "error": error},
    }


def write(folder, name, lines):
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def image_lines(folder, seeds):
    methods = {"oko": 0.5, "stack": 0.25}
    key = [{"setting": SETTING, "seed": seed} for seed in range(seeds)]
    fitted = {name: {"calibrated": {"nll": nll, "ece": 0.03}} for name, nll in methods.items()}
    write(folder, "imbalance-test.jsonl", [one | {"metrics": fitted} for one in key])
    found = [
        one
        | {
            "decisions": {
                "stack": decided(1 + one["seed"] % 2, 0.04 if one["seed"] else None),
                "oko": decided(3.0, None),
            }
        }
        for one in key
    ]
    write(folder, "imbalance-decisions.jsonl", found)


def test_images_are_shown_once_all_seeds_are_there(tmp_path):
    image_lines(tmp_path, seeds=9)
    assert decision_results(tmp_path) == []
    image_lines(tmp_path, seeds=10)
    title, table = decision_results(tmp_path)
    assert title == "**MNIST, heavy-tailed, 200 examples**, for equal classes:"
    # Sizes 1 and 2 in turn; answers without any error count are left out of the error's mean.
    assert table.rows == [
        ["stack (10)", "0.250", "0.030", "0.900", "3.00", "1.50", "25.0", "4.0", "80.0"],
        ["oko (10)", "0.500", "0.030", "0.900", "6.00", "3.00", "25.0", "-", "80.0"],
    ]


def test_a_real_table_is_shown_as_it_was_recorded(tmp_path):
    limits = {"low": 0.0, "high": 1.0}
    found = {
        "nll": {"mean": 0.4, **limits},
        "ece": {"mean": 0.02, **limits},
        "test": {
            name: {"mean": mean, **limits}
            for name, mean in (("set_coverage", 0.91), ("set_size", 1.2), ("answered_5", 0.6))
        },
        "wrong answers": {"answered_5": 0.01},
        "best": {"size": 1.1, "answered": 0.7},
    }
    line = {"table": "car", "rows": 1728, "sizes": [1210, 65], "contestants": {"tables": found}}
    write(tmp_path, "decided-tables.jsonl", [line])
    title, table = decision_results(tmp_path)
    assert title == "**car**, 1728 rows, classes of 1210 to 65, five splits:"
    assert table.rows == [
        ["tables", "0.400", "0.020", "0.910", "1.20", "1.10", "60.0", "1.0", "70.0"]
    ]
