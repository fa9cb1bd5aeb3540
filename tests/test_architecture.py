"""Rules of the architecture: imports point down, and importing the package costs little."""

import ast
import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "oddkout"
FILES = sorted(SOURCE.rglob("*.py"))

# From the bottom up: a module imports only what stands in a row above its own.
LAYERS = [
    ["checks", "draws", "randomness", "reading", "version", "writing"],
    ["records"],
    ["balance", "sets", "models", "data", "metrics", "workers", "_worker"],
    ["pairs", "partners", "heads", "calibrators"],
    ["samplers", "losses"],
    ["prior"],
    ["decisions", "evaluation", "mixture"],
    ["fitting"],
    ["diagnosis"],
    ["comparing"],
    ["estimator", "exports", "flax", "report", "testing"],
    ["integrations", "paper"],
    ["cli"],
    ["__init__", "__main__"],
]
# A comparison writes its own report when it is asked to: users expect that on the object.
UPWARD = {("comparing", "report")}
LAYER = {module: layer for layer, modules in enumerate(LAYERS) for module in modules}


def module_of(file):
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_names(tree):
    """Dotted names that a file imports, whichever way the import is written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_down(file):
    module = module_of(file)
    for name in imported_names(ast.parse(file.read_text())):
        package, _, rest = name.partition(".")
        if package != "oddkout":
            continue
        imported = rest.split(".")[0]
        assert imported in LAYER, f"{file} imports {name}; import the module that defines it"
        is_below = LAYER[imported] < LAYER[module]
        is_allowed = is_below or imported == module or (module, imported) in UPWARD
        assert is_allowed, f"{module} must not import {imported}"


@pytest.mark.parametrize(
    "line",
    [
        "import oddkout",
        "import oddkout.cli",
        "from oddkout import cli",
        "from oddkout.cli import main",
        "def late():\n    import oddkout.cli.train as t",
        "importlib.import_module('oddkout.cli')",
    ],
)
def test_every_form_of_import_is_seen(line):
    assert [name for name in imported_names(ast.parse(line)) if name.startswith("oddkout")]


def test_only_the_commands_about_the_paper_import_its_package():
    users = {
        str(file.relative_to(SOURCE))
        for file in FILES
        for name in imported_names(ast.parse(file.read_text()))
        if name.startswith("oddkout.paper") and module_of(file) != "paper"
    }
    assert users == {"cli/reproduce.py", "cli/verify.py"}


def test_every_module_has_its_layer():
    assert {module_of(file) for file in FILES} <= LAYER.keys()


def type_names(tree):
    """Names of the classes and type aliases that a file defines."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            yield from (name for name in names if name[0].isupper() and not name.isupper())


def test_a_type_has_a_name_of_its_own():
    files_of = {}
    for file in FILES:
        for name in type_names(ast.parse(file.read_text())):
            files_of.setdefault(name, []).append(str(file.relative_to(SOURCE)))
    assert {name: files for name, files in files_of.items() if len(files) > 1} == {}


def test_no_file_is_longer_than_300_lines_and_half_of_them_are_shorter_than_120():
    lines = {str(file.relative_to(SOURCE)): file.read_text().count("\n") for file in FILES}
    assert {name: count for name, count in lines.items() if count > 300} == {}
    assert statistics.median(lines.values()) <= 120


def test_import_adds_less_than_0_3_s_to_torch_and_no_extra(tmp_path):
    """With compiled files, as an installed package has them; the first import writes them."""
    compiled = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    program = (
        "import time, torch, sys; before = set(sys.modules); start = time.process_time()\n"
        "import oddkout; print(time.process_time() - start)\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            check=True, capture_output=True, text=True, env=os.environ | compiled,
        )
        for _ in range(4)
    ]  # fmt: skip
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
