"""Evaluate predictions: estimates, confidence intervals and null levels."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from oddkout.checks import Labels, Matrix, Prior, at_least, few, frequencies
from oddkout.evaluation.classes import balanced_accuracy, class_results, matthews, share
from oddkout.evaluation.examples import Examples
from oddkout.evaluation.measured import GuessScore, Measured, null_level
from oddkout.evaluation.report import Evaluation
from oddkout.evaluation.resampling import CALIBRATION_ERRORS, Resampler
from oddkout.metrics.accuracies import frequency_groups
from oddkout.metrics.brier import decomposed
from oddkout.metrics.calibration import bin_of_confidence, bin_sums, classwise_bin_sums
from oddkout.metrics.catalogue import METRICS
from oddkout.metrics.confusion import confusion
from oddkout.metrics.influence import Units
from oddkout.metrics.intervals import bootstrap_interval, mean_acceleration, shifted_interval
from oddkout.metrics.predictions import Predictions, read
from oddkout.metrics.ranking import correctness_auroc, risk_coverage
from oddkout.metrics.reliability import reliability_curve
from oddkout.metrics.skill import guessing_nll, skill
from oddkout.metrics.smooth import smooth_calibration_error
from oddkout.prior import class_frequencies

# Intervals by fewer groups than this come with a warning.
_FEW_GROUPS = 10

_MOST_BINS = 10_000


def evaluate(
    logits: Matrix = None,
    labels: Labels = None,
    *,
    probs: Matrix = None,
    classes: Sequence[str] | None = None,
    train_labels: Labels = None,
    prior: Prior = None,
    groups: Any = None,
    bins: int = 15,
    replicates: int = 1000,
    seed: int = 0,
) -> Evaluation:
    """Measure the accuracy and calibration of any model's predictions.

    Every number has a 95 % confidence interval: Clopper and Pearson's for proportions, one of
    Wilson's type for AUROC, average precision and MCC, a bias-corrected bootstrap interval
    (accelerated for means) for the rest.

    Every calibration error has its null level: what a perfectly calibrated model would score, found
    by drawing labels from the predictions. Sampling noise alone makes a calibration error larger
    than 0, and more so with few examples. So compare an error and its interval with the null
    level, not with 0.

    With ``groups``, the bootstrap draws whole groups and the other intervals add up what the
    examples of a group contribute. For null levels, all labels of a group are drawn with one random
    number. This is the strongest dependence, so that p-values are rather too large than too small.

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        probs: Probabilities, instead of ``logits``; every row sums to 1.
        classes: Names of the classes, in the order of the columns.
        train_labels: Labels of the training data, to report head, middle and tail classes if there
            are at least 3 classes, and to measure the skill against guessing their frequencies.
        prior: Class frequencies to measure the skill against, in the order of the columns; by
            default those of ``train_labels``, or else of ``labels``.
        groups: Group of each example, such as the patient, if examples of a group depend on each
            other.
        bins: Number of bins of every binned error.
        replicates: Number of bootstrap replicates, and of draws for the null level.
        seed: Seed of the replicates and the draws.

    Example:
        Ten predictions of probability 1, half of them wrong.

        >>> report = evaluate(probs=[[1.0, 0.0]] * 10, labels=[0, 1] * 5)
        >>> report["accuracy"].value, report["ece"].value
        (0.5, 0.5)
        >>> report.verdict.split(",")[0]
        'evidence of overconfidence: ECE 0.5'
    """
    predictions = _on_cpu(read(probs=probs, logits=logits, labels=labels))
    at_least("bins", bins, 1, maximum=_MOST_BINS)
    at_least("replicates", replicates, 40)
    count, columns = predictions.shape
    if count < 2:
        raise ValueError(
            "an interval needs at least 2 examples, got 1; evaluate on more, or use "
            "oddkout.metrics for numbers without intervals"
        )
    names = [str(column) for column in range(columns)] if classes is None else list(classes)
    if len(names) != columns:
        raise ValueError(
            f"classes must name every column of the predictions, {columns}, got {len(names)} names"
        )
    examples, units = Examples.of(predictions), _units(groups, count)
    source, frequency = _guessed(prior, train_labels, columns)
    guess = _guess(examples, source, frequency)
    generator = torch.Generator().manual_seed(seed)
    resampler = Resampler(
        examples,
        bins=bins,
        replicates=replicates,
        generator=generator,
        units=units,
        guess=frequency,
    )
    results, ranked = class_results(examples, names, units)
    is_any = torch.ones(count, dtype=torch.bool)
    metrics = {
        "accuracy": share(examples.hits, is_any, units),
        "balanced_accuracy": balanced_accuracy(examples, units),
        "mcc": matthews(examples, units),
        **ranked,
        **_measured(_estimates(examples, guess, bins), guess, resampler),
    }
    parts = {}
    if train_labels is not None and columns > 2:
        parts = frequency_groups(train_labels, classes=columns)
    return Evaluation(
        metrics=metrics,
        classes=results,
        confusion=confusion(predictions),
        groups={
            name: share(examples.hits, torch.isin(predictions.true_classes, part), units)
            for name, part in parts.items()
        },
        reliability=reliability_curve(**predictions.given, bins=bins),
        risk_coverage=risk_coverage(**predictions.given),
        examples=examples,
        guess=guess,
        group_count=None if units.codes is None else units.count,
        notes=_notes(examples, names, units),
        replicates=replicates,
        seed=seed,
    )


def _units(groups: Any, examples: int) -> Units:
    """The groups as numbers; groups of one example each are none."""
    if groups is None:
        return Units(examples)
    values = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    if len(values) != examples:
        raise ValueError(
            f"groups must name the group of each of the {examples} examples, got {len(values)}"
        )
    missing = [row for row, value in enumerate(values) if value is None or value != value]
    if missing:
        raise ValueError(
            f"every example must have a group, but examples {few(missing)} have none; name one for "
            "each, or drop them"
        )
    number = {value: position for position, value in enumerate(dict.fromkeys(values))}
    if len(number) < 2:
        raise ValueError(
            "an interval by groups needs at least 2 groups, got 1; evaluate on more, or leave the "
            "groups out"
        )
    if len(number) == examples:
        return Units(examples)
    return Units(examples, torch.tensor([number[value] for value in values]))


def _guessed(prior: Prior, train_labels: Labels, classes: int) -> tuple[str, Tensor | None]:
    """Where the class frequencies of a guess come from, and what they are; None: the labels'."""
    if prior is not None:
        return "that were given", frequencies("prior", prior, classes=classes)
    if train_labels is not None:
        return "of the training data", class_frequencies(train_labels, classes=classes)
    return "of the labels", None


