"""Evaluate a fitted classifier on the test part, and try decisions on it."""

from typing import Any

import numpy as np

from oddkout.data import Data
from oddkout.evaluation import evaluate
from oddkout.evaluation.weighting import evaluate_for_prior
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.deciding import tried
from oddkout.prior import Population

# Number of bins of the calibration error, as in the paper.
BINS = 10


def tested(classifier: Classifier, data: Data, population: Population) -> dict[str, Any] | None:
    """Evaluate on the test part, unless it has fewer than 2 examples, and try decisions on it.

    Args:
        classifier: The classifier; its ``evaluation`` is set.
        population: Class frequencies to judge for; requested ones weigh the test examples.

    Returns:
        What decisions promise and how they do, for the card; None without folds or test part.
    """
    if len(data.y_test) < 2:
        return None
    networks = classifier.network_logits(np.asarray(data.x_test[:]))
    judge = evaluate_for_prior if isinstance(population, tuple) else evaluate
    classifier.evaluation = judge(
        classifier.mixture.combined(networks),
        data.y_test,
        classes=data.classes,
        train_labels=data.y_train,
        # Guess the frequencies that the probabilities are for.
        prior=None if population == "train" else classifier.prior,
        groups=data.test_groups,
        bins=BINS,
    )
    if classifier.held_out is None:
        return None
    return tried(
        networks,
        labels=data.y_test,
        mixture=classifier.mixture,
        held_out=classifier.held_out,
        classes=data.classes,
    )
