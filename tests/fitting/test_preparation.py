"""Standardisation: by the training part, whatever the units."""

import numpy as np

from oddkout import fit

QUICK = {"learning_rates": [0.1], "folds": 2}


def test_arrays_are_standardised_by_the_training_part():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3)) * [1e-8, 1, 1e20] + [0, 5, 1e21]
    y = (x[:, 1] > 5).astype(int)
    classifier = fit((x, y), recipe={"updates": 150}, **QUICK)
    assert classifier.evaluation["accuracy"].value > 0.8
    assert len(classifier.standardisation.mean) == 3
    scaled = fit((x * 7, y), recipe={"updates": 150}, **QUICK)
    np.testing.assert_allclose(scaled.predict_proba(x * 7), classifier.predict_proba(x), atol=1e-5)
