"""ONNX files give the probabilities of the classifier and describe themselves."""

import json

import numpy as np
import onnx
import pandas as pd
import pytest
from exportable import (
    CLASSES,
    PRIOR,
    image_classifier,
    patients,
    session,
    table_classifier,
)

import oddkout as oko


@pytest.mark.parametrize(("network", "channels", "size"), [("cnn", 1, 28), ("resnet18", 3, 16)])
def test_onnxruntime_gives_the_probabilities_of_1000_images(network, channels, size, tmp_path):
    classifier = image_classifier(network, channels=channels, size=size)
    oko.export(classifier, tmp_path / "model.onnx", prior=PRIOR)
    shape = (1000, size, size, channels) if channels > 1 else (1000, size, size)
    rng = np.random.default_rng(0)
    brightness = rng.random((1000, *(1 for _ in shape[1:])))
    x = (256 * brightness * rng.random(shape)).astype(np.uint8)
    (probs,) = session(tmp_path / "model.onnx").run(["probabilities"], {"images": x})
    expected = classifier.predict_proba(x, prior=PRIOR)
    assert expected.std(axis=0).min() > 0.005, "the examples must differ"
    np.testing.assert_allclose(probs, expected, rtol=0, atol=1e-5)
    assert np.abs(expected - classifier.predict_proba(x)).max() > 0.05, "the prior must matter"


def test_onnxruntime_gives_the_probabilities_of_1000_rows_of_a_table(tmp_path):
    """Raw columns in: nothing of this library, of pandas or of scikit-learn is needed."""
    train, new = patients(300), patients(1000, seed=1)
    new.loc[::7, "drug"] = "never seen"
    classifier = table_classifier(train, categorical=["grade"])
    oko.export(classifier, tmp_path / "model.onnx", prior=PRIOR)
    numeric = ["time", "dose, mg", "numbers"]
    feed = {name: new[name].to_numpy(np.float64) for name in numeric}
    for name in ("ward", "drug", "grade"):
        cells = new[name].tolist()
        feed[name] = np.array(["" if pd.isna(cell) else str(cell) for cell in cells], dtype=object)
    (probs,) = session(tmp_path / "model.onnx").run(None, feed)
    expected = classifier.predict_proba(new, prior=PRIOR)
    assert expected.std(axis=0).min() > 0.01, "the rows must differ"
    np.testing.assert_allclose(probs, expected, rtol=0, atol=1e-5)


def test_an_onnx_file_says_what_it_is(files):
    model = onnx.load(files[0].path)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 18)]
    assert model.producer_name == "oddkout"
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert facts["opset"] == "18"
    assert json.loads(facts["classes"]) == list(CLASSES)
    assert json.loads(facts["prior"]) == pytest.approx(PRIOR)
    assert json.loads(facts["card_prior"]) == [0.2, 0.3, 0.5]
    assert (facts["temperature"], facts["method"], facts["fingerprint"]) == ("1.7", "oko", "f00d")
    axes = [
        value.type.tensor_type.shape.dim[0] for value in (*model.graph.input, *model.graph.output)
    ]
    assert [axis.dim_param for axis in axes] == ["batch", "batch"]
    assert "opset 18" in str(files[0])


def test_a_column_called_like_the_output_is_refused(tmp_path):
    frame = pd.DataFrame({"probabilities": [0.0, 1.0, 3.0]})
    with pytest.raises(ValueError, match="no column may be called 'probabilities'"):
        oko.export(table_classifier(frame), tmp_path / "m.onnx")
