"""``oko.fit``: fit, calibrate and evaluate one classifier."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, get_args

import numpy as np

from oddkout.checks import Number, at_least, one_of
from oddkout.data import Data, load_data
from oddkout.data.sources import DataSource
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.folds import Calibration, suitable_folds
from oddkout.fitting.held_out_file import held_out_of
from oddkout.fitting.judging import tested
from oddkout.fitting.methods import chosen_method
from oddkout.fitting.pipeline import Fitted, MembersOption
from oddkout.fitting.preparation import Prepared, prepared
from oddkout.fitting.recipe import Recipe, changed_recipe
from oddkout.fitting.selection import LEARNING_RATES, checked_choices
from oddkout.fitting.stack import Stack, fit_stack
from oddkout.fitting.training import Progress
from oddkout.fitting.views import table_recipe
from oddkout.prior import Population, prior_sentence, requested_population
from oddkout.version import versions


def fit(
    source: DataSource,
    *,
    method: str = "oko",
    k: int | None = None,
    head: bool | None = None,
    recipe: Mapping[str, Any] | None = None,
    learning_rates: Sequence[Number] = LEARNING_RATES,
    choose: Sequence[str] = (),
    folds: int | None = None,
    members: MembersOption = "folds",
    calibrate: Calibration = "folds",
    prior: Any = None,
    seed: int = 0,
    checkpoint: Path | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> Classifier:
    """Fit a classifier to the training part of a data set and evaluate it on the test part.

    A network is trained without each cross-validation fold. The out-of-fold predictions choose the
    learning rate and when to stop, and fit the temperature and the strength of prior adjustment.
    The networks then predict together.

    Args:
        source: Anything that ``load_data`` takes: a name, a path, a pandas frame, a pair (examples,
            labels), or loaded data.
        method: Name of the method.
        k: Number of odd classes, for methods that draw sets; by default that of the method.
        head: Whether to train an odd-class head; by default as the method prescribes.
        recipe: Fields of ``Recipe`` to change, e.g. ``{"updates": 300}``. The other fields are
            adapted to the number of examples.
        learning_rates: Candidates; the one with the lowest out-of-fold NLL is used.
        choose: Further choices by out-of-fold NLL, each from a short list and one after the other:
            ``"dropout"``, ``"weight_decay"``, ``"own"`` (label smoothing, the gamma of the focal
            loss or the weight of the odd-class head) and, for images, ``"augmentation"``.
        folds: Number of cross-validation folds; by default 5, 8 for the method ``tables``, and 1
            for many examples, which holds out a tenth. 0 for none, which requires a single learning
            rate.
        members: ``"folds"`` averages the networks of the folds; ``"single"`` trains one network on
            the whole training part, with what the folds chose.
        calibrate: ``"folds"`` fits temperature and strength of prior adjustment out of fold,
            ``"temperature"`` the temperature alone; ``"none"`` uses the temperature that the method
            prescribes, usually 1.
        prior: Class frequencies that probabilities and choices are for: ``"train"``,
            ``"uniform"``, a frequency for each class, or a mapping from class names to
            frequencies. By default those of the training part; for known benchmark data sets equal
            ones, as in the paper.
        seed: Seed of all randomness, including the split into training and test part.
        checkpoint: Folder for the states of all trainings, which resume from it.
        processes: Number of processes to train the networks of the folds in; by default all cores
            if training takes long, else one.
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
        population=requested_population(prior, names=data.classes, is_benchmark=data.is_benchmark),
        method=method,
        k=k,
        head=head,
        recipe=recipe,
        learning_rates=learning_rates,
        choose=choose,
        folds=folds,
        members=members,
        calibrate=calibrate,
        seed=seed,
        checkpoint=checkpoint,
        processes=processes,
        progress=progress,
    )


