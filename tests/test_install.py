"""The bare package, installed as a user would, in an environment of its own."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def needed(names):
    """The distributions that these need, directly or not, without extras."""
    found, open_names = {}, list(names)
    while open_names:
        requirement = Requirement(open_names.pop())
        is_wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if is_wanted and requirement.name not in found:
            found[requirement.name] = metadata.distribution(requirement.name)
            open_names += found[requirement.name].requires or []
    return found


def linked(distributions, folder):
    """A folder that holds nothing but the files of these distributions, as links."""
    folder.mkdir()
    for distribution in distributions:
        tops = {file.parts[0] for file in distribution.files if file.parts[0] not in ("..", ".")}
        for top in tops - {"__pycache__"}:
            link = folder / top
            if not link.exists():
                link.symlink_to(distribution.locate_file(top))
    return folder


def test_the_bare_package_installs_and_imports(tmp_path):
    """What it declares to need is all that it finds; downloading that again would take long."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    python = venv / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    install = [*pip, "install", "-q", "--no-deps", "-c", ROOT / "constraints.txt", ROOT]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    is_offline = "onnection" in done.stderr and "CI" not in os.environ
    if done.returncode and is_offline:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr

    [site] = venv.glob("lib/python*/site-packages")
    [own] = metadata.distributions(name="oddkout", path=[str(site)])
    others = linked(needed(own.requires).values(), tmp_path / "needed")
    (site / "needed.pth").write_text(f"{others}\n")
    program = (
        "import importlib.util, torch, oddkout as oko\n"
        "assert not any(map(importlib.util.find_spec, ['sklearn', 'matplotlib', 'typer', 'ray']))\n"
        "labels = torch.arange(12) % 3\n"
        "print(oko.__file__)\n"
        "print(oko.OddKOutLoss(k=2)(torch.zeros(12, 3), labels).item())"
    )
    answer = subprocess.run(
        [python, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert answer.stderr == ""
    file, loss = answer.stdout.split()
    assert Path(file).is_relative_to(site)
    assert float(loss) == pytest.approx(1.0986, abs=1e-4)
