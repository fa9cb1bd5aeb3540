"""The checks of ``make chaos`` can fail, and one short trial of each fault that is cheap."""

import json
import time

import pytest
from hostile.chaos import markdown
from hostile.originals import table
from hostile.outcomes import age, differences, left_over, old, outcome
from hostile.started import Command


def test_lost_doubled_and_changed_runs_are_seen(tmp_path):
    for folder, runs in (("quiet", {"a": 1, "b": 2}), ("disturbed", {"b": 3, "c": 1})):
        for name, nll in runs.items():
            (tmp_path / folder / name).mkdir(parents=True)
            values = {"id": name, "nll": nll, "seconds": {"cpu": time.time()}}
            (tmp_path / folder / name / "run.json").write_text(json.dumps(values))
    quiet, disturbed = (outcome(tmp_path / name) for name in ("quiet", "disturbed"))
    assert differences(quiet, quiet) == []
    assert differences(quiet, disturbed) == ["lost: a", "more: c", "wrong: b"]


def test_weights_tables_and_temporary_files_are_seen(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"1")
    (tmp_path / "tables.json").write_text(json.dumps({"nll": 1, "command": f"--out {tmp_path}"}))
    (tmp_path / ".a.tmp").mkdir()
    (tmp_path / ".a.tmp" / "run.json").write_text("{")
    tables = {"nll": 1, "command": "--out OUT"}
    assert outcome(tmp_path) == {"model.safetensors": "31", "tables.json": tables}
    left = left_over(tmp_path)
    assert [path.name for path in left] == [".a.tmp"]
    assert old(left) == []
    age(left)
    assert old(left) == [".a.tmp"]


def test_a_full_disk_is_one(tmp_path):
    """The command may write nothing, and says so in one line."""
    data = table(tmp_path / "table.csv")
    training = ["train", str(data), "--target", "y", "--folds", "2", "--learning-rates", "0.1"]
    training += ["--updates", "5", "--method", "vanilla", "--out", str(tmp_path / "model")]
    code, _, error = Command(training, most_bytes=0).ended()
    assert code == 2
    assert error.splitlines()[-1].startswith("oddkout: "), error
    assert "Traceback" not in error


@pytest.fixture
def sleeper(tmp_path, monkeypatch):
    """A command that starts a worker which outlives it, unless it is told to end."""
    package = tmp_path / "oddkout"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print('started', flush=True)\n"
        "time.sleep(60)\n"
    )
    return {"environment": {"PYTHONPATH": str(tmp_path)}}


def test_a_process_that_outlives_a_killed_command_is_seen(sleeper, monkeypatch):
    monkeypatch.setattr("hostile.started.GRACE_SECONDS", 0.3)
    command = Command([], **sleeper)
    while not command.workers():
        time.sleep(0.01)
    was_alive, orphans = command.kill()
    command.close()
    assert (was_alive, len(orphans)) == (True, 1)
    assert command.kill() == (False, []), "it has ended"


def test_a_command_that_hangs_is_seen(sleeper, monkeypatch):
    monkeypatch.setattr("hostile.started.GRACE_SECONDS", 0.3)
    command = Command([], **sleeper)
    with pytest.raises(TimeoutError, match=r"did not end in 0\.2 s"):
        command.wait(0.2)
    command.close()
    for process in command.workers():
        process.kill()


def test_the_table_counts_disturbances_and_leaves_out_trials_without_any(tmp_path):
    head = {"command": "train", "fault": "kills", "seed": 1, "trial": 0, "runs": 2}
    rows = [
        {"kills": 3, "problems": []},
        {"kills": 0, "problems": []},
        {"kills": 4, "problems": ["lost: a"], "note": "fixed"},
    ]
    (tmp_path / "lines").write_text("".join(json.dumps(head | row) + "\n" for row in rows))
    text = markdown(tmp_path / "lines")
    assert "| kills | train | 2 | 7 kills | 1 |" in text
    assert "7 kills, 0 full disks" in text
    assert text.endswith("* 1 x fixed")
