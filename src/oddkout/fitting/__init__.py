"""From data to a classifier: methods, training, folds and the saved classifier."""
