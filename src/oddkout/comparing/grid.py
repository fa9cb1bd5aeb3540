"""Grids of runs: perform the missing runs, the longest first, and store each when it ends."""

from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import chain

from oddkout.comparing.config import RunConfig
from oddkout.comparing.executors import Executor, Job
from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore

# Called with the number of finished runs, the total, and the run just stored (None at the start).
GridProgress = Callable[[int, int, Run | None], None]


def perform_grid(
    configs: Iterable[RunConfig],
    store: RunStore,
    *,
    executor: Executor | None = None,
    progress: GridProgress | None = None,
) -> list[Run]:
    """Perform the runs of a grid that are not stored yet; return all of its runs, in order.

    Every run is stored as soon as it ends, by this process alone. If this process is killed, call
    the function again to resume: only unfinished runs are lost, and nothing is performed twice.
    Failed runs are stored and not retried, unless ``RunStore.forget_failed`` removes them.

    Args:
        executor: Where to perform runs; by default in processes on this machine.
        progress: Called at the start and after each stored run.
    """
    wanted = list(dict.fromkeys(configs))
    store.sweep()
    missing = store.missing(wanted)
    done = len(wanted) - len(missing)
    if progress is not None:
        progress(done, len(wanted), None)
    if missing:
        # Close the executor at once on any error, so that it performs no run that is not stored.
        with closing((executor or LocalExecutor())(jobs_of(missing))) as finished:
            for run in chain.from_iterable(finished):
                store.write(run)
                done += 1
                if progress is not None:
                    progress(done, len(wanted), run)
    return [store.read(config) for config in wanted]


def jobs_of(configs: Iterable[RunConfig]) -> list[Job]:
    """Group configs that share their training into jobs; sort jobs by work, the most first.

    Args:
        configs: Distinct configs.
    """
    together: dict[RunConfig, list[RunConfig]] = {}
    for config in configs:
        together.setdefault(config.training, []).append(config)
    return sorted(map(tuple, together.values()), key=lambda job: -_work(job[0]))


# Cost of an example relative to the small CNN, roughly.
_MODEL_WORK = {"resnet18": 60, "resnet34": 120, "resnet18-narrow": 6, "resnet34-narrow": 12}


def _work(config: RunConfig) -> int:
    """Rough cost of a run: forwarded examples, weighted by the size of the network."""
    forwarded = config.updates * config.examples * max(config.folds, 1)
    return forwarded * _MODEL_WORK.get(config.model, 1)
