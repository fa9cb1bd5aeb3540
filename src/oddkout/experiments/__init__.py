"""Experiments: from data to trained and measured classifiers, one or a grid of them."""
