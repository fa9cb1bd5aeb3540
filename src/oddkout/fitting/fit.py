"""One classifier from data to card: trained, calibrated as its method says, and evaluated."""

from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from oddkout.calibrators import cross_fitted_temperature
from oddkout.checks import Number
from oddkout.data import Data, as_tensor, split
from oddkout.evaluation import Evaluation, evaluate
from oddkout.fitting.classifier import Classifier, standardised
from oddkout.fitting.methods import chosen_method
from oddkout.fitting.recipe import FOLDS, Recipe, folds_for, suited_to
from oddkout.fitting.training import Progress
from oddkout.version import versions


def fit_classifier(
    data: Data,
    *,
    method: str = "oko",
    k: int | None = None,
    head: bool | None = None,
    recipe: Recipe | None = None,
    folds: int = 0,
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
        head: Whether there is an odd-class head; the method's own if not given.
        recipe: How it is trained; as its number of examples asks for if not given.
        folds: Number of folds for an out-of-fold temperature, each of which trains a model more;
            0 for the temperature of the method. One that is to be fitted takes 5 unless data are
            held out.
        validation_fraction: Share of every class of the training part to hold out, to choose the
            best state by; 0 trains on everything and keeps the last.
        seed: Key of all randomness.
        checkpoint: File to keep the state of training in.
        progress: Called with every new row of the log.
    """
    recipe = recipe or Recipe(**suited_to(data.class_sizes))
    how = chosen_method(method, k=k, head=head)
    if folds and isinstance(how.temperature, float | int):
        raise ValueError(
            f"{method} has a temperature of its own, got folds={folds}; leave the folds out"
        )
    if how.temperature == "fit" and not validation_fraction:
        folds = folds or FOLDS
    if folds:
        how = replace(how, temperature="none")
    given = np.asarray(data.x_train[:])
    x, y = as_tensor(given), torch.from_numpy(data.y_train)
    is_image = x.ndim == 4
    axes = (0, 2, 3)
    mean = x.mean(dim=axes).tolist() if is_image else [0.0]
    deviation = x.std(dim=axes).clamp_min(1e-6).tolist() if is_image else [1.0]
    x = standardised(x, mean=mean, deviation=deviation)
    validation = None
    x_train, y_train = x, y
    if validation_fraction:
        first, second = split(data.y_train, fraction=validation_fraction, seed=seed)
        validation = (x[second], y[second])
        x_train, y_train = x[first], y[first]
    trained = recipe.train(
        x_train,
        y_train,
        method=how,
        classes=len(data.classes),
        validation=validation,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )
    if folds:
        numbers = folds_for(y_train, folds=folds, seed=seed)
        if numbers is None:
            raise ValueError(
                f"{folds} folds need so many examples of every class that each fold leaves two of "
                "them, but a class has fewer; leave the folds out"
            )
        held_out = recipe.out_of_fold_logits(
            x_train, y_train, folds=numbers, method=how, classes=len(data.classes), seed=seed
        )
        fit = cross_fitted_temperature(
            held_out, y_train, folds=numbers, is_balanced=how.is_balanced
        )
        trained = replace(trained, calibrator=fit.calibrator)
    classifier = Classifier(
        model=trained.model,
        network=recipe.model,
        shape=tuple(x.shape[1:]),
        classes=data.classes,
        method=method,
        prior=_prior(y_train, len(data.classes), how.is_balanced),
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
    settings = asdict(recipe) | {
        "k": how.k,
        "head": how.head,
        "folds": folds,
        "validation_fraction": validation_fraction,
        "seed": seed,
    }
    classifier.details = {
        "data": {
            "name": data.name,
            "fingerprint": _fingerprint(x, y),
            "examples": len(y),
            "dtype": str(given.dtype),
        },
        "settings": settings,
        "test": report.to_dict(),
        "log": trained.log,
        "versions": versions(),
    }
    return classifier, report


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
