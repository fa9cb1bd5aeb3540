"""Runs: their configs and ids, the folder they are kept in, grids of them, and what one does."""

import json
import os
import threading
import time
from dataclasses import asdict, fields, replace

import numpy as np
import pytest
import torch
from grids import SMALL, here, metrics, run_of

from oddkout import load_data
from oddkout.calibrators import TemperatureScaling
from oddkout.experiments import perform as performing
from oddkout.experiments.config import RunConfig
from oddkout.experiments.fingerprint import fingerprint, identified
from oddkout.experiments.grid import jobs_of, perform_grid
from oddkout.experiments.perform import check, perform, prepared_for
from oddkout.experiments.recipe import folds_for
from oddkout.experiments.run import Run, failed_runs
from oddkout.experiments.store import RunStore
from oddkout.experiments.tuning import perform_tuned


def with_predictions(config, *, rows=5):
    run = run_of(config)
    run.logits = np.full((rows, 10), config.seed, dtype=np.float32)
    run.labels = np.arange(rows) % 10
    return run


# Configs


def test_an_id_is_the_same_whatever_the_order_of_fields_and_the_spelling_of_numbers():
    backwards = dict(reversed(asdict(SMALL).items()))
    assert RunConfig.from_dict(backwards).id == SMALL.id
    read_back = RunConfig.from_dict(json.loads(json.dumps(asdict(SMALL))))
    assert read_back == SMALL
    assert read_back.id == SMALL.id
    assert replace(SMALL, learning_rate=1).id == replace(SMALL, learning_rate=1.0).id


CHANGES = {
    "data": "mnist",
    "fingerprint": "f",
    "target": "t",
    "test": "u",
    "test_size": 0.3,
    "image_size": 8,
    "categorical": ("c",),
    "distribution": "uniform",
    "train_examples": 100,
    "population": "train",
    "method": "bb",
    "k": 2,
    "head": False,
    "folds": 0,
    "seed": 1,
    "model": "cnn",
    "layout": "paper",
    "optimiser": "adamw",
    "averaging": 0.9,
    "flip": True,
    "compiled": True,
    "mixed_precision": True,
    "clip_norm": None,
    "clip_value": 1.0,
}


def test_every_field_changes_the_id():
    ids = {SMALL.id}
    for part in fields(RunConfig):
        value = getattr(SMALL, part.name)
        changed = CHANGES[part.name] if part.name in CHANGES else value + 1
        ids.add(replace(SMALL, **{part.name: changed}).id)
    assert len(ids) == len(fields(RunConfig)) + 1


