"""What to type to perform a comparison again."""

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.duels import takes_k
from oddkout.data import KNOWN
from oddkout.fitting.recipe import suited_to

# The fields of a config that are options of ``oddkout compare``.
_OPTIONS = (
    "distribution", "train_examples", "target", "test", "test_size", "image_size", "model",
    "updates", "examples", "dropout", "folds",
)  # fmt: skip
_REPLACED = ("method", "learning_rate", "seed")  # by every run of a comparison


def reproducing_command(comparison: Comparison, *, out: str | Path) -> str:
    """The command that performs a comparison; the call in Python where no command can.

    Performed in a folder that holds the runs already, it only reads them.

    Args:
        comparison: The comparison.
        out: Folder of the runs.
    """
    configs = [run.config for run in comparison.runs]
    base = next((config for config in configs if takes_k(config.method)), configs[0])
    methods = list(comparison.by_method)
    seeds = max(config.seed for config in configs) + 1
    rates = sorted(
        {float(run.config.learning_rate) for run in comparison.tuning or comparison.runs}
    )
    counts = next((run.train_counts for run in comparison.runs if run.config.seed == 0), [])
    # What the command takes by itself: by the kind of data, and by how many there are.
    usual = {"population": "uniform"} if base.data in KNOWN else {}
    usual |= suited_to(counts) if counts else {}
    plain = {*_OPTIONS, "data", "fingerprint", "categorical"}
    changed = _changed(base, usual)
    if changed.keys() - plain:
        told = ", ".join(f"{name}={value!r}" for name, value in _changed(base, {}).items())
        return (
            "import oddkout as oko\nfrom oddkout.comparing.config import RunConfig\n\n"
            f"oko.compare(\n    RunConfig({told}),\n    methods={methods},\n    seeds={seeds},\n"
            f"    learning_rates={rates},\n    out={str(out)!r},\n)"
        )
    options = {
        "--methods": ",".join(methods),
        "--seeds": seeds,
        "--learning-rates": ",".join(map(str, rates)),
        "--distribution": base.distribution,  # its default depends on the data
    } | {f"--{name.replace('_', '-')}": changed[name] for name in _OPTIONS if name in changed}
    pairs = [*options.items(), *(("--categorical", column) for column in base.categorical)]
    lines = [f"oddkout compare {shlex.quote(base.data)}"]
    lines += [f"{name} {shlex.quote(str(value))}" for name, value in (*pairs, ("--out", out))]
    return " \\\n  ".join(lines)


def _changed(config: RunConfig, usual: dict[str, Any]) -> dict[str, Any]:
    """The fields of a config that are not as usual; where nothing is usual, not the defaults."""
    return {
        part.name: getattr(config, part.name)
        for part in fields(RunConfig)
        if part.name not in _REPLACED
        and getattr(config, part.name) != usual.get(part.name, part.default)
    }
