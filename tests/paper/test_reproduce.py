"""The grid of a preset: choices are made first, and only missing runs are performed."""

from dataclasses import replace

import pytest
from made_up import DEFAULTS

from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.paper.lines import CommittedStore, merge_lines, read_lines
from oddkout.paper.presets import preset_named
from oddkout.paper.protocol import PROTOCOL
from oddkout.paper.reproduce import final_configs, planned, reproduce
from oddkout.paper.variants import variant_of

PART = preset_named(
    "cifar", datasets=["cifar10"], variants=["vanilla", "weighted", "oko", "pair"], seeds=1,
)  # fmt: skip


def stub_executor(performed, *, better=0.2, stop_after=None):
    """Performs nothing: runs whose out-of-fold NLL is lowest at the rate ``better``."""

    def execute(jobs):
        for job in jobs:
            if stop_after is not None and len(performed) >= stop_after:
                raise KeyboardInterrupt
            performed.extend(job)
            yield [
                Run(
                    config=config,
                    fold_metrics={"nll": 1 + abs(config.learning_rate - better)}
                    if config.folds
                    else {},
                    as_trained={name: {"value": value} for name, value in DEFAULTS.items()},
                )
                for config in job
            ]

    return execute


def performed_by(folder, **options):
    """What a grid performs: the runs that make the choices, and the others."""
    choosing, final = [], []
    done = reproduce(
        PART, CommittedStore(folder, options.pop("lines", ())),
        executor=stub_executor(final, **options), chooser=stub_executor(choosing, **options),
    )  # fmt: skip
    return done, choosing, final


def test_choices_are_made_on_other_seeds_and_used_by_every_size_of_their_group(tmp_path):
    done, choosing, final = performed_by(tmp_path)
    assert {config.seed for config in choosing} == {0, 1}
    assert {config.seed for config in final} == {40}
    assert {config.learning_rate for config in final} == {0.2}
    assert {config.train_examples for config in final} == {400, 1000}
    assert len(final) == len(set(final))
    assert {run.protocol for run in (*done.runs, *done.compared)} == {PROTOCOL}
    assert len(done.runs) == len(PART.entries) == len(final_configs(PART, {}))
    stored = RunStore(tmp_path).runs()
    assert {run.config for run in stored} == {run.config for run in done.runs}
    assert [len(configs) for configs in planned(PART)] == [len(choosing), len(final)]


def test_on_uniform_classes_weighted_is_vanilla_and_is_not_trained_again(tmp_path):
    done, _, final = performed_by(tmp_path)
    trained = {(config.distribution, config.method) for config in final}
    assert ("uniform", "weighted") not in trained
    assert ("heavy-tailed", "weighted") in trained
    copies = [
        run
        for run in done.runs
        if (run.config.distribution, run.config.method) == ("uniform", "weighted")
    ]
    assert len(copies) == 1
    assert {variant_of(run.config) for run in copies} == {"weighted"}


def test_an_interrupted_grid_resumes_without_loss_or_doubling(tmp_path):
    whole = performed_by(tmp_path / "whole")
    choosing, final = [], []
    store = RunStore(tmp_path / "interrupted")
    interruptions = 0
    while True:
        before = len(choosing), len(final)
        try:
            reproduce(
                PART, store,
                executor=stub_executor(final, stop_after=before[1] + 2),
                chooser=stub_executor(choosing, stop_after=before[0] + 4),
            )  # fmt: skip
            break
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions >= 8
    assert sorted(run.id for run in final) == sorted(run.id for run in whole[2])
    assert [run.to_dict() for run in store.runs()] == [
        run.to_dict() for run in RunStore(tmp_path / "whole").runs()
    ]
    assert performed_by(tmp_path / "interrupted")[1:] == ([], [])


def test_committed_lines_are_not_performed_again(tmp_path):
    done, choosing, final = performed_by(tmp_path / "a")
    merge_lines(tmp_path / "lines", done.runs[:5])
    _, again, rest = performed_by(tmp_path / "b", lines=read_lines(tmp_path / "lines"))
    assert len(again) == len(choosing)
    assert len(rest) == len(final) - 5


def test_runs_of_another_protocol_are_refused(tmp_path):
    store = RunStore(tmp_path)
    performed_by(tmp_path)
    run = store.runs()[0]
    store.forget(run)
    store.write(replace(run, protocol="0123"))
    with pytest.raises(ValueError, match=r"must follow one protocol, got .*0123 \(1 runs\)"):
        performed_by(tmp_path)


def test_a_second_process_with_the_same_folder_is_refused(tmp_path, monkeypatch):
    def taken(folder):
        raise ValueError(f"another process performs the runs of {folder}")

    monkeypatch.setattr("oddkout.paper.reproduce.only_writer", taken)
    with pytest.raises(ValueError, match=f"another process performs the runs of {tmp_path}"):
        performed_by(tmp_path)


def test_a_grid_without_protocol_has_no_choices(tmp_path):
    smoke = preset_named("smoke", datasets=["digits"], variants=["oko"], seeds=1)
    final = []
    done = reproduce(smoke, RunStore(tmp_path), executor=stub_executor(final))
    assert len(final) == 2
    assert [run.protocol for run in done.runs] == ["", ""]
