"""Rules of the architecture: imports point down, and importing the package costs little."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "oddkout"
FILES = sorted(SOURCE.rglob("*.py"))

LAYERS = [
    ["checks", "randomness"],
    [
        "sets",
        "samplers",
        "losses",
        "heads",
        "augmentation",
        "allocator",
        "compilation",
        "optimisation",
        "checkpoint",
        "models",
        "data",
        "metrics",
        "calibrators",
    ],
    ["methods", "training", "artifact", "evaluation", "diagnosis"],
    [
        "experiments",
        "exports",
        "flax",
        "report",
        "theory",
        "estimator",
        "integrations",
        "testing",
    ],
    ["cli"],
    ["__init__", "__main__"],
]
LAYER = {module: layer for layer, modules in enumerate(LAYERS) for module in modules}
# Within a layer: samplers and losses are made of sets, training trains by a method, what it trained
# predicts, reports show what experiments found, and a callback draws figures.
SIDEWAYS = {
    ("samplers", "sets"),
    ("losses", "sets"),
    ("training", "methods"),
    ("artifact", "training"),
    ("report", "experiments"),
    ("integrations", "report"),
}


def module_of(file):
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_down(file):
    module = module_of(file)
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("oddkout."):
            imported = node.module.split(".")[1]
            is_allowed = (
                LAYER[imported] < LAYER[module]
                or imported == module
                or (module, imported) in SIDEWAYS
            )
            assert is_allowed, f"{module} must not import {imported}"


def test_every_module_has_its_layer():
    assert {module_of(file) for file in FILES} <= LAYER.keys()


def test_import_adds_less_than_0_3_s_to_torch_and_no_extra():
    program = (
        "import time, torch, sys; before = set(sys.modules); start = time.process_time()\n"
        "import oddkout; print(time.process_time() - start)\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    answers = [
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        for _ in range(3)
    ]
    seconds = min(float(answer.stdout.split()[0]) for answer in answers)
    assert seconds < 0.3
    imported = set(answers[0].stdout.split()[1:])
    extras = {
        "sklearn",
        "matplotlib",
        "typer",
        "rich",
        "jinja2",
        "ray",
        "submitit",
        "pandas",
        "scipy",
        "mpmath",
        "onnx",
        "onnxruntime",
        "jax",
        "lightning",
        "accelerate",
        "transformers",
    }
    assert not imported & extras
