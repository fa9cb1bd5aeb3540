"""The checks of ``make chaos`` can fail: they see lost, doubled and changed runs."""

import json
import os
import time

from hostile import chaos


def test_lost_doubled_and_changed_runs_are_seen(tmp_path):
    for folder, runs in (("quiet", {"a": 1, "b": 2}), ("disturbed", {"b": 3, "c": 1})):
        for name, nll in runs.items():
            (tmp_path / folder / name).mkdir(parents=True)
            values = {"id": name, "nll": nll, "seconds": {"cpu": time.time()}}
            (tmp_path / folder / name / "run.json").write_text(json.dumps(values))
    quiet, disturbed = (chaos.outcome(tmp_path / name) for name in ("quiet", "disturbed"))
    assert chaos.differences(quiet, quiet) == []
    assert chaos.differences(quiet, disturbed) == ["lost: a", "more: c", "wrong: b"]


def test_weights_and_temporary_files_are_seen(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"1")
    (tmp_path / ".a.tmp").mkdir()
    assert chaos.outcome(tmp_path) == {"model.safetensors": "31"}
    assert [path.name for path in chaos.left_over(tmp_path)] == [".a.tmp"]


def test_a_full_disk_is_one(tmp_path):
    process = chaos.start(["methods"], tmp_path, most_bytes=0)
    process.communicate()
    assert process.returncode == 2, "the command has no --out; what matters is that it starts"
    assert os.listdir(tmp_path) == []
