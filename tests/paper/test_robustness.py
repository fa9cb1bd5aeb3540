"""Kills and repetitions are told as their lines have them."""

import json
from pathlib import Path

from oddkout.paper.lines import read_lines
from oddkout.paper.robustness import robustness

RESULTS = Path(__file__).parents[2] / "results"


def write(folder, name, lines):
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_sentences_count_kills_and_equal_lines(tmp_path):
    assert robustness(tmp_path) == []
    write(tmp_path, "grid-kills.jsonl", [{"runs": 3}, {"runs": 3}, {"runs": 9}])
    write(
        tmp_path,
        "reproduced.jsonl",
        [
            {"equal": True, "same_instructions": True},
            {"equal": False, "same_instructions": True},
            {"equal": True, "same_instructions": True},
        ],
    )
    kills, again = robustness(tmp_path)
    assert "killed 3 times by SIGKILL" in kills
    assert "never fell" in kills
    assert again.startswith("3 recorded runs, drawn at random, were performed again")
    assert again.endswith("Of 3 recorded with the same instruction sets, 2 have the same line to "
                          "the last digit.")  # fmt: skip
    write(tmp_path, "grid-kills.jsonl", [{"runs": 3}, {"runs": 2}])
    assert "**fell**" in robustness(tmp_path)[0]


def test_runs_of_another_machine_are_told_apart(tmp_path):
    lines = [
        {"equal": True, "same_instructions": True},
        {"equal": False, "same_instructions": False, "accuracy": 0.0015, "nll": 0.0009},
        {"equal": False, "same_instructions": False, "accuracy": 0.0008, "nll": 0.009},
    ]
    write(tmp_path, "reproduced.jsonl", lines)
    [again] = robustness(tmp_path)
    assert "Of 1 recorded with the same instruction sets, 1 have" in again
    assert again.endswith("2 were recorded on a machine with others: accuracy differs by at most "
                          "0.15 points, and NLL by 0.009.")  # fmt: skip


def test_the_grid_lost_and_doubled_no_run_in_its_course():
    """A doubled line is refused by ``read_lines``; all runs that a kill saw have their lines."""
    kills = [json.loads(line) for line in (RESULTS / "grid-kills.jsonl").read_text().splitlines()]
    counts = [kill["runs"] for kill in kills]
    assert len(kills) >= 10
    assert counts == sorted(counts)
    assert [kill["time"] for kill in kills] == sorted(kill["time"] for kill in kills)
    stored = len(read_lines(RESULTS)) + len(read_lines(RESULTS, kind="choices"))
    assert stored >= counts[-1]
