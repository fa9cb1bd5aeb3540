"""Experiments: from data to trained and measured classifiers, one or a grid of them."""

from oddkout.experiments.fit import fit_classifier
from oddkout.experiments.recipe import Recipe, suited_to

__all__ = ["Recipe", "fit_classifier", "suited_to"]
