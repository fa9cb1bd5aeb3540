"""The grid of a preset: rates are chosen first, and only missing runs are performed."""

from grids import metrics
from made_up import TEN_SHOT, made_up

from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.paper.lines import CommittedStore, merge_lines, read_lines
from oddkout.paper.presets import preset_named
from oddkout.paper.reproduce import planned, reproduce
from oddkout.paper.settings import Setting


def stub_executor(better, performed):
    """Performs nothing: runs whose out-of-fold NLL is lowest at the rate ``better``."""

    def execute(jobs):
        for job in jobs:
            performed.extend(job)
            yield [
                Run(
                    config=config,
                    fold_metrics={"nll": abs(config.learning_rate - better)}
                    if config.folds
                    else {},
                    as_trained=metrics(),
                    tempered=metrics(),
                )
                for config in job
            ]

    return execute


def test_rates_are_chosen_at_one_size_and_kept_at_the_others(tmp_path):
    preset = preset_named(
        "few-shot", datasets=["mnist"], distributions=["uniform"], sizes=[10, 50],
        variants=["oko", "bb"], seeds=2,
    )  # fmt: skip
    performed = []
    runs = reproduce(preset, RunStore(tmp_path), executor=stub_executor(0.2, performed))
    assert len(performed) == len(set(performed)) == len(planned(preset)) == 2 * (2 * 2 + 1)
    rates = {(run.config.train_examples, run.config.seed, run.config.learning_rate) for run in runs}
    assert rates == {(100, 0, 0.1), (100, 0, 0.2), (100, 1, 0.2), (500, 0, 0.2), (500, 1, 0.2)}
    assert {run.config.folds for run in runs if run.config.train_examples == 500} == {0}


def test_a_part_of_a_grid_uses_the_rates_of_the_whole(tmp_path):
    """One data set alone would choose 0.1; the other is surer of 0.2."""
    fashion = Setting("fashion_mnist", "uniform", 10)
    known = [
        made_up(setting, "oko", rate=rate, nll=nll)
        for setting, nll_by_rate in (
            (TEN_SHOT, {0.1: 0.5, 0.2: 0.6}),
            (fashion, {0.1: 2.0, 0.2: 1.0}),
        )
        for rate, nll in nll_by_rate.items()
    ]
    part = preset_named(
        "few-shot", datasets=["mnist"], distributions=["uniform"], sizes=[50], variants=["oko"],
        seeds=1,
    )  # fmt: skip
    for lines, rate in ((known[:2], 0.1), (known, 0.2)):
        performed = []
        store = CommittedStore(tmp_path / str(rate), lines)
        reproduce(part, store, executor=stub_executor(0.1, performed))
        assert [config.learning_rate for config in performed] == [rate]


def test_committed_lines_are_not_performed_again(tmp_path):
    preset = preset_named(
        "few-shot", datasets=["mnist"], distributions=["uniform"], sizes=[10], variants=["oko"],
        seeds=3,
    )  # fmt: skip
    first = []
    runs = reproduce(preset, RunStore(tmp_path / "a"), executor=stub_executor(0.1, first))
    merge_lines(tmp_path / "lines", runs[:2])
    second = []
    store = CommittedStore(tmp_path / "b", read_lines(tmp_path / "lines"))
    again = reproduce(preset, store, executor=stub_executor(0.1, second))
    assert len(first) == 4
    assert len(second) == 2
    assert {run.config.id for run in again} == {run.config.id for run in runs}
    assert {run.config.id for run in store.all_runs()} == {run.config.id for run in runs}
