"""The run store: each run is complete or absent, with any number of readers and writers."""

import os
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from grids import SMALL, run_of
from synthetic import synthetic_run, with_seed

from oddkout.comparing.store import RunStore


def with_predictions(config, *, rows=5):
    run = run_of(config)
    run.classes = tuple("0123456789")
    run.logits = np.full((rows, 10), config.seed, dtype=np.float32)
    run.calibrated_logits = run.logits / 2
    run.labels = np.arange(rows) % 10
    return run


def test_a_run_comes_back_as_it_was_written(tmp_path):
    store = RunStore(tmp_path / "runs")
    run = with_predictions(replace(SMALL, categorical=("a", "b")))
    run.seconds, run.temperature = {"train": 1.5}, 0.75
    folder = store.write(run)
    assert folder.name == run.config.id
    assert run.config in store
    read = store.read(run.config, has_predictions=True)
    assert read.to_dict() == run.to_dict()
    assert np.array_equal(read.logits, run.logits)
    assert np.array_equal(read.labels, run.labels)
    assert store.read(run.config).logits is None, "predictions are read when asked for"
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {run.config.id}


def test_a_run_that_is_there_stays(tmp_path):
    store = RunStore(tmp_path)
    store.write(run_of(SMALL, nll=1.0))
    before = (tmp_path / SMALL.id / "run.json").stat().st_mtime_ns
    store.write(run_of(SMALL, nll=2.0))
    assert store.read(SMALL).value("nll") == 1.0
    assert (tmp_path / SMALL.id / "run.json").stat().st_mtime_ns == before
    assert [path.name for path in tmp_path.iterdir()] == [SMALL.id], "nothing is left over"


def test_writers_of_the_same_run_do_not_disturb_each_other(tmp_path):
    store, failures = RunStore(tmp_path), []

    def write():
        try:
            store.write(with_predictions(SMALL, rows=2000))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert [path.name for path in tmp_path.iterdir()] == [SMALL.id]
    assert len(store.runs(has_predictions=True)[0].labels) == 2000


