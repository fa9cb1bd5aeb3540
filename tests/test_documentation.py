"""Documentation that holds: blocks and examples run, the site is built without a warning."""

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import TensorDataset

import oddkout as oko
from oddkout.fitting import views
from oddkout.fitting.recipe import Recipe

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
EXAMPLES = sorted(path.name for path in ROOT.glob("examples/*.py"))
# Modules of extras: code that imports a missing one is skipped. Any other must be there.
OPTIONAL = {
    *("accelerate", "flax", "jax", "lightning", "matplotlib", "onnxruntime", "pandas", "sklearn"),
    *("torchdata", "transformers"),
}
NOISY = {"accelerate", "lightning", "onnxruntime", "transformers"}  # their warnings are not ours


def imported(code):
    """Names of the packages that the code imports."""
    nodes = list(ast.walk(ast.parse(code)))
    modules = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    modules += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    return {module.partition(".")[0] for module in modules}


def missing(code):
    """Optional packages that the code imports and that are not installed."""
    return sorted(name for name in imported(code) & OPTIONAL if find_spec(name) is None)


def blocks(page):
    """Python and shell blocks of a page: their language and what is in them."""
    text = (ROOT / page).read_text()
    return re.findall(r"^```(python|sh)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def commands(block):
    """What is typed after ``oddkout`` in a shell block; other programs are not run."""
    lines = [line for line in block.splitlines() if line.startswith("oddkout ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the files that pages speak of, to stand in."""
    rng = np.random.default_rng(0)
    rows = [f"{dose:.3f},{age}" for dose, age in rng.uniform(0, 90, size=(120, 2)).round(1)]
    table = [f"{row},{'well' if place % 4 else 'ill'}" for place, row in enumerate(rows)]
    (tmp_path / "patients.csv").write_text("\n".join(["dose,age,diagnosis", *table]))
    (tmp_path / "new.csv").write_text("\n".join(["dose,age", *rows[:9]]))
    np.savez(tmp_path / "new.npz", x=oko.load_data("digits").x_test[:20])
    lines = [
        f"{p:.4f},{1 - p:.4f},{'no' if p > q else 'yes'}" for p, q in rng.uniform(size=(60, 2))
    ]
    (tmp_path / "predictions.csv").write_text("\n".join(["no,yes,label", *lines]))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def short_trainings(monkeypatch):
    """Few updates wherever a page leaves their number open."""
    monkeypatch.setattr(Recipe, "updates", 25)
    monkeypatch.setattr(views, "_UPDATES", 40)  # of the stack for tables


@pytest.mark.usefixtures("desk", "short_trainings", "without_shape_checks")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_every_block_of_the_page_runs(page, subtests):
    """One after the other, as a reader runs them, in one namespace."""
    namespace = {"__name__": "page"}
    if page in ("README.md", "docs/training-loops.md"):  # which speak of data that readers have
        x, labels = torch.randn(60, 5), torch.arange(60) % 3
        namespace |= {"x": x, "y": labels, "labels": labels, "train": TensorDataset(x, labels)}
        namespace |= {"model": torch.nn.Linear(5, 3)}
    for language, block in blocks(page):
        with subtests.test(block=block.splitlines()[0]), warnings.catch_warnings():
            if language == "sh":
                run_commands(block)
                continue
            if absent := missing(block):
                pytest.skip(f"{absent} are not installed")
            if imported(block) & NOISY:
                warnings.simplefilter("ignore")
            exec(compile(block, page, "exec"), namespace)


def run_commands(block):
    """Run what a reader types, but compare fewer methods on fewer seeds, and train less."""
    from oddkout.cli import main

    for command in commands(block):
        if command[0] == "train" and "best" not in command:
            command += ["--learning-rates", "0.1", "--updates", "60", "--folds", "2"]
        if command[0] == "compare":
            command += ["--methods", "vanilla,oko", "--seeds", "1", "--learning-rates", "0.1"]
            command += ["--folds", "2", "--processes", "1"]
        assert main(command) == 0, f"oddkout {shlex.join(command)}"


def test_blocks_are_found_and_a_wrong_one_fails(tmp_path):
    assert {"README.md", "docs/index.md", "docs/export.md", "docs/prior.md"} <= set(PAGES)
    assert sum(language == "python" for page in PAGES for language, _ in blocks(page)) >= 30
    every = sum(len(re.findall(r"^```\w", (ROOT / page).read_text(), re.M)) for page in PAGES)
    text = sum((ROOT / page).read_text().count("```text") for page in PAGES)
    assert sum(len(blocks(page)) for page in PAGES) == every - text, "other blocks are output"
    assert missing("import torhc") == [], "a misspelt module is not taken for an extra"


def test_there_are_four_short_examples():
    assert len(EXAMPLES) == 4
    for name in EXAMPLES:
        assert len((ROOT / "examples" / name).read_text().splitlines()) < 60, name


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_ends_with_accuracy_and_calibration(name, tmp_path):
    code = (ROOT / "examples" / name).read_text()
    if absent := missing(code):
        pytest.skip(f"{absent} are not installed")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name, *(["1"] if name == "digits.py" else [])],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    if name == "digits.py":
        rows = re.findall(r"^odd-k-out +([\d.]+) ± [\d.]+ +([\d.]+) ±", done.stdout, re.M)
    else:
        rows = re.findall(r"accuracy ([\d.]+), ECE ([\d.]+)", done.stdout)
    accuracy, ece = rows[-1]
    assert float(accuracy) > 0.8, "chance is 0.5 for the table, 0.1 for the digits"
    assert float(ece) < 0.2
    if logged := re.search(r"ECE of the callback: ([\d.]+)", done.stdout):
        assert float(logged[1]) == pytest.approx(float(ece), abs=6e-4)


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(path.read_text() for path in ROOT.glob("docs/api/*.md"))
    shown = set(re.findall(r"^::: (\S+)$", pages, re.M))
    modules = ["calibrators", "decisions", "metrics", "testing"]
    public = {f"oddkout.{name}" for name in oko.__all__ if name not in modules}
    for name in [*modules, "exports"]:
        module = import_module(f"oddkout.{name}")
        public |= {f"oddkout.{name}.{member}" for member in module.__all__}
    assert public - shown == set()


def test_figures_are_what_their_script_draws(tmp_path):
    pytest.importorskip("matplotlib")
    drawn = runpy.run_path(str(ROOT / "docs" / "figures.py"))["draw"](tmp_path)
    kept = {path.name for path in ROOT.glob("docs/assets/*.svg")}
    assert {path.name for path in drawn} == kept
    for path in drawn:  # words and numbers alone: another matplotlib may place them elsewhere
        words = [re.findall(r"<text[^>]*>([^<]*)</text>", p.read_text()) for p in
                 (path, ROOT / "docs" / "assets" / path.name)]  # fmt: skip
        assert words[0] == words[1]
        assert any(metric in word for word in words[0] for metric in ("ECE", "accuracy", "NLL"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as ``make docs`` does, but elsewhere."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING" not in done.stderr
    return folder


def test_the_site_asks_no_other_host_for_scripts_styles_fonts_or_pictures(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        text = page.read_text()
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?([^\s\">]+)", text)
        loaded += [url for tag in re.findall(r"<link[^>]*>", text) if "canonical" not in tag
                   for url in re.findall(r"href=\"?([^\s\">]+)", tag)]  # fmt: skip
        assert loaded
        assert [url for url in loaded if re.match(r"(https?:)?//", url)] == [], page
    for sheet in site.rglob("*.css"):
        found = re.findall(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^)\"']+)", sheet.read_text())
        assert found == [], sheet


def test_shapes_in_the_reference_read_as_in_the_source(site):
    text = re.sub(r"<[^>]*>", "", (site / "api" / "oddkout.html").read_text())
    assert 'Float[Tensor, "sets classes"]' in text
    assert 'Int[Tensor, "examples"]' in text
    assert not re.search(r"Tensor, (\"|&#39;) ", text), "the linter's space is not for readers"


def test_examples_in_the_reference_are_code(site):
    text = (site / "api" / "oddkout.html").read_text()
    assert text.count('<span class="gp">&gt;&gt;&gt; </span>') > 30
    assert "<blockquote>" not in text, "which is what Markdown makes of >>>"


def test_results_are_shown_once_they_exist(tmp_path):
    files = pytest.importorskip("mkdocs.structure.files")
    config = pytest.importorskip("mkdocs.config").load_config(str(ROOT / "mkdocs.yml"))
    config.plugins._current_plugin = None  # what mkdocs says while a hook runs
    (tmp_path / "a.svg").touch()
    hooks = runpy.run_path(str(ROOT / "docs" / "hooks.py"))
    hooks["included"].__globals__["ROOT"] = tmp_path
    theory = files.File("theory.md", str(ROOT / "docs"), str(tmp_path), use_directory_urls=False)
    known = files.Files([theory])
    text = "# Results\n[proof](docs/theory.md#x), [code](src/a.py), ![a](a.svg) [site](https://a.b)"
    shown = hooks["included"](text, config, known)
    assert shown == "[proof](theory.md#x), code, ![a](a.svg) [site](https://a.b)"
    assert known.get_file_from_path("a.svg") is not None
