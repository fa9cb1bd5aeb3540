"""Exported files: their output is the probability that the classifier reports."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import torch
from torch import nn

import oddkout as oko
from oddkout.cli import main
from oddkout.data.table import TableEncoder
from oddkout.exports import MismatchError
from oddkout.exports.graph import ProbabilityGraph
from oddkout.exports.raw import TableInput
from oddkout.fitting.classifier import Classifier
from oddkout.models import ResNet, build_model, initialise
from oddkout.models.resnet import BLOCKS

SOURCE = Path(__file__).parents[2] / "src"
CLASSES = ("cat", "dog", "owl")
PRIOR = (0.7, 0.2, 0.1)


def spread(model, x):
    """Scale the last layer so that probabilities are neither all even nor all certain."""
    with torch.no_grad():
        model.out.weight *= 2 / model(x).std()
    return model


def image_classifier(network, *, channels, size):
    """A network with weights, statistics of batch norm and constants that all matter."""
    generator = torch.Generator().manual_seed(0)
    shape = (channels, size, size)
    if network == "cnn":
        model = build_model(network, shape=shape, classes=3, generator=generator)
    else:
        model = initialise(ResNet(BLOCKS[network], channels=3, classes=3, width=16), generator)
    for _ in range(5):
        model.train()(2 * torch.randn(16, *shape, generator=generator) + 1)
    return Classifier(
        model=spread(model.eval(), torch.randn(64, *shape, generator=generator)),
        network=network,
        shape=shape,
        classes=CLASSES,
        method="oko",
        prior=(0.2, 0.3, 0.5),
        temperature=1.7,
        mean=(0.4, 0.5, 0.6)[:channels],
        deviation=(0.2, 0.25, 0.3)[:channels],
        details={"data": {"fingerprint": "f00d", "dtype": "uint8"}},
    )


def patients(rows, *, seed=0):
    """Columns of every kind, large offsets and missing cells among them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "time": 1.7e9 + 50 * rng.normal(size=rows),
            "ward": rng.choice(["north", "søuth", ""], rows),
            "dose, mg": rng.choice([0.5, 1.0, np.nan], rows),
            "numbers": rng.integers(0, 5, rows),
            "drug": rng.choice(np.array(["a", "b", None], dtype=object), rows),
            "grade": rng.choice([1, 2, 3], rows),
        }
    )
    frame["ward"] = frame["ward"].replace("", None)
    return frame


def table_classifier(frame, **kinds):
    encoder = TableEncoder(frame, **kinds)
    features = encoder.encode(frame)
    generator = torch.Generator().manual_seed(0)
    shape = features.shape[1:]
    model = build_model("mlp", shape=shape, classes=3, generator=generator).eval()
    return Classifier(
        model=spread(model, torch.from_numpy(features)),
        network="mlp",
        shape=shape,
        classes=CLASSES,
        method="bb+ts",
        prior=(1 / 3,) * 3,
        temperature=0.8,
        encoder=encoder,
    )


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


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


def test_a_table_is_encoded_in_the_graph_as_outside_of_it():
    """To the bit, on rows that the encoder has not seen."""
    train, new = patients(200), patients(200, seed=1)
    new.loc[::5, "ward"] = "never seen"
    encoder = TableEncoder(train, categorical=["grade"])
    table = TableInput(encoder)
    np.testing.assert_array_equal(table(*table.arguments(new)), encoder.encode(new))
    random = table.random_examples(100, torch.Generator().manual_seed(0))
    assert random.isna().any().all(), "cells of every column must be missing"
    np.testing.assert_array_equal(table(*table.arguments(random)), encoder.encode(random))


def test_empty_text_that_is_a_category_stays_one():
    frame = pd.DataFrame({"ward": ["", "north", None, "north"]})
    encoder = TableEncoder(frame)
    table = TableInput(encoder)
    assert table.feed(frame)["ward"].tolist() == ["", "north", "(missing)", "north"]
    np.testing.assert_array_equal(table(*table.arguments(frame)), encoder.encode(frame))


@pytest.mark.parametrize("columns", [["time", "dose, mg"], ["ward", "drug"]])
def test_tables_of_numbers_or_text_alone_are_exported(columns, tmp_path):
    frame = patients(100)[columns]
    result = oko.export(table_classifier(frame), tmp_path / "model.onnx", examples=frame)
    assert result.real == 100
    assert result.difference < 1e-5


