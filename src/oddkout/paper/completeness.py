"""How much of a protocol's grid is performed."""

from oddkout.paper.evidence import Evidence
from oddkout.paper.presets import Preset

PRESET_TITLES = {"paper": "MNIST and FashionMNIST", "cifar": "CIFAR"}


def is_complete(grid: Evidence, preset: Preset) -> bool:
    """Whether all runs of a preset are performed, failed ones included."""
    data = {setting.data for setting in preset.settings}
    runs = [run for run in (*grid.trained, *grid.failed) if run.config.data in data]
    return len(runs) == len(preset.entries)


def performed(grid: Evidence, preset: Preset) -> str:
    """How many runs of a grid are performed, in a sentence."""
    planned = len(preset.entries)
    data = {setting.data for setting in preset.settings}
    done = [run for run in grid.trained if run.config.data in data]
    failed = [run for run in grid.failed if run.config.data in data]
    title = PRESET_TITLES[preset.name]
    if not done:
        return f"{title}: not yet performed, {planned:,} runs planned."
    state = "complete" if is_complete(grid, preset) else "not yet complete"
    return f"{title}: {len(done):,} of {planned:,} runs performed, {len(failed)} failed; {state}."
