"""A file that differs from the classifier is refused."""

import numpy as np
import pytest
import torch

import oddkout as oko
from oddkout.cli import main
from oddkout.exports import MismatchError
from oddkout.exports.graph import ProbabilityGraph


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
