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


def softmax(logits):
    """Probabilities of logits, in NumPy."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def problem(examples=200, classes=4, ratio=1.0, seed=0):
    """Logits and labels of calibration examples and of 300 new ones."""
    rng = np.random.default_rng(seed)
    shares = class_shares(classes, ratio)
    return (*predictions(examples, shares, rng), *predictions(300, shares, rng))
