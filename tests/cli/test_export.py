"""The command ``oddkout export``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exportable import (
    PRIOR,
    saved_classifier,
    session,
)

import oddkout as oko
from oddkout.cli import main
from oddkout.fitting.classifier import Classifier

SOURCE = Path(oko.__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved_classifier(tmp_path_factory.mktemp("cnn"))


def test_the_command_writes_beside_the_folder_and_is_quiet(folder):
    """In a separate process: pytest does not see all warnings and logs of the exporters."""
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
    printed = json.loads(answer.stdout)
    assert printed["path"] == "model.onnx"
    assert printed["opset"] == 18
    assert printed["checked"]["random"] == 256
    assert printed["checked"]["real"] == 20
    assert printed["checked"]["difference"] < 1e-5
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
        (["--prior", "0.5,0.5"], "one frequency for each of the 3 classes"),
        (["--prior", "half"], "--prior must be train, uniform, or numbers"),
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