def _guess(examples: Examples, source: str, frequency: Tensor | None) -> GuessScore:
    """What guessing scores."""
    counts = examples.predictions.true_classes.bincount(minlength=examples.predictions.shape[1])
    likeliest = (counts if frequency is None else frequency).argmax()
    return GuessScore(
        source=source,
        nll=(guessing_nll(counts.double(), frequency) / len(examples)).item(),
        accuracy=counts[likeliest].item() / len(examples),
    )


def _on_cpu(predictions: Predictions) -> Predictions:
    """Predictions on the CPU, where resampling runs."""
    labels = predictions.true_classes.cpu()
    return Predictions(predictions.values.cpu(), predictions.are_logits, labels)


def _estimates(examples: Examples, guess: GuessScore, bins: int) -> dict[str, float]:
    """Estimates of all resampled metrics, in the order of the table."""
    given = examples.predictions.given
    confidence, hits = examples.confidence, examples.hits
    width, mass = (
        bin_sums(
            confidence, hits, bin_of_confidence(confidence, bins=bins, binning=binning), bins=bins
        )
        for binning in ("equal-width", "equal-mass")
    )
    classwise = classwise_bin_sums(examples.predictions, bins=bins)
    uncertainty, resolution, reliability = decomposed(classwise)
    relative = (examples.cross_entropy - examples.entropy).mean()
    nll = examples.cross_entropy.mean()
    estimates = {
        "nll": nll,
        "skill": skill(nll, torch.tensor(guess.nll, dtype=torch.float64)),
        "brier": examples.brier.mean(),
        "brier_uncertainty": uncertainty,
        "brier_resolution": resolution,
        "brier_reliability": reliability,
        "ece": width.expected_error(),
        "ece_equal_mass": mass.expected_error(),
        "maximum_ece": width.maximum_error(),
        "debiased_ece": mass.debiased_error(),
        "smooth_ece": smooth_calibration_error(**given),
        "classwise_ece": classwise.expected_error().mean(),
        "entropy_gap": relative.abs(),
        "relative_cross_entropy": relative,
        "entropy": examples.entropy.mean(),
        "confidence": confidence.double().mean(),
        "correctness_auroc": correctness_auroc(**given),
        "risk_coverage_area": risk_coverage(**given).area,
    }
    return {name: value.item() for name, value in estimates.items()}


