"""The winner of a comparison, to train with."""

from pathlib import Path

from oddkout.comparing.config import RunConfig
from oddkout.comparing.duels import comparisons_in, titles
from oddkout.comparing.store import RunStore
from oddkout.data import KNOWN


def winning_config(folder: str | Path, *, data: str) -> RunConfig:
    """Config of the method whose probabilities were best: lowest mean NLL, tempered out of fold.

    Args:
        folder: The runs of ``compare``.
        data: The data to train on, by name or path; it says which comparison is meant, if there
            are several.
    """
    comparisons = [one for one in comparisons_in(RunStore(folder).runs()) if one.methods]
    if not comparisons:
        raise ValueError(f"{folder} holds no comparison with a method that ended well")
    if len(comparisons) > 1:
        name = data if data in KNOWN else str(Path(data).absolute())
        meant = [one for one in comparisons if one.runs[0].config.data == name]
        if len(meant) != 1:
            listed = "; ".join(titles(comparisons))
            raise ValueError(
                f"{folder} holds {len(comparisons)} comparisons ({listed}), {len(meant)} of them "
                f"of {data}; give a folder with one"
            )
        comparisons = meant
    [comparison] = comparisons
    best = comparison.best("nll", is_tempered=True)
    return comparison.by_method[best][0].config
