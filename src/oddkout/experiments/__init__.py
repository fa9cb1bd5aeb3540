"""Experiments: from data to trained and measured classifiers, one or a grid of them."""

from oddkout.experiments.fit import fit_classifier
from oddkout.experiments.recipe import Recipe

__all__ = ["Recipe", "fit_classifier"]