def _measured(
    estimates: dict[str, float], guess: GuessScore, resampler: Resampler
) -> dict[str, Measured]:
    """Estimates with intervals and null levels."""
    examples, units = resampler.examples, resampler.units
    labels = examples.predictions.true_classes
    shares = labels.bincount() / len(labels) if resampler.guess is None else resampler.guess
    guessing = -shares.double().log()[labels]
    means = {
        "nll": examples.cross_entropy,
        "skill": estimates["nll"] / guess.nll * guessing - examples.cross_entropy
        if guess.nll
        else guessing,
        "brier": examples.brier,
        "entropy": examples.entropy,
        "relative_cross_entropy": examples.cross_entropy - examples.entropy,
        "confidence": examples.confidence.double(),
    }
    acceleration = {
        name: mean_acceleration(units.totals(values - values.mean()))
        for name, values in means.items()
    }
    bootstrap, null = resampler.bootstrap(), resampler.null()
    measured = {}
    for name, estimate in estimates.items():
        if name in CALIBRATION_ERRORS or name.startswith("brier_"):
            low, high = shifted_interval(estimate, bootstrap[name])
        else:
            low, high = bootstrap_interval(
                estimate, bootstrap[name], acceleration=acceleration.get(name, 0.0)
            )
        level = null_level(estimate, null[name]) if name in CALIBRATION_ERRORS else None
        measured[name] = Measured(estimate, low, high, level)
    return measured


def _notes(examples: Examples, names: Sequence[str], units: Units) -> list[str]:
    """Warnings about metrics that are infinite, undefined or hardly known."""
    notes = []
    counts = examples.predictions.true_classes.bincount(minlength=len(names)).tolist()
    absent = [name for name, count in zip(names, counts, strict=True) if count == 0]
    if absent:
        notes.append(f"means over classes leave out {few(absent)}, which have no examples")
    if units.codes is not None and units.count < _FEW_GROUPS:
        notes.append(f"there are only {units.count} groups: intervals from so few are not reliable")
    impossible = examples.cross_entropy.isinf().nonzero().flatten().tolist()
    if impossible:
        notes.append(
            f"{METRICS['nll'].title} is infinite: the true class has probability 0 in "
            f"{len(impossible)} of "
            f"{len(examples):,} examples, first in example {impossible[0]}"
        )
    if examples.hits.min() == examples.hits.max():
        outcome = "correct" if examples.hits[0] else "wrong"
        title = METRICS["correctness_auroc"].title
        notes.append(f"{title} is undefined: all predictions are {outcome}")
    if len(names) - len(absent) < 2:
        titles = [METRICS[name].title for name in ("mcc", "auroc", "average_precision")]
        notes.append(f"{', '.join(titles)} are undefined: all examples are of one class")
    return notes
