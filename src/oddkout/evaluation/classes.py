"""Results of each class, and the metrics that are means over classes."""

from collections.abc import Sequence

from torch import Tensor

from oddkout.evaluation.examples import Examples
from oddkout.evaluation.measured import ClassResult, Measured
from oddkout.metrics.accuracies import hits_by_class
from oddkout.metrics.confusion import correlation_influence, matthews_correlation
from oddkout.metrics.discrimination import class_rankings
from oddkout.metrics.influence import ClassMean, Units, grouped_share, influence_interval
from oddkout.metrics.intervals import clopper_pearson, mean_of_shares


def share(hits: Tensor, is_trial: Tensor, units: Units) -> Measured:
    """A proportion; without trials, NaN with the interval (0, 1).

    The interval is exact if examples are independent, and of Wilson's type if they are grouped.

    Args:
        hits: 1 for a success, 0 for a failure.
        is_trial: Which examples count as trials.
        units: Groups of the examples.
    """
    if units.codes is not None:
        value, limits = grouped_share(hits, is_trial, units)
        return Measured(value, *limits)
    successes, trials = hits[is_trial].double().sum(), is_trial.double().sum()
    low, high = clopper_pearson(successes.item(), trials.item())
    return Measured((successes / trials).item(), float(low), float(high))


def class_results(
    examples: Examples, names: Sequence[str], units: Units
) -> tuple[list[ClassResult], dict[str, Measured]]:
    """Results of each class; and AUROC and average precision, averaged over the classes."""
    labels, predicted = examples.predictions.true_classes, examples.predicted
    calls = predicted.bincount(minlength=len(names)).double()
    confidence, _ = hits_by_class(examples.confidence, predicted, classes=len(names))
    areas, precisions = ClassMean(units), ClassMean(units)
    results = []
    for ranking in class_rankings(examples.predictions):
        column = ranking.column
        is_class, is_call = labels == column, predicted == column
        area, precision = ranking.auroc.item(), ranking.average_precision.item()
        results.append(
            ClassResult(
                name=names[column],
                examples=int(is_class.sum()),
                accuracy=share(examples.hits, is_class, units),
                predicted=int(is_call.sum()),
                precision=share(examples.hits, is_call, units),
                confidence=(confidence[column] / calls[column]).item(),
                f1=_f1(share(is_class & is_call, is_class | is_call, units)),
                auroc=Measured(area, *areas.add(area, ranking.auroc_influence, is_class)),
                average_precision=Measured(
                    precision, *precisions.add(precision, ranking.precision_influence, is_class)
                ),
            )
        )
    return results, {
        "auroc": Measured(areas.value, *areas.limits),
        "average_precision": Measured(precisions.value, *precisions.limits),
    }


def balanced_accuracy(examples: Examples, units: Units) -> Measured:
    """Mean of the recalls of the classes that have examples."""
    labels, classes = examples.predictions.true_classes, examples.predictions.shape[1]
    right, counts = hits_by_class(examples.hits, labels, classes=classes)
    if units.codes is None:
        return Measured(*mean_of_shares(right.numpy(), counts.numpy()))
    present, recalls = counts > 0, right / counts
    value = recalls[present].mean().item()
    weight = len(labels) / counts / present.sum()
    influence = weight[labels] * (examples.hits.double() - recalls[labels])
    smallest = _smallest_class(labels, units)
    return Measured(value, *influence_interval(value, influence, units, smallest=smallest))


def matthews(examples: Examples, units: Units) -> Measured:
    """Matthews' correlation."""
    predictions = examples.predictions
    labels = predictions.true_classes
    value = matthews_correlation(**predictions.given).item()
    influence = correlation_influence(labels, examples.predicted, classes=predictions.shape[1])
    smallest = _smallest_class(labels, units)
    low, high = influence_interval(value, influence, units, smallest=smallest, lowest=-1.0)
    if value == 0 and not influence.any():
        # Predictions of one class: chance alone gives no low value, but rare hits may be missed.
        low, _ = influence_interval(value, influence, units, smallest=units.count, lowest=-1.0)
    return Measured(value, low, high)


def _smallest_class(labels: Tensor, units: Units) -> int:
    """Number of groups with examples of the rarest class among those that occur."""
    return min(units.among(labels == column) for column in set(labels.tolist()))


def _f1(overlap: Measured) -> Measured:
    """F1 from the share of hits among the examples that are of a class or predicted as it.

    F1 = 2 s / (1 + s) grows with that share, so its interval is that of the share, transformed.
    """
    value, low, high = (2 * one / (1 + one) for one in (overlap.value, overlap.low, overlap.high))
    return Measured(value, low, high)
