"""Simulated classification problems with a known truth."""

import numpy as np


def class_shares(classes, ratio):
    """Class frequencies that fall geometrically, the first ``ratio`` times the last."""
    shares = ratio ** -np.linspace(0, 1, classes)
    return shares / shares.sum()


def predictions(examples, shares, rng, *, signal=2.0, sharpness=1.5):
    """Logits of a model that is too confident, and the labels."""
    labels = rng.choice(len(shares), size=examples, p=shares)
    evidence = rng.normal(size=(examples, len(shares))) + signal * np.eye(len(shares))[labels]
    return sharpness * (signal * evidence + np.log(shares)), labels
