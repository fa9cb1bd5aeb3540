"""``oko.fit``: fit, calibrate and evaluate one classifier."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np

from oddkout.checks import Number, at_least, one_of
from oddkout.data import Data, load_data
from oddkout.data.sources import DataSource
from oddkout.evaluation import Evaluation, evaluate
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.folds import FOLDS
from oddkout.fitting.methods import chosen_method
from oddkout.fitting.pipeline import Fitted, Population, fit_network
from oddkout.fitting.preparation import Prepared, prepared
from oddkout.fitting.recipe import LEARNING_RATES, Recipe, changed_recipe
from oddkout.fitting.training import Progress
from oddkout.prior import PriorLedger, uniform
from oddkout.version import versions

# Number of bins of the calibration error, as in the paper.
BINS = 10


def fit(
    source: DataSource,
    *,
    method: str = "oko",
    k: int | None = None,
    head: bool | None = None,
    recipe: Mapping[str, Any] | None = None,
    learning_rates: Sequence[Number] = LEARNING_RATES,
    folds: int = FOLDS,
    calibrate: Literal["folds", "none"] = "folds",
    seed: int = 0,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> Classifier:
    """Fit a classifier to the training part of a data set and evaluate it on the test part.

    Cross-validation chooses the learning rate and fits the temperature. The final network is
    trained on the whole training part. Probabilities are for the class frequencies of the training
    part; for the known benchmark data sets they are for equal class frequencies, as in the paper.

    Args:
        source: Anything that ``load_data`` takes: a name, a path, a pandas frame, a pair (examples,
            labels), or loaded data.
        method: Name of the method.
        k: Number of odd classes, for methods that draw sets; by default that of the method.
        head: Whether to train an odd-class head; by default as the method prescribes.
        recipe: Fields of ``Recipe`` to change, e.g. ``{"updates": 300}``. The other fields are
            adapted to the number of examples.
        learning_rates: Candidates; the one with the lowest out-of-fold NLL is used.
        folds: Number of cross-validation folds; 0 for none, which requires a single learning rate.
        calibrate: ``"folds"`` divides the logits by the temperature fitted out of fold; ``"none"``
            uses the temperature that the method prescribes, usually 1.
        seed: Seed of all randomness, including the split into training and test part.
        checkpoint: File for the state of the final training, which resumes from it.
        progress: Called with each row of the learning curves.
        **reading: Further arguments of ``load_data``, such as ``target`` and ``test``.

    Example:
        >>> rows = np.random.default_rng(0).normal(size=(60, 3))
        >>> few = {"updates": 20}
        >>> classifier = fit((rows, rows[:, 0] > 0), recipe=few, learning_rates=[0.1], folds=0)
        >>> classifier.predict_proba(rows[:2]).shape
        (2, 2)
    """
    data = load_data(source, seed=seed, **reading)
    return fit_data(
        data,
        population=default_population(data),
        method=method,
        k=k,
        head=head,
        recipe=recipe,
        learning_rates=learning_rates,
        folds=folds,
        calibrate=calibrate,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )


def default_population(data: Data) -> Population:
    """Class frequencies to evaluate for: uniform for known benchmarks, else those of training."""
    return "uniform" if data.is_benchmark else "train"


def fit_data(
    data: Data,
    *,
    population: Population,
    method: str,
    k: int | None,
    head: bool | None,
    recipe: Mapping[str, Any] | None,
    learning_rates: Sequence[Number],
    folds: int,
    calibrate: Literal["folds", "none"],
    seed: int,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Classifier:
    """Fit a classifier to loaded data; the other arguments are those of ``fit``."""
    one_of("calibrate", calibrate, ("folds", "none"))
    if folds:
        at_least("folds, unless it is 0 for none,", folds, 2)
    if not learning_rates:
        raise ValueError("learning_rates must hold at least one rate, got none")
    base = Recipe(**changed_recipe(data.class_sizes, recipe or {}))
    ready = prepared(data)
    fitted = fit_network(
        ready,
        method=chosen_method(method, k=k, head=head),
        recipes=[replace(base, learning_rate=rate) for rate in sorted(set(learning_rates))],
        folds=folds,
        population=population,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )
    ledger = fitted.as_trained if calibrate == "none" else fitted.calibrated
    network = fitted.recipe.model
    classifier = Classifier(
        model=fitted.model,
        network=network if isinstance(network, str) else getattr(network, "__name__", "own"),
        shape=tuple(ready.x.shape[1:]),
        classes=data.classes,
        method=method,
        ledger=ledger,
        standardisation=ready.standardisation,
        encoder=data.encoder,
    )
    classifier.evaluation = evaluated(classifier, data)
    classifier.details = _details(classifier, data, ready, fitted) | {
        "prior": prior_sentence(ledger, population),
        "settings": settings_of(fitted)
        | {"folds": folds, "calibrate": calibrate, "learning_rates": sorted(set(learning_rates)),
           "population": population, "seed": seed},
    }  # fmt: skip
    return classifier


def prior_sentence(ledger: PriorLedger, population: Population) -> str:
    """A sentence for all outputs: which class frequencies the probabilities are for.

    Args:
        population: Class frequencies to evaluate for.
    """
    if population == "train":
        return "probabilities are for the class frequencies of the training data"
    if ledger.stated == uniform(len(ledger.stated)):
        return "probabilities are for equally frequent classes: uniform, as in the paper"
    return (
        "probabilities are for the class frequencies of the training data and are judged for "
        "equally frequent classes, uncorrected, as in the paper"
    )


def settings_of(fitted: Fitted) -> dict[str, Any]:
    """The settings a network was trained with, as plain values."""
    recipe = asdict(fitted.recipe)
    if not isinstance(recipe["model"], str):
        recipe["model"] = getattr(recipe["model"], "__name__", "own")
    return recipe | {"k": fitted.method.k, "head": fitted.method.head}


def evaluated(classifier: Classifier, data: Data) -> Evaluation | None:
    """Evaluation on the test part; None if it has fewer than 2 examples."""
    if len(data.y_test) < 2:
        return None
    return evaluate(
        classifier.encoded_logits(np.asarray(data.x_test[:])),
        data.y_test,
        classes=data.classes,
        # The report groups classes into head, middle and tail, which needs at least 3 classes.
        train_labels=data.y_train if len(data.classes) > 2 else None,
        bins=BINS,
    )


def _details(classifier: Classifier, data: Data, ready: Prepared, fitted: Fitted) -> dict[str, Any]:
    """The part of the card that is not needed to predict."""
    evaluation = classifier.evaluation
    return {
        "data": {
            "name": data.name,
            "fingerprint": _fingerprint(ready),
            "examples": len(ready.y),
            "class_sizes": data.class_sizes,
            "dtype": str(np.asarray(data.x_train[:1]).dtype),
        },
        "folds": None if fitted.scores is None else fitted.scores.metrics,
        "test": None if evaluation is None else evaluation.to_dict(),
        "notes": list(fitted.notes),
        "log": fitted.log,
        "versions": versions(),
    }


def _fingerprint(ready: Prepared) -> str:
    """Hash of the training part: equal for classifiers trained on the same examples."""
    digest = blake2b(digest_size=16)
    for part in (ready.x, ready.y):
        digest.update(np.ascontiguousarray(part.numpy()).tobytes())
    return digest.hexdigest()
