"""Every block of Python in the README and on pages for users runs, and so do short examples."""

import os
import re
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from torch.utils.data import TensorDataset

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/training-loops.md"]
BLOCKS = [
    pytest.param(page, block, id=f"{page}: {block.splitlines()[-1][:40]}")
    for page in PAGES
    for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
]
FOREIGN = ["lightning", "torchdata", "accelerate", "transformers"]


def imported(code):
    """Training stacks of others that the code imports."""
    return [name for name in FOREIGN if re.search(rf"^(import|from) {name}\b", code, re.MULTILINE)]


def skip_unless_installed(code):
    missing = [name for name in imported(code) if find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing} are not installed")


@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_the_block_runs(page, block, tmp_path, monkeypatch):
    skip_unless_installed(block)
    monkeypatch.chdir(tmp_path)  # training stacks write where they stand
    x, labels = torch.randn(60, 5), torch.arange(60) % 3
    given = {"x": x, "y": labels, "labels": labels, "train": TensorDataset(x, labels)}
    namespace = given | {"model": torch.nn.Linear(5, 3), "__name__": "page"}
    with warnings.catch_warnings():
        if imported(block):  # their warnings are not ours
            warnings.simplefilter("ignore")
        exec(block, namespace)


@pytest.mark.parametrize("name", ["lightning_digits.py", "hf_trainer_digits.py"])
def test_the_example_is_short_and_ends_with_accuracy_and_calibration(name, tmp_path):
    code = (ROOT / "examples" / name).read_text()
    skip_unless_installed(code)
    assert len(code.splitlines()) < 60
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    accuracy, ece = re.search(r"accuracy ([\d.]+)%, ECE ([\d.]+)", done.stdout).groups()
    assert float(accuracy) > 80, "a tenth of it is chance"
    assert float(ece) < 0.2
    if logged := re.search(r"logged last: ([\d.]+)", done.stdout):
        assert float(logged[1]) == pytest.approx(float(ece), abs=6e-4)