def test_features_are_taken_as_they_are(tmp_path):
    classifier = image_classifier("cnn", channels=1, size=8)
    classifier.details["data"]["dtype"] = "float32"
    result = oko.export(classifier, tmp_path / "model.pt2", format="torch")
    x = np.random.default_rng(0).normal(size=(5, 1, 8, 8)).astype(np.float32)
    with torch.no_grad():
        probs = torch.export.load(result.path).module()(torch.from_numpy(x))
    np.testing.assert_allclose(probs, classifier.predict_proba(x), rtol=0, atol=1e-5)
    assert result.facts["inputs"][0]["name"] == "features"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A classifier on disk and some of its examples."""
    folder = tmp_path_factory.mktemp("cnn")
    image_classifier("cnn", channels=1, size=8).save(folder / "model")
    x = np.random.default_rng(0).integers(0, 256, (20, 8, 8), dtype=np.uint8)
    np.savez(folder / "new.npz", x=x)
    return folder


@pytest.fixture(scope="module")
def files(folder):
    """The same classifier, exported in both formats."""
    return [
        oko.export(folder / "model", folder / f"prior.{suffix}", format=format, prior=PRIOR)
        for format, suffix in (("onnx", "onnx"), ("torch", "pt2"))
    ]


BLOCKED = """
import sys
sys.modules["oddkout"] = None  # its import fails
import json, torch
x = torch.tensor(json.loads(sys.stdin.read()), dtype=torch.uint8)
extra = {"card.json": ""}
program = torch.export.load(sys.argv[1], extra_files=extra).module()
probs = [program(x).tolist(), program(x[:1]).tolist()]
print(json.dumps({"probs": probs, "card": json.loads(extra["card.json"])}))
"""


def test_a_torch_program_needs_no_oddkout(folder, files, tmp_path):
    x = np.load(folder / "new.npz")["x"]
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BLOCKED, files[1].path],
        input=json.dumps(x.tolist()),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    found = json.loads(answer.stdout)
    expected = Classifier.load(folder / "model").predict_proba(x, prior=PRIOR)
    np.testing.assert_allclose(found["probs"][0], expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found["probs"][1], expected[:1], rtol=0, atol=1e-5)
    assert found["card"]["classes"] == list(CLASSES)
    assert found["card"]["inputs"] == [
        {"name": "images", "dtype": "uint8", "shape": ["batch", 8, 8]}
    ]


def test_the_torch_program_of_a_table_takes_numbers_and_codes(tmp_path):
    frame = patients(300)
    classifier = table_classifier(frame, categorical=["grade"])
    oko.export(classifier, tmp_path / "model.pt2", format="torch", prior=PRIOR)
    extra = {"card.json": ""}
    program = torch.export.load(tmp_path / "model.pt2", extra_files=extra).module()
    numbers, codes = json.loads(extra["card.json"])["inputs"]
    assert numbers["columns"] == ["time", "dose, mg", "numbers"]
    assert codes["columns"]["drug"] == ["(missing)", "a", "b"]
    text = frame.astype({"grade": str}).fillna({"ward": "(missing)", "drug": "(missing)"})
    coded = [
        [seen.index(cell) for cell in text[column]] for column, seen in codes["columns"].items()
    ]
    probs = program(
        torch.tensor(frame[numbers["columns"]].to_numpy(np.float64)), torch.tensor(coded).T
    )
    np.testing.assert_allclose(
        probs.detach().numpy(), classifier.predict_proba(frame, prior=PRIOR), rtol=0, atol=1e-5
    )


def test_an_onnx_file_says_what_it_is(files):
    model = onnx.load(files[0].path)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 18)]
    assert model.producer_name == "oddkout"
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert facts["opset"] == "18"
    assert json.loads(facts["classes"]) == list(CLASSES)
    assert json.loads(facts["prior"]) == pytest.approx(PRIOR)
    assert json.loads(facts["train_prior"]) == [0.2, 0.3, 0.5]
    assert (facts["temperature"], facts["method"], facts["fingerprint"]) == ("1.7", "oko", "f00d")
    axes = [
        value.type.tensor_type.shape.dim[0] for value in (*model.graph.input, *model.graph.output)
    ]
    assert [axis.dim_param for axis in axes] == ["batch", "batch"]
    assert "opset 18" in str(files[0])


def test_files_name_no_place_on_the_machine_that_made_them(folder, files):
    with zipfile.ZipFile(files[1].path) as archive:
        parts = [archive.read(name) for name in archive.namelist()]
    for text in (b"site-packages", b"src/oddkout", b'.py"', str(folder).encode()):
        assert not any(text in part for part in [*parts, files[0].path.read_bytes()])


def test_the_classifier_is_left_as_it_was(folder, tmp_path):
    classifier = Classifier.load(folder / "model")
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    classifier.model.train()
    oko.export(classifier, tmp_path / "model.pt2", format="torch")
    for name, value in classifier.model.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


@pytest.mark.parametrize(("format", "name"), [("onnx", "m.onnx"), ("torch", "m.pt2")])
def test_a_file_that_differs_is_refused_and_not_left(folder, tmp_path, monkeypatch, format, name):
    def forward(self, *inputs):
        probs = right(self, *inputs)
        return probs + 2e-5 * torch.tensor([1.0, -1.0, 0.0])

    right = ProbabilityGraph.forward
    monkeypatch.setattr(ProbabilityGraph, "forward", forward)
    with pytest.raises(MismatchError, match=r"to within 1e-05, but differs by 2e-05 on 256 random"):
        oko.export(folder / "model", tmp_path / name, format=format)
    assert list(tmp_path.iterdir()) == []


def test_a_difference_on_real_examples_alone_is_found(folder, tmp_path, monkeypatch, capsys):
    """White images are never among the random ones."""

    def forward(self, *inputs):
        is_white = (inputs[0] == 255).flatten(1).all(dim=1, keepdim=True)
        return torch.where(is_white, 0.5, right(self, *inputs))

    right = ProbabilityGraph.forward
    monkeypatch.setattr(ProbabilityGraph, "forward", forward)
    oko.export(folder / "model", tmp_path / "m.pt2", format="torch")
    np.savez(tmp_path / "white.npz", x=np.full((3, 8, 8), 255, np.uint8))
    command = ["export", str(folder / "model"), "--format", "torch", "--out", f"{tmp_path}/w.pt2"]
    assert main([*command, "--data", str(tmp_path / "white.npz")]) == 1
    error = capsys.readouterr().err
    assert "3 real examples" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "w.pt2").exists()


def test_an_existing_file_survives_a_failed_export(folder, tmp_path, monkeypatch):
    (tmp_path / "m.pt2").write_text("the last one that worked")
    monkeypatch.setattr(
        ProbabilityGraph, "forward", lambda self, *inputs: self.model(self.raw(*inputs)).softmax(1)
    )
    with pytest.raises(MismatchError):
        oko.export(folder / "model", tmp_path / "m.pt2", format="torch")
    assert [path.name for path in tmp_path.iterdir()] == ["m.pt2"]
    assert (tmp_path / "m.pt2").read_text() == "the last one that worked"


class Counting(nn.Module):
    """A network that decides by the number of examples."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        return self.out(x.flatten(1)) * (2 if len(x) == 2 else 1)


