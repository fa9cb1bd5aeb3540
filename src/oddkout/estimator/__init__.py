"""The scikit-learn estimator."""

from oddkout.estimator.classifier import OddKOutClassifier

__all__ = ["OddKOutClassifier"]
