"""Write and run torch programs: ``.pt2`` files that need PyTorch but not our code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from oddkout.exports.graph import quiet_exporter
from oddkout.exports.raw import RawInput

# Name of the facts in the archive: torch.export.load(path, extra_files={CARD: ""}) reads them.
CARD = "card.json"


def write_program(
    program: torch.export.ExportedProgram, path: Path, *, facts: dict[str, Any]
) -> None:
    """Write a torch program, with the facts as its card."""
    with quiet_exporter():
        torch.export.save(program, path, extra_files={CARD: json.dumps(facts)})


def program_probabilities(path: Path, *, raw: RawInput) -> Callable[[Any], Any]:
    """Load a torch program as a function from examples to probabilities.

    The function takes examples as ``predict_proba`` does; ``raw`` converts them to the inputs of
    the program.
    """
    with quiet_exporter():
        module = torch.export.load(path).module()

    def probabilities(x: Any) -> Any:
        with torch.no_grad():
            return module(*raw.arguments(x)).numpy()

    return probabilities
