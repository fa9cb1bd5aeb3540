"""What the protocol's grids chose for each method, and how many fits that took."""

from collections.abc import Sequence

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.paper.choosing import Choosing, made_choices, with_choices
from oddkout.paper.document import TextTable
from oddkout.paper.presets import Preset
from oddkout.paper.settings import TITLES
from oddkout.paper.variants import VARIANTS

# Names of the choices in tables.
_TITLES = {
    "learning_rate": "learning rate",
    "dropout": "dropout",
    "own": "own parameter, times its usual value",
    "updates": "updates, times the planned number",
}


def chosen_tables(preset: Preset, compared: Sequence[Run]) -> list[str | TextTable]:
    """A table for each group of settings whose choices are complete.

    Args:
        preset: The grid.
        compared: The runs that made the choices.
    """
    parts: list[str | TextTable] = []
    known = {run.config: run for run in compared}
    for group in preset.choices:
        try:
            rows = _rows(preset, group, known)
        except KeyError:  # not all of its runs are performed
            continue
        names = [_TITLES[name] for name in group.lists]
        smallest, largest = group.sizes
        data = " and ".join(TITLES[name] for name in group.datasets)
        parts += [
            f"{data}, {smallest:,} to {largest:,} per class:",
            TextTable(header=["method", *names, "fits"], rows=rows),
        ]
    return parts


def _rows(preset: Preset, group: Choosing, known: dict[RunConfig, Run]) -> list[list[str]]:
    """What was chosen for each method; raises KeyError if a run is missing."""
    rows = []
    for variant in preset.chosen_variants(group):
        picked, runs = made_choices(
            group, preset.config, [variant], lambda configs: [known[one] for one in configs]
        )
        config = preset.config(group.references[0][0], variant)
        chosen = [
            f"{picked[variant][name]:g}"
            if len({with_choices(config, {name: value}) for value in values}) > 1
            else "-"
            for name, values in group.lists.items()
        ]
        rows.append([VARIANTS[variant].title, *chosen, str(len(runs))])
    return rows