def test_unknown_keys_are_refused():
    with pytest.raises(ValueError, match=r"no \['colour'\]; it was written by another version"):
        RunConfig.from_dict(asdict(SMALL) | {"colour": "red"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"folds": 1}, "folds, unless it is 0 for none, must be at least 2, got 1"),
        ({"updates": 0}, "updates must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, got 0.0"),
        ({"method": "okko"}, "method must be one of"),
        ({"method": "vanilla", "k": 1}, "vanilla draws no sets, got k=1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_is_run(change, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **change)


def test_data_are_known_by_their_content_not_by_their_path(tmp_path, monkeypatch):
    for folder in ("here", "there", "changed"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("x,y\n1,2\n" if folder != "changed" else "x,y\n")
    monkeypatch.chdir(tmp_path / "here")
    absolute, relative, moved, changed = (
        identified(replace(SMALL, data=str(path)))
        for path in (
            tmp_path / "here" / "a.csv",
            "a.csv",
            tmp_path / "there" / "a.csv",
            tmp_path / "changed" / "a.csv",
        )
    )
    assert absolute.id == relative.id == moved.id != changed.id
    assert relative.data == str(tmp_path / "here" / "a.csv"), "workers stand elsewhere"
    with_test = identified(replace(SMALL, data="a.csv", test="../changed/a.csv"))
    swapped = identified(replace(SMALL, data="../changed/a.csv", test="a.csv"))
    assert len({with_test.id, swapped.id, relative.id}) == 3
    assert identified(SMALL) == SMALL, "digits are digits everywhere"


def test_a_fingerprint_of_a_folder_sees_names_and_contents(tmp_path):
    def folder(name, **files):
        for path, content in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return fingerprint(tmp_path / name)

    first = folder("first", a="1", b="2")
    assert folder("same", b="2", a="1") == first
    others = [
        folder("swapped", a="2", b="1"),
        folder("renamed", a="1", c="2"),
        folder("one", a="1"),
        folder("glued", a="1b2"),
        folder("nested", **{"a": "1", "d/b": "2"}),
    ]
    assert len({first, *others}) == 6


# The folder of runs


def test_a_run_comes_back_as_it_was_written(tmp_path):
    store = RunStore(tmp_path / "runs")
    run = with_predictions(replace(SMALL, categorical=("a", "b")))
    run.classes, run.seconds, run.temperature = ("x", "y"), {"train": 1.5}, 0.75
    place = store.write(run)
    assert place.name == run.config.id
    assert run.config in store
    found = store.read(run.config, has_predictions=True)
    assert found.to_dict() == run.to_dict()
    assert np.array_equal(found.logits, run.logits)
    assert np.array_equal(found.labels, run.labels)
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
    place = store.write(with_predictions(SMALL))
    (place / file).write_bytes(content)
    with pytest.raises(ValueError, match=f"{file} .*remove the folder to perform it again"):
        store.runs(has_predictions=True)


def test_predictions_that_are_gone_are_named(tmp_path):
    store = RunStore(tmp_path)
    (store.write(with_predictions(SMALL)) / "predictions.npz").unlink()
    assert store.read(SMALL).value("nll") == 0.5
    with pytest.raises(ValueError, match=r"predictions\.npz does not hold"):
        store.read(SMALL, has_predictions=True)


def test_a_copy_of_a_run_is_not_counted(tmp_path):
    place = RunStore(tmp_path).write(run_of(SMALL))
    place.with_name("copy").mkdir()
    place.with_name("copy").joinpath("run.json").write_text((place / "run.json").read_text())
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
    with pytest.raises(FileExistsError, match="is where a run belongs, but holds none"):
        RunStore(tmp_path).write(run_of(SMALL))
    assert [path.name for path in tmp_path.iterdir()] == [SMALL.id]


def test_what_the_killed_left_is_swept_after_an_hour(tmp_path):
    for name, age in (("old", 4000), ("new", 10)):
        (tmp_path / f".{name}.tmp").mkdir()
        os.utime(tmp_path / f".{name}.tmp", (time.time() - age,) * 2)
    RunStore(tmp_path).sweep()
    assert [path.name for path in tmp_path.iterdir()] == [".new.tmp"]


# Grids


def configs(methods, seeds=(0,)):
    return [replace(SMALL, method=method, seed=seed) for method in methods for seed in seeds]


def test_methods_that_train_alike_train_once():
    grid = configs(["vanilla", "bb", "bb+ts", "oko", "bb+ts-fit", "bb+ls"], seeds=(0, 1))
    jobs = jobs_of(grid)
    assert sorted(config for job in jobs for config in map(repr, job)) == sorted(map(repr, grid))
    together = [{config.method for config in job} for job in jobs]
    assert together.count({"bb", "bb+ts", "bb+ts-fit"}) == 2
    assert len(jobs) == 8
    assert all(len({config.seed for config in job}) == 1 for job in jobs)


def test_the_most_work_comes_first():
    updates = [10, 1000, 100]
    jobs = jobs_of(replace(SMALL, updates=count) for count in updates)
    assert [job[0].updates for job in jobs] == [1000, 100, 10]


def test_a_grid_performs_what_is_missing_and_nothing_else(tmp_path):
    store, performed, shown = RunStore(tmp_path), [], []

    def executor(jobs):
        for job in reversed(jobs):  # in whatever order
            performed.extend(job)
            yield [run_of(config) for config in job]

    grid = configs(["vanilla", "bb", "bb+ts"], seeds=(0, 1))
    store.write(run_of(grid[1], nll=9.0))
    runs = perform_grid(
        [*grid, grid[0]], store, executor=executor, progress=lambda *all: shown.append(all[:2])
    )
    assert [run.config for run in runs] == grid
    assert sorted(map(repr, performed)) == sorted(repr(c) for c in grid if c != grid[1])
    assert runs[1].value("nll") == 9.0
    assert shown == [(done, 6) for done in range(1, 7)]
    performed.clear()
    perform_grid(grid, store, executor=executor)
    assert performed == []


def test_an_interrupted_grid_ends_its_executor_at_once_and_keeps_what_is_done(tmp_path):
    is_closed = []

    def executor(jobs):
        try:
            for job in jobs:
                yield [run_of(config) for config in job]
        finally:
            is_closed.append(True)

    def interrupt(done, total, run):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        perform_grid(
            configs(["vanilla"], range(5)),
            RunStore(tmp_path),
            executor=executor,
            progress=interrupt,
        )
    assert is_closed, f"while {caught.traceback[-1]} is still held"
    assert len(RunStore(tmp_path).runs()) == 2


def test_failed_runs_stay_until_they_are_forgotten(tmp_path):
    store, grid = RunStore(tmp_path), configs(["vanilla", "bb"])

    def failing(jobs):
        for job in jobs:
            yield failed_runs(job, "no luck")

    def working(jobs):
        for job in jobs:
            yield [run_of(config) for config in job]

    store.write(run_of(grid[0], nll=7.0))
    assert [run.reason for run in perform_grid(grid, store, executor=failing)] == ["", "no luck"]
    assert [run.reason for run in perform_grid(grid, store, executor=working)] == ["", "no luck"]
    store.forget_failed([*grid, replace(SMALL, seed=5)])
    runs = perform_grid(grid, store, executor=working)
    assert [run.value("nll") for run in runs] == [7.0, 0.5], "what worked is not touched"


# Tuning


def test_rates_are_chosen_out_of_fold_on_the_first_seed_without_a_look_at_the_test_part():
    best, asked = {"vanilla": 0.1, "oko": 0.3}, []

    class Poisoned(dict):
        def __getitem__(self, metric):
            raise AssertionError("tuning looked at the test part")

        get = items = values = keys = __iter__ = __getitem__

    def perform_noted(wanted):
        asked.append(wanted)
        runs = [
            run_of(config, out_of_fold=abs(config.learning_rate - best[config.method]))
            for config in wanted
        ]
        for run in runs:
            run.as_trained = run.tempered = Poisoned()
            run.logits = run.labels = None
        return runs

    final, tuning = perform_tuned(
        configs(["vanilla", "oko"]),
        learning_rates=[0.1, 0.2, 0.3],
        seeds=[4, 5],
        perform=perform_noted,
    )
    assert [(run.config.method, run.config.learning_rate, run.config.seed) for run in final] == [
        ("vanilla", 0.1, 4),
        ("vanilla", 0.1, 5),
        ("oko", 0.3, 4),
        ("oko", 0.3, 5),
    ]
    assert {config.seed for config in asked[0]} == {4}
    assert len(tuning) == 6


def test_a_rate_that_fails_is_no_candidate():
    def perform_high_rates_badly(wanted):
        return [
            run_of(config, out_of_fold=config.learning_rate)
            if config.learning_rate >= 0.2
            else failed_runs([config], "diverged")[0]
            for config in wanted
        ]

    final, _ = perform_tuned(
        [SMALL], learning_rates=[0.1, 0.3, 0.2], seeds=[0], perform=perform_high_rates_badly
    )
    assert final[0].config.learning_rate == 0.2


def test_runs_stored_from_another_path_are_used(tmp_path):
    """The id is the same, the config is not."""
    old, new = (replace(SMALL, data=path, fingerprint="f") for path in ("/old.csv", "/new.csv"))
    store = RunStore(tmp_path)
    for rate in (0.1, 0.2):
        store.write(run_of(replace(old, learning_rate=rate), out_of_fold=1 - rate))

    def none(jobs):
        raise AssertionError("everything is there")

    final, _ = perform_tuned(
        [new],
        learning_rates=[0.1, 0.2],
        seeds=[0],
        perform=lambda wanted: perform_grid(wanted, store, executor=none),
    )
    assert final[0].config.learning_rate == 0.2


# What a run does


@pytest.fixture(scope="module")
def small_runs():
    """Runs of one training, and their prepared data, with ``population="train"``."""
    config = replace(SMALL, population="train", folds=3)
    job = [replace(config, method=name) for name in ("bb", "bb+ts", "bb+ts-fit")]
    return config, dict(zip(("bb", "bb+ts", "bb+ts-fit"), perform(job), strict=True))


def by_hand(config, method):
    """Logits of the test part, by the recipe alone."""
    prepared = prepared_for(config)
    trained = config.train(
        prepared.x, prepared.y, method=replace(config, method=method).how, classes=10, seed=0
    )
    return prepared, trained.predict_logits(prepared.x_test)


def test_balanced_methods_are_corrected_to_the_population_by_bayes_rule(small_runs):
    config, runs = small_runs
    prepared, logits = by_hand(config, "bb")
    share = prepared.y.bincount() / len(prepared.y)
    odds = logits.double().softmax(dim=1) * share  # of a uniform prior, times the new one
    expected = odds / odds.sum(dim=1, keepdim=True)
    found = torch.from_numpy(runs["bb"].logits).double().softmax(dim=1)
    assert torch.allclose(found, expected, atol=1e-5)
    assert share.max() > 5 * share.min(), "there is something to correct"

    for changed in ({"population": "uniform", "method": "bb"}, {"method": "vanilla"}):
        other = replace(config, folds=0, **changed)
        _, logits = by_hand(other, other.method)
        assert np.array_equal(perform([other])[0].logits, logits.numpy())


def test_the_temperature_is_fitted_to_out_of_fold_predictions(small_runs):
    """A loop over the folds, written out; two thirds of the examples get two thirds of updates."""
    config, runs = small_runs
    prepared = prepared_for(config)
    folds = folds_for(prepared.y, folds=3, seed=0)
    shorter = replace(config, updates=round(config.updates * 2 / 3))
    logits = torch.empty(len(prepared.y), 10)
    for fold in range(3):
        inside = folds == fold
        trained = shorter.train(
            prepared.x[~inside],
            prepared.y[~inside],
            method=replace(config, method="bb").how,
            classes=10,
            seed=1_000_003 + fold,
        )
        logits[inside] = trained.predict_logits(prepared.x[inside])
    logits += (prepared.y.bincount() / len(prepared.y)).log()
    temperature = TemperatureScaling().fit(logits, prepared.y).temperature.item()
    assert runs["bb"].temperature == pytest.approx(temperature, rel=1e-5)

    total = 0.0
    for fold in range(3):
        inside = folds == fold
        own = TemperatureScaling().fit(logits[~inside], prepared.y[~inside]).temperature
        log_probs = (logits[inside] / own).log_softmax(dim=1)
        total -= log_probs.gather(1, prepared.y[inside, None]).sum().item()
    assert runs["bb"].out_of_fold["nll"] == pytest.approx(total / len(folds), rel=1e-5)


def test_methods_that_train_once_differ_by_their_temperatures_alone(small_runs):
    _, runs = small_runs
    trained, temperature = runs["bb"].logits, runs["bb"].temperature
    assert np.allclose(runs["bb+ts"].logits, trained / 2.0)
    assert np.allclose(runs["bb+ts-fit"].logits, trained / temperature, rtol=1e-5)
    for run in runs.values():
        for is_tempered, logits in ((False, run.logits), (True, trained / temperature)):
            log_probs = torch.from_numpy(logits).log_softmax(dim=1).numpy()
            nll = -log_probs[np.arange(len(run.labels)), run.labels].mean()
            assert run.value("nll", is_tempered=is_tempered) == pytest.approx(nll, rel=1e-5)


def test_training_that_diverges_gives_its_reason():
    config = replace(SMALL, method="vanilla", learning_rate=1e30, folds=0)
    run = perform([config])[0]
    assert run.has_failed
    assert run.reason.startswith("training stopped at update")
    assert "lower the learning rate" in run.reason


@pytest.mark.parametrize("error", [MemoryError("no memory"), KeyError("bug"), OSError("disk")])
def test_whatever_goes_wrong_becomes_the_reason_of_the_run(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(performing, "prepared_for", fail)
    runs = perform([SMALL, replace(SMALL, method="bb")])
    assert [run.config.method for run in runs] == ["oko", "bb"]
    if isinstance(error, OSError):
        assert runs[0].reason == "disk"
    else:
        assert runs[0].reason.splitlines()[0] == f"{type(error).__name__}: {error}"
        assert "Traceback" in runs[0].reason


def test_bad_data_and_models_are_found_before_a_grid_begins(tmp_path):
    with pytest.raises(FileNotFoundError, match="did you mean digits"):
        check(replace(SMALL, data="digit"))
    with pytest.raises(ValueError, match="mlpp"):
        check(replace(SMALL, model="mlpp"))
    check(SMALL)


def test_a_seed_of_own_data_has_its_own_split(tmp_path):
    data = load_data("digits")
    np.savez(tmp_path / "own.npz", x=data.x_test, y=data.y_test)
    first, second = (
        prepared_for(replace(SMALL, data=str(tmp_path / "own.npz"), distribution="all", seed=seed))
        for seed in (0, 1)
    )
    assert len(first.x_test) == len(second.x_test) == pytest.approx(0.2 * len(data.y_test), abs=5)
    assert not torch.equal(first.y_test, second.y_test)


def test_a_metric_without_a_value_reads_as_nan():
    run = Run(config=SMALL, as_trained=metrics(nll=None))
    assert np.isnan(run.value("nll"))


def test_a_grid_of_real_runs_is_stored_whole(tmp_path):
    store, grid = RunStore(tmp_path), configs(["vanilla", "bb"])
    runs = perform_grid(grid, store, executor=here)
    for run in store.runs(has_predictions=True):
        assert run.logits.shape == (450, 10)
        predicted = run.logits.argmax(axis=1)
        assert run.value("accuracy") == pytest.approx((predicted == run.labels).mean())
    assert all(run.value("accuracy") > 0.5 for run in runs), "chance is 0.1"
