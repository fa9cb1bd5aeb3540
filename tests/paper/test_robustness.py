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
    write(tmp_path, "reproduced.jsonl", [{"equal": True}, {"equal": False}])
    kills, again = robustness(tmp_path)
    assert "killed 3 times by SIGKILL" in kills
    assert "never fell" in kills
    assert again.startswith("2 recorded runs, drawn at random, were performed again: 1 have")
    write(tmp_path, "grid-kills.jsonl", [{"runs": 3}, {"runs": 2}])
    assert "**fell**" in robustness(tmp_path)[0]


def test_the_grid_lost_and_doubled_no_run_in_its_course():
    """A doubled line is refused by ``read_lines``; all runs that a kill saw have their lines."""
    kills = [json.loads(line) for line in (RESULTS / "grid-kills.jsonl").read_text().splitlines()]
    counts = [kill["runs"] for kill in kills]
    assert len(kills) >= 10
    assert counts == sorted(counts)
    assert [kill["time"] for kill in kills] == sorted(kill["time"] for kill in kills)
    stored = len(read_lines(RESULTS)) + len(read_lines(RESULTS, kind="choices"))
    assert stored >= counts[-1]
