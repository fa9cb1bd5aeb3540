"""From data to a classifier: methods, training, cross-validation and the saved classifier."""
