"""Every block of Python in the README runs."""

import re
from pathlib import Path

import pytest
import torch
from torch.utils.data import TensorDataset

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[-1][:40])
def test_the_block_runs(block):
    x, labels = torch.randn(60, 5), torch.arange(60) % 3
    given = {"x": x, "y": labels, "labels": labels, "train": TensorDataset(x, labels)}
    exec(block, given | {"model": torch.nn.Linear(5, 3)})
