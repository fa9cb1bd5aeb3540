"""What runs cost in CPU-seconds: told from finished runs, or from a short measurement."""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import torch

from oddkout.comparing.config import RunConfig
from oddkout.comparing.grid import jobs_of
from oddkout.comparing.run import Run
from oddkout.data import KNOWN
from oddkout.fitting.methods import METHODS
from oddkout.fitting.pipeline import train_network
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import Trained, predict_logits

_SHAPES = {"cifar10": (3, 32, 32), "cifar100": (3, 32, 32), "digits": (1, 8, 8)}
_TEST_EXAMPLES = {"digits": 450}

# Two evaluations of 10,000 predictions with 200 replicates, as ``perform`` makes them.
_EVALUATION_SECONDS = 1.5


def spent_seconds(runs: Iterable[Run]) -> float:
    """CPU-seconds of finished runs; what trained once is counted once.

    Runs of an older version know only how long they took; each had one thread, so that this is at
    least what they cost.

    Args:
        runs: The runs.
    """
    trained: dict[RunConfig, float] = {}
    for run in runs:
        seconds = run.seconds
        trained[run.config.training] = seconds.get("cpu", sum(seconds.values()))
    return sum(trained.values(), 0.0)


def extrapolated_seconds(runs: Sequence[Run], plan: Mapping[RunConfig, int]) -> float | None:
    """CPU-seconds that other runs would take, from what finished ones took; none without any.

    So much per update, so much per example trained on, folds included, and so much per run for the
    predictions of the test part and their evaluation: the least squares that are not negative. Runs
    of an older version, which do not know their CPU-seconds, have no say.

    Args:
        runs: Finished runs, of the same network.
        plan: The others, each with how many there are that differ only in seed and rate.
    """
    from scipy.optimize import nnls

    spent = {run.config: run.seconds["cpu"] for run in runs if "cpu" in run.seconds}
    if not spent:
        return None
    known = [job[0] for job in jobs_of(spent)]
    prices, _ = nnls([_amounts(config) for config in known], [spent[config] for config in known])
    jobs = {job[0]: plan[job[0]] for job in jobs_of(plan)}
    return float(sum(count * (prices @ _amounts(config)) for config, count in jobs.items()))


def estimated_seconds(configs: Sequence[RunConfig]) -> float:
    """CPU-seconds that runs will take, from a few updates of each network on random images.

    Args:
        configs: The runs.
    """
    speed = lru_cache(_measured)
    total = 0.0
    for job in jobs_of(configs):
        config = job[0]
        shape = _SHAPES.get(config.data, (1, 28, 28))
        classes = len(KNOWN[config.data].classes)
        # Batches of 20 cost more per example than others, which hardly differ.
        training, predicting = speed(
            config.model, shape, classes, 20 if config.examples < 40 else 60
        )
        tested = _TEST_EXAMPLES.get(config.data, 10_000)
        total += training * _trained_on(config) + predicting * tested
        total += _EVALUATION_SECONDS * len(job) * tested / 10_000
    return total


def _amounts(config: RunConfig) -> tuple[int, int, int]:
    """What a run pays for: its updates, the examples in them, and itself."""
    examples = _trained_on(config)
    return examples // config.examples, examples, 1


def _trained_on(config: RunConfig) -> int:
    """Examples that a run trains on; each of n folds passes over the others, (n - 1) / n of all."""
    return config.updates * config.examples * max(config.folds, 1)


def _measured(
    model: str, shape: tuple[int, ...], classes: int, examples: int
) -> tuple[float, float]:
    """CPU-seconds of training and of predicting an example, on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        labels = torch.arange(2 * max(classes, examples)) % classes
        x = torch.randn(len(labels), *shape, generator=torch.Generator().manual_seed(0))

        def trained(updates: int) -> tuple[float, Trained]:
            recipe = Recipe(model=model, updates=updates, examples=examples, compiled=False)
            began = time.process_time()
            result = train_network(
                x, labels, recipe=recipe, method=METHODS["bb"], classes=classes, seed=0
            )
            return time.process_time() - began, result

        few, more = (1, 2) if model.startswith("resnet") else (5, 20)
        trained(1)  # the first one pays for more than itself
        short, _ = trained(few)
        long, classifier = trained(more)
        began = time.process_time()
        predict_logits(classifier.model, x)
        predicting = (time.process_time() - began) / len(x)
        return max(long - short, 1e-9) / (more - few) / examples, predicting
    finally:
        torch.set_num_threads(threads)
