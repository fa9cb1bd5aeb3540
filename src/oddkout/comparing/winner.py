"""Train the winner of a comparison."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.contestants import OUTSIDERS, is_outsider
from oddkout.comparing.criterion import in_words, mean_out_of_fold
from oddkout.comparing.fingerprint import changed, fingerprint
from oddkout.comparing.outsiders import fit_outsider
from oddkout.comparing.saved import load_comparison
from oddkout.data import KNOWN, Data, load_data
from oddkout.decisions.costing import policy_costs
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.fit import described, fit_data
from oddkout.fitting.held_out_file import held_out_rows
from oddkout.fitting.judging import tested
from oddkout.fitting.preparation import prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import Progress
from oddkout.mixture import Mixture, View
from oddkout.models import NAMES
from oddkout.models.foreign import FOREIGN
from oddkout.prior import prior_sentence


def fit_winner(
    folder: str | Path,
    source: str | Path,
    *,
    target: str | None = None,
    model: str | None = None,
    seed: int = 0,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Classifier:
    """Fit the winner of a comparison: the best by its criterion, out of fold.

    Recipe, learning rate and data options are those of the comparison. With a seed of the
    comparison, the result is exactly the classifier that was compared.

    Args:
        folder: The folder that ``compare`` wrote to.
        source: The compared data, by name or path.
        target: The target column of the comparison; optional, checked if given.
        model: Your own network, if the comparison used one, as ``package.module:function``. It must
            be named again, because no file may name code to run.
        seed: Seed of all randomness.
        checkpoint: Folder for the states of all trainings, which resume from it.
        progress: Called with each row of the learning curves.
    """
    comparison, config = compared_winner(folder, source=source)
    if target not in (None, config.target):
        raise ValueError(
            f"{folder} holds a comparison for the target {config.target!r}, got {target!r}; leave "
            "the target out, or run a comparison for that column"
        )
    _refuse_named_code(config, model, folder=folder)
    recipe = {part.name: getattr(config, part.name) for part in fields(Recipe)}
    rate = recipe.pop("learning_rate")
    data = load_data(
        str(source),
        distribution=config.distribution,
        train_examples=config.train_examples,
        **config.reading | {"seed": seed},
    )
    if config.is_outsider:
        return _with_choice(_fitted_outsider(data, config, seed=seed), comparison, data)
    classifier = fit_data(
        data,
        population=config.population,
        method=config.method,
        k=config.k,
        head=config.head,
        recipe=recipe,
        learning_rates=[rate],
        folds=config.folds,
        members=config.members,
        calibrate=config.calibrate,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )
    return _with_choice(classifier, comparison, data)


def _with_choice(classifier: Classifier, comparison: Comparison, data: Data) -> Classifier:
    """The classifier, with what it won by on its card, and with costs their test."""
    rows = comparison.by_method[classifier.method]
    criterion = comparison.criterion
    choice = {
        "by": f"{in_words(criterion)}, mean of {comparison.seeds} seeds",
        "criterion": criterion,
        "value": mean_out_of_fold(rows, criterion),
        "costs": None if comparison.costs is None else comparison.costs.to_dict(),
    }
    classifier.details = classifier.details | {"won": choice}
    if comparison.costs is not None and len(data.y_test):
        is_requested = isinstance(comparison.setting.population, tuple)
        prior = classifier.prior if is_requested else None  # weighs the test examples
        policies = policy_costs(
            logits=classifier.encoded_logits(np.asarray(data.x_test[:])),
            matrix=comparison.costs.matrix,
            labels=data.y_test,
            answers=comparison.costs.answers,
            prior=prior,
            train_prior=prior,
        )
        tested = {"costs": {"test": {one.policy: [one.cost, *one.interval] for one in policies}}}
        classifier.details["decisions"] = (classifier.details["decisions"] or {}) | tested
    return classifier


def compared_winner(folder: str | Path, *, source: str | Path) -> tuple[Comparison, RunConfig]:
    """A comparison, and the config of its winner.

    Args:
        folder: The folder that ``compare`` wrote to.
        source: The compared data, by name or path.
    """
    comparison = load_comparison(folder, has_predictions=False)
    config = comparison.setting
    is_same = (
        config.data == str(source)
        if config.data in KNOWN or str(source) in KNOWN
        else config.fingerprint.split("-")[0] == fingerprint(_existing(source))
        and (config.test is None or not changed(replace(config, data=str(source))))
    )
    if not is_same:
        raise ValueError(
            f"{folder} holds a comparison on {config.data}, but {source} holds different data; "
            "pass the compared data, or run a comparison on these"
        )
    winner = comparison.winner
    if winner is None:
        reason = "it has no folds" if comparison.methods else "every method failed"
        raise ValueError(f"the comparison in {folder} has no winner: {reason}; compare again")
    if is_outsider(winner) and winner not in OUTSIDERS:
        raise ValueError(
            f"{winner} won the comparison in {folder}, but it is your own classifier, and no file "
            f"may name code to run; fit it yourself, or train the best of ours: --method "
            f"{comparison.best_of_ours}"
        )
    return comparison, comparison.by_method[winner][0].config


def _refuse_named_code(config: RunConfig, model: str | None, *, folder: str | Path) -> None:
    """Raise unless the network is built in, or the user names it as well.

    Args:
        config: The config of the winner, as its file says.
        model: The network that the user names.
        folder: The folder of the comparison.
    """
    if config.model in NAMES:
        if model is not None:
            raise ValueError(
                f"--method best trains the winner as it was compared, got --model {model}; leave "
                "it out, or name the method"
            )
    elif model is None:
        raise ValueError(
            f"{folder} was compared with your own network, and no file may name code to run; name "
            f"it again: --model {config.model}"
        )
    elif model != config.model:
        raise ValueError(
            f"{folder} was compared with {config.model}, got {model}; name the same network, or "
            "compare again"
        )


def _fitted_outsider(data: Data, config: RunConfig, *, seed: int) -> Classifier:
    """Fit and evaluate a classifier of another library, as it was compared."""
    ready = prepared(data)
    fitted = fit_outsider(
        ready,
        name=config.method,
        estimator=None,
        folds=config.folds,
        calibration=config.calibrate,
        population=config.population,
        seed=seed,
    )
    view = View(method=config.method, network=FOREIGN, ledger=fitted.calibrated)
    classifier = Classifier(
        model=fitted.model,
        shape=tuple(ready.x.shape[1:]),
        classes=data.classes,
        method=config.method,
        mixture=Mixture(views=(view,)),
        standardisation=ready.standardisation,
        encoder=data.encoder,
        held_out=None
        if fitted.scores is None
        else held_out_rows(
            fitted.scores.calibrated,
            ready.y,
            fitted.scores.fold_of,
            groups=ready.groups,
            source="others",
        ),
    )
    decisions = tested(classifier, data, config.population)
    classifier.details = described(classifier, data, ready) | {
        "decisions": decisions,
        "folds": None if fitted.scores is None else fitted.scores.metrics,
        "prior": prior_sentence(fitted.calibrated.stated, config.population),
        "settings": {"folds": config.folds, "population": config.population, "seed": seed},
        "notes": list(fitted.notes),
    }
    return classifier


def _existing(source: str | Path) -> Path:
    """The path, or raise if it does not exist."""
    if not Path(source).exists():
        raise FileNotFoundError(f"there is no file or folder {source}; check the path")
    return Path(source)