def fit_data(
    data: Data,
    *,
    population: Population,
    method: str,
    k: int | None,
    head: bool | None,
    recipe: Mapping[str, Any] | None,
    learning_rates: Sequence[Number],
    folds: int | None,
    calibrate: Calibration,
    seed: int,
    choose: Sequence[str] = (),
    members: MembersOption = "folds",
    checkpoint: Path | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> Classifier:
    """Fit a classifier to loaded data; the other arguments are those of ``fit``."""
    one_of("calibrate", calibrate, get_args(Calibration))
    chosen = chosen_method(method, k=k, head=head)
    if folds is None:
        count = suitable_folds(len(data.y_train), is_table=chosen.is_for_tables)
    else:
        count = at_least("folds", folds, 0)
    choices = checked_choices(choose, learning_rates=learning_rates)
    fields = changed_recipe(data.class_sizes, recipe or {})
    if chosen.is_for_tables:
        base = table_recipe(data.class_sizes, **recipe or {})
    else:
        base = replace(Recipe(**fields), learning_rate=choices["learning_rate"][0])
    ready = prepared(data, allows_missing=base.encoding is not None or chosen.is_for_tables)
    fitted = fit_stack(
        ready,
        method=chosen,
        recipe=base,
        choices=choices,
        folds=count,
        members=members,
        calibration=calibrate,
        population=population,
        seed=seed,
        checkpoints=checkpoint,
        processes=processes,
        progress=progress,
    )
    mixture = fitted.as_trained if calibrate == "none" else fitted.calibrated
    classifier = Classifier(
        model=fitted.model,
        shape=tuple(ready.x.shape[1:]),
        classes=data.classes,
        method=method,
        mixture=mixture,
        standardisation=ready.standardisation,
        encoder=data.encoder,
        held_out=held_out_of(
            fitted,
            ready.y,
            members=members,
            groups=ready.groups,
            is_calibrated=calibrate != "none",
        ),
    )
    classifier.scores = fitted.scores
    decisions = tested(classifier, data, population)
    classifier.details = _details(classifier, data, ready, fitted) | {
        "decisions": decisions,
        "prior": prior_sentence(mixture.stated, population),
        "settings": settings_of(fitted)
        | {"folds": count, "members": members, "calibrate": calibrate,
           "learning_rates": sorted(set(learning_rates)), "choose": list(choose),
           "population": population, "seed": seed},
    }  # fmt: skip
    return classifier


def settings_of(fitted: Stack) -> dict[str, Any]:
    """The settings a classifier was trained with, as plain values; of a stack, its first part's."""
    return settings_of_recipe(fitted.views[0].recipe) | {
        "k": fitted.method.k,
        "head": fitted.method.head,
    }


def settings_of_recipe(recipe: Recipe) -> dict[str, Any]:
    """The fields of a recipe as plain values; a custom network by its name."""
    settings = asdict(recipe)
    if not isinstance(settings["model"], str):
        settings["model"] = getattr(settings["model"], "__name__", "own")
    return settings


def _parameters(fitted: Stack) -> int:
    """Number of weights of all networks together."""
    return sum(weights.numel() for weights in fitted.model.parameters())


def described(classifier: Classifier, data: Data, ready: Prepared) -> dict[str, Any]:
    """What the card says of the data, the test and the software of any classifier."""
    evaluation = classifier.evaluation
    return {
        "data": {
            "name": data.name,
            "fingerprint": _fingerprint(ready),
            "examples": len(ready.y),
            "class_sizes": data.class_sizes,
            "dtype": str(np.asarray(data.x_train[:1]).dtype),
            "groups": None
            if data.train_groups is None
            else {
                "training": len(np.unique(data.train_groups)),
                "test": None if data.test_groups is None else len(np.unique(data.test_groups)),
            },
        },
        "test": None if evaluation is None else evaluation.to_dict(),
        "versions": versions(),
    }


def _details(classifier: Classifier, data: Data, ready: Prepared, fitted: Stack) -> dict[str, Any]:
    """The part of the card that is not needed to predict."""
    views = [_training_of(view) for view in fitted.views]
    return described(classifier, data, ready) | {
        "folds": None if fitted.scores is None else fitted.scores.metrics,
        **views[0],
        "views": views,
        "inference": {"networks": fitted.members, "parameters": _parameters(fitted)},
        "notes": list(fitted.notes),
        "log": fitted.views[0].log,
    }


def _training_of(view: Fitted) -> dict[str, Any]:
    """Where the training of a view was stopped, and what was compared."""
    first = None if not view.choices else settings_of_recipe(view.choices[0][0])
    return {
        "stopped": {"updates": view.updates, "curve": view.curve},
        "compared": [
            {
                name: value
                for name, value in settings_of_recipe(recipe).items()
                if first is not None and value != first[name]
            }
            | {"nll": nll}
            for recipe, nll in view.choices
        ],
    }


def _fingerprint(ready: Prepared) -> str:
    """Hash of the training part: equal for classifiers trained on the same examples."""
    digest = blake2b(digest_size=16)
    for part in (ready.x, ready.y):
        digest.update(np.ascontiguousarray(part.numpy()).tobytes())
    return digest.hexdigest()
