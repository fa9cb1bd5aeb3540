"""Evaluate predictions: estimates, confidence intervals and null levels."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Labels, Matrix, at_least
from oddkout.evaluation.report import ClassResult, Evaluation, Measured, NullLevel
from oddkout.evaluation.resampling import CALIBRATION_ERRORS, Examples, Resampler
from oddkout.metrics.accuracies import frequency_groups, hits_by_class
from oddkout.metrics.brier import decomposed
from oddkout.metrics.calibration import bin_of_confidence, bin_sums, classwise_bin_sums
from oddkout.metrics.catalogue import METRICS
from oddkout.metrics.intervals import (
    bootstrap_interval,
    clopper_pearson,
    mean_acceleration,
    mean_of_shares,
    shifted_interval,
)
from oddkout.metrics.predictions import Predictions, read
from oddkout.metrics.ranking import correctness_auroc, risk_coverage
from oddkout.metrics.reliability import reliability_curve
from oddkout.metrics.smooth import smooth_calibration_error


def evaluate(
    logits: Matrix = None,
    labels: Labels = None,
    *,
    probs: Matrix = None,
    classes: Sequence[str] | None = None,
    train_labels: Labels = None,
    bins: int = 15,
    replicates: int = 1000,
    seed: int = 0,
) -> Evaluation:
    """Measure the accuracy and calibration of any model's predictions.

    Every number has a 95 % confidence interval: Clopper and Pearson's for proportions, a
    bias-corrected bootstrap interval (accelerated for means) for the rest.

    Every calibration error has its null level: what a perfectly calibrated model would score, found
    by drawing labels from the predictions. Sampling noise alone makes a calibration error larger
    than 0, and more so with few examples. So compare an error and its interval with the null
    level, not with 0.

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        probs: Probabilities, instead of ``logits``; every row sums to 1.
        classes: Names of the classes, in the order of the columns.
        train_labels: Labels of the training data, to report head, middle and tail classes.
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
    at_least("bins", bins, 1)
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
    examples = Examples.of(predictions)
    generator = torch.Generator().manual_seed(seed)
    resampler = Resampler(examples, bins=bins, replicates=replicates, generator=generator)
    right, counts = hits_by_class(examples.hits, predictions.true_classes, classes=columns)
    metrics = {
        "accuracy": share(right.sum(), counts.sum()),
        "balanced_accuracy": Measured(*mean_of_shares(right.numpy(), counts.numpy())),
    } | _measured(_estimates(examples, bins), examples, resampler)
    groups = {} if train_labels is None else frequency_groups(train_labels, classes=columns)
    return Evaluation(
        metrics=metrics,
        classes=_class_results(examples, names),
        groups={
            name: share(right[group].sum(), counts[group].sum()) for name, group in groups.items()
        },
        reliability=reliability_curve(**predictions.given, bins=bins),
        risk_coverage=risk_coverage(**predictions.given),
        examples=examples,
        notes=_notes(examples),
        replicates=replicates,
        seed=seed,
    )


def share(successes: Tensor, trials: Tensor) -> Measured:
    """A proportion with its exact interval; without trials, NaN with the interval (0, 1)."""
    low, high = clopper_pearson(successes.item(), trials.item())
    return Measured((successes / trials).item(), float(low), float(high))


def _on_cpu(predictions: Predictions) -> Predictions:
    """Predictions on the CPU, where resampling runs."""
    labels = predictions.true_classes.cpu()
    return Predictions(predictions.values.cpu(), predictions.are_logits, labels)


def _estimates(examples: Examples, bins: int) -> dict[str, float]:
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
    estimates = {
        "nll": examples.cross_entropy.mean(),
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
    estimates: dict[str, float], examples: Examples, resampler: Resampler
) -> dict[str, Measured]:
    """Estimates with intervals and null levels."""
    acceleration = {
        "nll": mean_acceleration(examples.cross_entropy),
        "brier": mean_acceleration(examples.brier),
        "entropy": mean_acceleration(examples.entropy),
        "relative_cross_entropy": mean_acceleration(examples.cross_entropy - examples.entropy),
        "confidence": mean_acceleration(examples.confidence),
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


def null_level(estimate: float, draws: Float[Tensor, " replicates"]) -> NullLevel:
    """Mean and 95th percentile of the draws, and the p-value of the estimate.

    The estimate counts as one more draw, so the p-value is never 0.
    """
    ranked = draws.double().sort().values
    # Draws are in single precision: a draw that equals the estimate up to rounding reaches it.
    reached = (ranked >= estimate - 1e-6 * abs(estimate)).sum().item()
    high = ranked[int(0.95 * (len(ranked) - 1))].item()
    return NullLevel(ranked.mean().item(), high, (1 + reached) / (1 + len(ranked)))


def _class_results(examples: Examples, names: list[str]) -> list[ClassResult]:
    """Results of each class."""
    labels, predicted = examples.predictions.true_classes, examples.predicted
    right, counts = hits_by_class(examples.hits, labels, classes=len(names))
    right_calls, calls = hits_by_class(examples.hits, predicted, classes=len(names))
    confidence, _ = hits_by_class(examples.confidence, predicted, classes=len(names))
    return [
        ClassResult(
            name=name,
            examples=int(counts[column]),
            accuracy=share(right[column], counts[column]),
            predicted=int(calls[column]),
            precision=share(right_calls[column], calls[column]),
            confidence=(confidence[column] / calls[column]).item(),
        )
        for column, name in enumerate(names)
    ]


def _notes(examples: Examples) -> list[str]:
    """Warnings about metrics that are infinite or undefined."""
    notes = []
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
    return notes
