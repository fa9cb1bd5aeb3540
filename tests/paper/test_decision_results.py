"""Tables of decisions are means of recorded lines."""

import json

from oddkout.paper.decision_results import decision_document, decision_results

SETTING = "mnist, heavy-tailed 200"


def decided(size, error, classes=(0.75, 1.0)):
    """Decisions of one fit; class 1 is in every set."""
    return {
        "best": {"size": size, "answered": {"0.05": 0.8, "0.1": 0.9}},
        "by class": {"coverage": 0.9, "size": 2 * size, "classes": classes, "always": [1]},
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
                "oko": decided(3.0, None, classes=(0.88 + 0.04 * (one["seed"] % 2), 1.0)),
            }
        }
        for one in key
    ]
    write(folder, "imbalance-decisions.jsonl", found)


def test_images_are_shown_once_all_seeds_are_there(tmp_path):
    image_lines(tmp_path, seeds=9)
    assert decision_results(tmp_path) == []
    image_lines(tmp_path, seeds=10)
    [result] = decision_results(tmp_path)
    assert result.title == "MNIST, heavy-tailed, 200 examples, for equal classes"
    # Sizes 1 and 2 in turn; answers without any error count are left out of the error's mean.
    assert result.table.rows == [
        ["stack (10)", "0.250", "0.030", "0.900", "3.00", "1.50", "25.0", "4.0", "80.0"],
        ["oko (10)", "0.500", "0.030", "0.900", "6.00", "3.00", "25.0", "-", "80.0"],
    ]
    # The class in every set does not count; that of oko has the mean of 0.88 and 0.92.
    assert result.judged == (
        "Classes that are not in every set: the lowest coverage of a class is 0.750 (`stack`; "
        "promised: 0.8, **below**, before allowing for chance), and the lowest mean over classes "
        "0.750 (`stack`; aim: 0.9, **below**, before allowing for chance)."
    )
    lines = (tmp_path / "imbalance-decisions.jsonl").read_text().replace("0.75", "0.95")
    (tmp_path / "imbalance-decisions.jsonl").write_text(lines)
    [result] = decision_results(tmp_path)
    assert "0.900 (`oko`; promised: 0.8, **kept**)" in result.judged
    assert "0.900 (`oko`; aim: 0.9, **kept**)" in result.judged
    page = decision_document([result], origin="Generated.").markdown()
    assert f"## {result.title}\n\n| method (seeds) | NLL |" in page
    assert page.rstrip().endswith(result.judged)
    assert result.sentence.startswith("MNIST, heavy-tailed, 200 examples, for equal classes: class")


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
        "classes": [{"coverage": 0.85, "always": 0}, {"coverage": 0.99, "always": 5}],
    }
    line = {"table": "car", "rows": 1728, "sizes": [1210, 65], "contestants": {"tables": found}}
    write(tmp_path, "decided-tables.jsonl", [line])
    [result] = decision_results(tmp_path)
    assert (
        "lowest coverage of a class is 0.850 (`tables`; promised: 0.8, **kept**)" in result.judged
    )
    assert result.title == "car, 1728 rows, classes of 1210 to 65, five splits"
    assert result.table.rows == [
        ["tables", "0.400", "0.020", "0.910", "1.20", "1.10", "60.0", "1.0", "70.0"]
    ]
