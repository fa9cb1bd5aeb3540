"""One classifier from data to card: trained, calibrated as its method says, and evaluated."""

import platform
import sys
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import oddkout
from oddkout.artifact import Classifier, standardised
from oddkout.checks import Number, one_of
from oddkout.data import Data, as_tensor, split
from oddkout.evaluation import Evaluation, evaluate
from oddkout.methods import METHODS
from oddkout.models import build_model
from oddkout.randomness import keyed_generator
from oddkout.training import Progress, train


def fit_classifier(
    data: Data,
    *,
    method: str = "oko",
    k: int | None = None,
    model: str = "auto",
    updates: int = 800,
    examples: int = 30,
    learning_rate: Number = 0.1,
    validation_fraction: Number = 0.0,
    seed: int = 0,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Classifier, Evaluation]:
    """Train a classifier on the training part and evaluate it on the test part.

    Args:
        data: The data.
        method: Name of the method.
        k: Number of odd classes, for methods that draw sets; the method's own if not given.
        model: Name of the network, see ``build_model``.
        updates: Number of updates.
        examples: Number of examples in an update.
        learning_rate: Highest learning rate.
        validation_fraction: Share of every class of the training part to hold out, to choose the
            best state by; 0 trains on everything and keeps the last.
        seed: Key of all randomness.
        checkpoint: File to keep the state of training in.
        progress: Called with every new row of the log.
    """
    one_of("method", method, METHODS)
    how = METHODS[method]
    if k is not None:
        if how.loss != "sets":
            raise ValueError(f"{method} draws no sets, got k={k}; leave k out")
        # The odd-class head is made for one odd class: more have none, unless asked for.
        how = replace(how, k=k, head=how.head if k == 1 else "none")
    x, y = as_tensor(np.asarray(data.x_train[:])), torch.from_numpy(data.y_train)
    is_image = x.ndim == 4
    axes = (0, 2, 3)
    mean = x.mean(dim=axes).tolist() if is_image else [0.0]
    deviation = x.std(dim=axes).clamp_min(1e-6).tolist() if is_image else [1.0]
    x = standardised(x, mean=mean, deviation=deviation)
    network = build_model(
        model,
        shape=tuple(x.shape[1:]),
        classes=len(data.classes),
        generator=keyed_generator(seed, 0),
    )
    validation = None
    x_train, y_train = x, y
    if validation_fraction:
        first, second = split(data.y_train, fraction=validation_fraction, seed=seed)
        validation = (x[second], y[second])
        x_train, y_train = x[first], y[first]
    trained = train(
        network,
        x_train,
        y_train,
        method=how,
        classes=len(data.classes),
        updates=updates,
        examples=examples,
        sets=2 * examples,
        learning_rate=learning_rate,
        validation=validation,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )
    is_balanced = how.batches != "shuffled" or how.loss == "weighted"
    classifier = Classifier(
        model=trained.model,
        network=model,
        shape=tuple(x.shape[1:]),
        classes=data.classes,
        method=method,
        prior=_prior(y_train, len(data.classes), is_balanced),
        temperature=trained.calibrator.temperature.item(),
        mean=tuple(mean),
        deviation=tuple(deviation),
        encoder=data.encoder,
    )
    logits = trained.predict_logits(
        standardised(as_tensor(np.asarray(data.x_test[:])), mean=mean, deviation=deviation)
    )
    report = evaluate(
        logits,
        data.y_test,
        classes=data.classes,
        # Head, middle and tail are groups of classes: two classes have none.
        train_labels=data.y_train if len(data.classes) > 2 else None,
    )
    settings = {
        "k": how.k,
        "updates": updates,
        "examples": examples,
        "learning_rate": learning_rate,
        "validation_fraction": validation_fraction,
        "seed": seed,
    }
    classifier.details = {
        "data": {"name": data.name, "fingerprint": _fingerprint(x, y), "examples": len(y)},
        "settings": settings,
        "test": report.to_dict(),
        "log": trained.log,
        "versions": versions(),
    }
    return classifier, report


def versions() -> dict[str, str]:
    """What a result was made with."""
    return {
        "oddkout": oddkout.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "threads": str(torch.get_num_threads()),
    }


def _prior(labels: Tensor, classes: int, is_balanced: bool) -> tuple[float, ...]:
    """Class frequencies that a model trained on these labels predicts for."""
    if is_balanced:
        return (1 / classes,) * classes
    counts = labels.bincount(minlength=classes).double().clamp_min(1)
    return tuple((counts / counts.sum()).tolist())


def _fingerprint(x: Any, y: Any) -> str:
    """A hash of the training part, to tell whether two classifiers saw the same."""
    digest = blake2b(digest_size=16)
    digest.update(np.ascontiguousarray(x.numpy()).tobytes())
    digest.update(np.ascontiguousarray(y.numpy()).tobytes())
    return digest.hexdigest()
