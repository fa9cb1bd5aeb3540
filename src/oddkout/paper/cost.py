"""The cost of runs in CPU-seconds: of finished runs, or estimated by a short measurement."""

import time
from collections.abc import Iterable, Sequence
from functools import lru_cache

import torch

from oddkout.comparing.config import RunConfig
from oddkout.comparing.grid import jobs_of
from oddkout.comparing.run import Run
from oddkout.data import KNOWN
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import train_network
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import Trained, predict_logits

_SHAPES = {"cifar10": (3, 32, 32), "cifar100": (3, 32, 32), "digits": (1, 8, 8)}
_TEST_EXAMPLES = {"digits": 450}

# A run evaluates 10,000 predictions, with 200 replicates.
_EVALUATION_SECONDS = 0.5


def spent_seconds(runs: Iterable[Run]) -> float:
    """CPU-seconds of finished runs; a training that several runs share counts once.

    Runs of older versions recorded elapsed time only. Each used one thread, so their elapsed time
    is an upper bound of their CPU-seconds.
    """
    trained: dict[RunConfig, float] = {}
    for run in runs:
        seconds = run.seconds
        trained[run.config.training] = seconds.get("cpu", sum(seconds.values()))
    return sum(trained.values(), 0.0)


def cost_sentence(runs: Sequence[Run]) -> str:
    """The CPU-hours of runs, in a sentence."""
    return f"{len(runs)} runs took {spent_seconds(runs) / 3600:.1f} CPU-hours."


def estimated_seconds(configs: Sequence[RunConfig]) -> float:
    """CPU-seconds of runs, estimated by timing a few updates of each network on random images."""
    speed = lru_cache(_measured)
    total = 0.0
    for job in jobs_of(configs):
        config = job[0]
        shape = _SHAPES.get(config.data, (1, 28, 28))
        classes = len(KNOWN[config.data].classes)
        # Batches of 20 cost more per example; the cost of larger ones hardly depends on their size.
        batch = 20 if config.examples < 40 else 60
        training, predicting = speed(config.model, shape, classes, batch, config.mixed_precision)
        total += training * _trained_on(config)
        if config.members == "single":  # others make choices, without the test part
            tested = _TEST_EXAMPLES.get(config.data, 10_000)
            total += predicting * tested + _EVALUATION_SECONDS * len(job) * tested / 10_000
    return total


def _trained_on(config: RunConfig) -> float:
    """Training examples that a run forwards.

    A network without one of n folds makes as many passes over fewer examples; with a single fold,
    it lacks a tenth.
    """
    networks = 0.0 if config.members == "folds" else 1.0
    if config.folds:
        networks += max(config.folds - 1, 0.9)
    return config.updates * config.examples * networks


def _measured(
    model: str,
    shape: tuple[int, ...],
    classes: int,
    examples: int,
    mixed_precision: bool | None,
) -> tuple[float, float]:
    """CPU-seconds per example for training and for predicting, on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        labels = torch.arange(2 * max(classes, examples)) % classes
        x = torch.randn(len(labels), *shape, generator=torch.Generator().manual_seed(0))

        def trained(updates: int) -> tuple[float, Trained]:
            recipe = Recipe(
                model=model,
                updates=updates,
                examples=examples,
                compiled=False,
                mixed_precision=mixed_precision,
            )
            began = time.process_time()
            result = train_network(
                x, labels, recipe=recipe, method=METHODS["bb"], classes=classes, seed=0
            )
            return time.process_time() - began, result

        few, more = (1, 2) if model.startswith("resnet") else (5, 20)
        trained(1)  # warm up
        short, _ = trained(few)
        long, classifier = trained(more)
        began = time.process_time()
        predict_logits(classifier.model, x)
        predicting = (time.process_time() - began) / len(x)
        return max(long - short, 1e-9) / (more - few) / examples, predicting
    finally:
        torch.set_num_threads(threads)
