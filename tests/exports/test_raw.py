"""Raw inputs are encoded inside the graph as outside of it."""

import numpy as np
import pytest
import torch
from exportable import image_classifier, patients, table_classifier

import oddkout as oko


def test_features_are_taken_as_they_are(tmp_path):
    classifier = image_classifier("cnn", channels=1, size=8)
    classifier.details["data"]["dtype"] = "float32"
    result = oko.export(classifier, tmp_path / "model.pt2", format="torch")
    x = np.random.default_rng(0).normal(size=(5, 1, 8, 8)).astype(np.float32)
    with torch.no_grad():
        probs = torch.export.load(result.path).module()(torch.from_numpy(x))
    np.testing.assert_allclose(probs, classifier.predict_proba(x), rtol=0, atol=1e-5)
    assert result.facts["inputs"][0]["name"] == "features"


def test_examples_of_another_kind_are_refused(folder, tmp_path):
    with pytest.raises(ValueError, match=r"bytes of shape \(examples, 8, 8\).*got float32"):
        oko.export(
            folder / "model",
            tmp_path / "m.pt2",
            format="torch",
            examples=np.zeros((2, 1, 8, 8), np.float32),
        )
    classifier = table_classifier(patients(50))
    features = classifier.encoder.encode(patients(50))
    with pytest.raises(ValueError, match="not its encoded features"):
        oko.export(classifier, tmp_path / "m.pt2", format="torch", examples=features)
    assert list(tmp_path.iterdir()) == []