def test_a_number_that_is_none_leaves_no_trace(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        RunStore(tmp_path).write(run_of(SMALL, nll=float("nan")))
    assert list(tmp_path.iterdir()) == []


def test_50_readers_never_see_half_a_run(tmp_path):
    store, is_over, wrong, seen = RunStore(tmp_path), threading.Event(), [], []

    def read():
        while not is_over.is_set():
            try:
                runs = store.runs(has_predictions=True)
            except Exception as error:
                wrong.append(error)
                return
            seen.append(len(runs))
            wrong.extend(run for run in runs if not (run.logits == run.config.seed).all())
            wrong.extend(run for run in runs if len(run.labels) != 500)
            time.sleep(0.01)  # let others have their turn

    readers = [threading.Thread(target=read) for _ in range(50)]
    for reader in readers:
        reader.start()
    for seed in range(12):
        store.write(with_predictions(replace(SMALL, seed=seed), rows=500))
        if seed % 4 == 3:
            store.forget(run_of(replace(SMALL, seed=seed)))
    is_over.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert len(set(seen)) > 1, "they read while it was written"
    assert len(store.runs()) == 9


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("run.json", b""),
        ("run.json", b'{"format": 1, "id"'),
        ("run.json", b"[]"),
        ("run.json", b'{"name": "of another program"}'),
        ("run.json", b"\xff\xfe"),
        ("predictions.npz", b""),
        ("predictions.npz", b"PK\x03\x04"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, file, content):
    store = RunStore(tmp_path)
    folder = store.write(with_predictions(SMALL))
    (folder / file).write_bytes(content)
    with pytest.raises(ValueError, match=f"{file} .*remove the folder to perform it again"):
        store.runs(has_predictions=True)


def test_predictions_that_are_gone_are_named(tmp_path):
    store = RunStore(tmp_path)
    (store.write(with_predictions(SMALL)) / "predictions.npz").unlink()
    assert store.read(SMALL).value("nll") == 0.5
    with pytest.raises(FileNotFoundError, match=r"predictions\.npz; remove the folder"):
        store.read(SMALL, has_predictions=True)


def test_a_copy_of_a_run_is_not_counted(tmp_path):
    folder = RunStore(tmp_path).write(run_of(SMALL))
    folder.with_name("copy").mkdir()
    folder.with_name("copy").joinpath("run.json").write_text((folder / "run.json").read_text())
    with pytest.raises(ValueError, match=f"its id is {SMALL.id}, not the name of its folder"):
        RunStore(tmp_path).runs()


def test_other_folders_are_left_alone(tmp_path):
    store = RunStore(tmp_path)
    for name in ("figures", ".cache", ".submitit"):
        (tmp_path / name).mkdir()
    (tmp_path / ".half.tmp").mkdir()
    (tmp_path / ".half.tmp" / "run.json").write_text("{")
    (tmp_path / "notes.txt").write_text("mine")
    store.write(run_of(SMALL))
    assert [run.config for run in store.runs()] == [SMALL]
    store.sweep()
    assert len(list(tmp_path.iterdir())) == 6
    with pytest.raises(FileNotFoundError, match="there is no folder of runs"):
        RunStore(tmp_path / "nowhere").runs()


def test_what_is_in_the_way_of_a_run_is_named(tmp_path):
    (tmp_path / SMALL.id).mkdir()
    (tmp_path / SMALL.id / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="which holds something else"):
        RunStore(tmp_path).write(run_of(SMALL))
    assert [path.name for path in tmp_path.iterdir()] == [SMALL.id]


def test_a_file_is_not_a_folder_of_runs(tmp_path):
    (tmp_path / "data.csv").touch()
    with pytest.raises(ValueError, match=r"in a folder, but .*data\.csv is a file"):
        RunStore(tmp_path / "data.csv")


def test_what_the_killed_left_is_swept_after_an_hour(tmp_path):
    """Folders of runs and single files, whatever way the clock jumped meanwhile."""
    for name, age in (("old", 4000), ("new", 10), ("future", -4000), ("soon", -10)):
        (tmp_path / f".{name}.tmp").mkdir()
        (tmp_path / f".{name}.json.1.tmp").touch()
        (tmp_path / f".{name}.1.tmp.npz").touch()
        for path in tmp_path.glob(f".{name}.*"):
            os.utime(path, (time.time() - age,) * 2)
    RunStore(tmp_path).sweep()
    kept = {
        f".{name}.{end}" for name in ("new", "soon") for end in ("tmp", "json.1.tmp", "1.tmp.npz")
    }
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_fifty_readers_never_see_a_half_written_run(tmp_path):
    """The notes of each run hold the sum of its logits, so that readers can check it."""
    store = RunStore(tmp_path)
    made = [synthetic_run(with_seed(seed), examples=400) for seed in range(6)]
    for run in made:
        run.notes = [repr(float(run.logits.sum()))]
    store.write(made[0])
    is_over, problems, reads = threading.Event(), [], []

    def keep_reading():
        while not is_over.is_set():
            try:
                for run in store.runs(has_predictions=True):
                    if run.notes != [repr(float(run.logits.sum()))]:
                        problems.append(f"{run.config.id} is not whole")
                    reads.append(run.config.seed)
            except Exception as error:
                problems.append(repr(error))

    readers = [threading.Thread(target=keep_reading) for _ in range(50)]
    for reader in readers:
        reader.start()
    for _ in range(2):
        for run in made[1:]:
            store.write(run)
        for run in made[1:]:
            store.forget(run)
    for run in made[1:]:
        store.write(run)
    is_over.set()
    for reader in readers:
        reader.join()
    assert not problems, problems[:3]
    assert len(reads) > 50
    assert len(store.runs()) == 6
    assert len(list(tmp_path.iterdir())) == 6
