"""Torch programs: ``.pt2`` files, which PyTorch runs without the code that made them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from oddkout.exports.graph import quiet_exporter
from oddkout.exports.raw import RawInput

# Where the facts are in the archive: torch.export.load(path, extra_files={CARD: ""}) reads them.
CARD = "card.json"


def write_program(
    program: torch.export.ExportedProgram, path: Path, *, facts: dict[str, Any]
) -> None:
    """Write a torch program.

    Args:
        program: The program.
        path: File to write.
        facts: What the file is to say about it.
    """
    with quiet_exporter():
        torch.export.save(program, path, extra_files={CARD: json.dumps(facts)})


def program_probabilities(path: Path, *, raw: RawInput) -> Callable[[Any], Any]:
    """A function from examples, as the classifier takes them, to what a file says of them.

    Args:
        path: The file.
        raw: What brings examples into the form that the file takes.
    """
    with quiet_exporter():
        module = torch.export.load(path).module()

    def probabilities(x: Any) -> Any:
        with torch.no_grad():
            return module(*raw.arguments(x)).numpy()

    return probabilities
