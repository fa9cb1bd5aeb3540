"""Experiments: from data to trained and measured classifiers."""

from oddkout.experiments.fit import fit_classifier

__all__ = ["fit_classifier"]