def test_a_network_that_counts_its_examples_is_refused(tmp_path):
    classifier = Classifier(
        model=Counting().eval(),
        network="mine:Counting",
        shape=(4,),
        classes=CLASSES,
        method="oko",
        prior=(1 / 3,) * 3,
    )
    with pytest.raises(
        ValueError, match=r"'mine:Counting' must be a graph for any number"
    ) as error:
        oko.export(classifier, tmp_path / "m.onnx")
    assert error.value.__cause__ is not None
    assert list(tmp_path.iterdir()) == []


def test_a_column_called_like_the_output_is_refused(tmp_path):
    frame = pd.DataFrame({"probabilities": [0.0, 1.0, 3.0]})
    with pytest.raises(ValueError, match="no column may be called 'probabilities'"):
        oko.export(table_classifier(frame), tmp_path / "m.onnx")


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


def test_the_command_writes_beside_the_folder_and_is_quiet(folder):
    """A process of its own: exporters warn and log where pytest does not look."""
    command = [sys.executable, "-m", "oddkout", "export", "model", "--data", "new.npz", "--json"]
    answer = subprocess.run(
        [*command, "--prior", "0.7,0.2,0.1"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stderr == ""
    found = json.loads(answer.stdout)
    assert found["path"] == "model.onnx"
    assert found["opset"] == 18
    assert found["checked"]["random"] == 256
    assert found["checked"]["real"] == 20
    assert found["checked"]["difference"] < 1e-5
    x = np.load(folder / "new.npz")["x"]
    (probs,) = session(folder / "model.onnx").run(None, {"images": x})
    expected = Classifier.load(folder / "model").predict_proba(x, prior=PRIOR)
    np.testing.assert_allclose(probs, expected, rtol=0, atol=1e-5)


def test_the_command_says_what_it_wrote(folder, tmp_path, capsys):
    out = str(tmp_path / "deep" / "model.pt2")
    assert main(["export", str(folder / "model"), "--format", "torch", "--out", out]) == 0
    text = capsys.readouterr().out
    assert f"wrote {out}: torch" in text
    assert "temperature 1.7" in text
    assert "256 random and 0 real examples" in text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--format", "pickle"], "'pickle' is not one of 'onnx', 'torch'"),
        (["--out", "model.pt2"], "format 'onnx' must be called *.onnx, got model.pt2"),
        (["--prior", "0.5,0.5"], "of the same classes, got 2 and 3"),
        (["--prior", "half"], "--prior must be numbers with commas between"),
        (["--data", "gone.npz"], "there is no file or folder gone.npz"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    folder, tmp_path, capsys, monkeypatch, options, text
):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(folder / "model"), *options]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
