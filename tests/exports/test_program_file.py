"""Torch programs give the probabilities of the classifier without this library."""

import json
import subprocess
import sys

import numpy as np
import torch
from exportable import (
    CLASSES,
    PRIOR,
    patients,
    table_classifier,
)

import oddkout as oko
from oddkout.fitting.classifier import Classifier

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
