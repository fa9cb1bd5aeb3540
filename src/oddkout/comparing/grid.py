"""A grid of runs: what is missing is performed, the longest first, and stored as it comes."""

from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import chain

from oddkout.comparing.config import RunConfig
from oddkout.comparing.executors import Executor, Job
from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore

# Called with runs done, runs in all, and the run that has just been stored: none at the start.
GridProgress = Callable[[int, int, Run | None], None]


def perform_grid(
    configs: Iterable[RunConfig],
    store: RunStore,
    *,
    executor: Executor | None = None,
    progress: GridProgress | None = None,
) -> list[Run]:
    """Perform those runs of a grid that are not stored yet; return all of them, in order.

    Every run is stored the moment it ends, by this process alone. Killed at any moment and called
    again, it goes on: nothing is lost but what was under way, and nothing is performed twice.
    A run that failed is stored, too, and not tried again; ``RunStore.forget_failed`` changes that.

    Args:
        configs: The grid.
        store: Where runs are kept.
        executor: Where they are performed; in processes of this machine if not given.
        progress: Called at the start, and whenever a run has been stored.
    """
    wanted = list(dict.fromkeys(configs))
    store.sweep()
    missing = store.missing(wanted)
    done = len(wanted) - len(missing)
    if progress is not None:
        progress(done, len(wanted), None)
    if missing:
        # Closed at once, whatever happens here, so that nothing is performed that nobody stores.
        with closing((executor or LocalExecutor())(jobs_of(missing))) as finished:
            for run in chain.from_iterable(finished):
                store.write(run)
                done += 1
                if progress is not None:
                    progress(done, len(wanted), run)
    return [store.read(config) for config in wanted]


def jobs_of(configs: Iterable[RunConfig]) -> list[Job]:
    """Configs grouped so that what trains alike trains once, the most work first.

    Args:
        configs: The configs, each once.
    """
    together: dict[RunConfig, list[RunConfig]] = {}
    for config in configs:
        together.setdefault(config.training, []).append(config)
    return sorted(map(tuple, together.values()), key=lambda job: -_work(job[0]))


# An example costs in a ResNet about so many times what it costs in the small CNN.
_MODEL_WORK = {"resnet18": 60, "resnet34": 120, "resnet18-narrow": 6, "resnet34-narrow": 12}


def _work(config: RunConfig) -> int:
    """Examples that a run forwards, as far as they can be compared."""
    forwarded = config.updates * config.examples * max(config.folds, 1)
    return forwarded * _MODEL_WORK.get(config.model, 1)
