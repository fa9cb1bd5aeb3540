"""Tensors on a full disk."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from oddkout.writing import write_tensors


def test_tensors_are_written_with_their_texts(tmp_path):
    write_tensors({"a": torch.arange(3)}, tmp_path / "file", metadata={"b": "c"})
    assert load_file(tmp_path / "file")["a"].tolist() == [0, 1, 2]


def test_a_disk_that_takes_nothing_is_an_error_with_the_name_of_the_file():
    with pytest.raises(OSError, match=r"/dev/null/file cannot be written .* make room on the disk"):
        write_tensors({"a": torch.arange(3)}, Path("/dev/null/file"))
