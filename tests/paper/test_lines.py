"""Committed runs: each is stored once and not performed again."""

import json
from dataclasses import replace

import pytest
from made_up import TEN_SHOT, made_up

from oddkout.paper.lines import CommittedStore, merge_lines, read_lines
from oddkout.paper.settings import Setting


def test_each_run_is_stored_once_in_the_same_order(tmp_path):
    runs = [made_up(TEN_SHOT, name, seed=seed) for name in ("oko", "bb") for seed in range(3)]
    runs.append(made_up(Setting("fashion_mnist", "heavy-tailed", 30), "oko", folds=5))
    merge_lines(tmp_path / "a", runs)
    for run in reversed(runs):
        merge_lines(tmp_path / "b", [run, run])
    files = ["paper-fashion_mnist.jsonl", "paper-mnist.jsonl"]
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    ids = [json.loads(line)["id"] for line in (tmp_path / "a" / files[1]).read_text().splitlines()]
    assert ids == sorted(set(ids))
    assert len(ids) == 6
    assert read_lines(tmp_path / "a") == sorted(runs, key=lambda run: run.config.id)
    assert merge_lines(tmp_path / "a", runs) == []
    assert read_lines(tmp_path / "a", kind="choices") == []


def test_a_line_keeps_its_config_to_the_last_digit_and_its_protocol(tmp_path):
    run = made_up(Setting("mnist", "heavy-tailed", 300), "focal", accuracy=1 / 3, seed=41)
    run = replace(run, protocol="a1b2", extras={"temperature": {"nll": 2 / 3}})
    run = replace(run, config=replace(run.config, weight_decay=2e-3 / 3, gamma=0.6))
    merge_lines(tmp_path, [run])
    [read] = read_lines(tmp_path)
    assert read.config == run.config
    assert read.protocol == "a1b2"
    assert read.value("accuracy") == 0.33333333
    assert read.extras == {"temperature": {"nll": 0.66666667}}
    assert len((tmp_path / "paper-mnist.jsonl").read_text()) < 1500


def test_a_broken_or_doubled_line_is_refused_by_file_and_number(tmp_path):
    merge_lines(tmp_path, [made_up(TEN_SHOT, "oko")])
    file = tmp_path / "paper-mnist.jsonl"
    whole = file.read_text()
    file.write_text(whole + '{"format": 1}\n')
    with pytest.raises(ValueError, match=r"paper-mnist.jsonl, line 2 must be a run"):
        read_lines(tmp_path)
    file.write_text(2 * whole)
    with pytest.raises(ValueError, match=r"line 2 must be the only line of run"):
        read_lines(tmp_path)


def test_a_failed_line_is_performed_again(tmp_path):
    failed = replace(made_up(TEN_SHOT, "oko"), reason="out of memory")
    merge_lines(tmp_path, [failed])
    assert failed.config not in CommittedStore(tmp_path / "runs", read_lines(tmp_path))
    merge_lines(tmp_path, [made_up(TEN_SHOT, "oko")])
    assert [run.has_failed for run in read_lines(tmp_path)] == [False]
