"""Kills and repetitions are told as their lines have them."""

import json
from itertools import pairwise
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
    assert again.endswith(": 2 have the same line to the last digit. **With the same instruction "
                          "sets, 1 differ.**")  # fmt: skip
    write(tmp_path, "grid-kills.jsonl", [{"runs": 3}, {"runs": 2}])
    assert "**fell**" in robustness(tmp_path)[0]


def test_a_lost_machine_is_told_apart_from_kills(tmp_path):
    events = [{"runs": 3}, {"runs": 9}, {"runs": 4, "lost": "machine"}, {"runs": 4}]
    write(tmp_path, "grid-kills.jsonl", events)
    kills, lost = robustness(tmp_path)
    assert "killed 3 times by SIGKILL" in kills
    assert "never fell" in kills
    assert "lost once with all files: at least 5 runs" in lost
    write(tmp_path, "grid-kills.jsonl", [*events, {"runs": 2, "lost": "machine"}, {"runs": 1}])
    kills, lost = robustness(tmp_path)
    assert "**fell**" in kills
    assert "lost 2 times with all files: at least 7 runs" in lost


def test_runs_of_another_machine_are_told_apart(tmp_path):
    lines = [
        {"equal": True, "same_instructions": True},
        {"equal": False, "same_instructions": False, "accuracy": 0.0015, "nll": 0.0009},
        {"equal": False, "same_instructions": False, "accuracy": 0.0008, "nll": 0.009},
    ]
    write(tmp_path, "reproduced.jsonl", lines)
    [again] = robustness(tmp_path)
    assert ": 1 have the same line to the last digit. With other instruction sets, 2 diff" in again
    assert again.endswith("accuracy by at most 0.15 points, and NLL by 0.009.")
    write(tmp_path, "reproduced.jsonl", [{"equal": True, "same_instructions": False}])
    assert robustness(tmp_path)[0].endswith(": 1 have the same line to the last digit.")


def test_the_grid_lost_and_doubled_no_run_in_its_course():
    """A doubled line is refused by ``read_lines``; all runs that a kill saw have their lines."""
    events = [json.loads(line) for line in (RESULTS / "grid-kills.jsonl").read_text().splitlines()]
    assert len([one for one in events if "lost" not in one]) >= 10
    assert [one["time"] for one in events] == sorted(one["time"] for one in events)
    for old, new in pairwise(events):
        assert "lost" in new or old["runs"] <= new["runs"], "only a lost machine loses runs"
    stored = len(read_lines(RESULTS)) + len(read_lines(RESULTS, kind="choices"))
    assert stored >= events[-1]["runs"]
