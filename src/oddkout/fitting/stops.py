"""Where the training of members may stop."""

from jaxtyping import Float
from torch import Tensor

from oddkout.fitting.methods import SECOND_STAGE, Method
from oddkout.fitting.networks import built_network
from oddkout.fitting.recipe import Recipe
from oddkout.models.forest import FOREST

# Shares of the updates after which training may stop.
STOPS = (1 / 4, 3 / 8, 1 / 2, 3 / 4, 1.0)

# Snapshots of all members together take at most this many bytes.
_SNAPSHOT_BYTES = 1 << 30


def suitable_stops(
    recipe: Recipe,
    x: Float[Tensor, "examples ..."],
    *,
    method: Method,
    classes: int,
    folds: int,
) -> tuple[float, ...]:
    """Shares of the updates after which training may stop.

    With a decaying learning rate or for a forest only the end; with two stages only in the second
    one. For large networks fewer, so that the snapshots fit into a gigabyte.
    """
    if recipe.schedule != "constant" or recipe.model == FOREST:
        return STOPS[-1:]
    shape = tuple(x.shape[1:])
    network = built_network(recipe, method=method, shape=shape, classes=classes, seed=0)
    size = sum(value.numel() * value.element_size() for value in network.state_dict().values())
    count = max(1, min(len(STOPS), _SNAPSHOT_BYTES // (folds * size)))
    first = SECOND_STAGE if method.is_deferred else 0.0
    return tuple(stop for stop in STOPS[len(STOPS) - count :] if stop > first)
