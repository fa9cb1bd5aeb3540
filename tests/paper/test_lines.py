"""Committed runs: each is stored once and not performed again."""

import json
from dataclasses import replace

import pytest
from made_up import TEN_SHOT, made_up

from oddkout.paper.lines import CommittedStore, merge_lines, read_lines
from oddkout.paper.settings import Setting


def test_each_run_is_stored_once_in_the_same_order(tmp_path):
    runs = [made_up(TEN_SHOT, name, seed=seed) for name in ("oko", "bb") for seed in range(3)]
    runs.append(made_up(Setting("fashion_mnist", "uniform", 10), "oko"))
    merge_lines(tmp_path / "a", runs)
    for run in reversed(runs):
        merge_lines(tmp_path / "b", [run, run])
    files = ["runs-fashion_mnist.jsonl", "runs-mnist.jsonl"]
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    ids = [json.loads(line)["id"] for line in (tmp_path / "a" / files[1]).read_text().splitlines()]
    assert ids == sorted(set(ids))
    assert len(ids) == 6
    assert read_lines(tmp_path / "a") == sorted(runs, key=lambda run: run.config.id)
    assert merge_lines(tmp_path / "a", runs) == []


def test_a_broken_line_is_refused_by_file_and_number(tmp_path):
    merge_lines(tmp_path, [made_up(TEN_SHOT, "oko")])
    file = tmp_path / "runs-mnist.jsonl"
    file.write_text(file.read_text() + '{"format": 1}\n')
    with pytest.raises(ValueError, match=r"runs-mnist.jsonl, line 2 must be a run"):
        read_lines(tmp_path)


def test_a_run_with_folds_counts_as_the_same_run_without(tmp_path):
    run = made_up(TEN_SHOT, "oko")
    assert run.config.folds == 5
    store = CommittedStore(tmp_path, [run])
    assert replace(run.config, folds=0) in store
    assert replace(run.config, folds=2) not in store


def test_a_failed_line_is_performed_again(tmp_path):
    failed = replace(made_up(TEN_SHOT, "oko"), reason="out of memory")
    merge_lines(tmp_path, [failed])
    assert failed.config not in CommittedStore(tmp_path / "runs", read_lines(tmp_path))
    merge_lines(tmp_path, [made_up(TEN_SHOT, "oko")])
    assert [run.has_failed for run in read_lines(tmp_path)] == [False]
