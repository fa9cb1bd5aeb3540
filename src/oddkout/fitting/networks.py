"""Build the network of a recipe, and train it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn

from oddkout.fitting.compilation import training_operations
from oddkout.fitting.methods import Method
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.threads import suitable_threads
from oddkout.fitting.training import Progress, Trained, predict_logits, train
from oddkout.models import build_model
from oddkout.models.cosine import SUFFIX, with_cosine_layer
from oddkout.models.encodings import Encoding, EncodingPlan, encoded_network
from oddkout.models.forest import FOREST, Forest
from oddkout.randomness import keyed_generator, keyed_globals


def built_network(
    recipe: Recipe,
    *,
    method: Method,
    shape: tuple[int, ...],
    classes: int,
    seed: int,
    encoding: Encoding | None = None,
) -> nn.Module:
    """The untrained network of a recipe.

    Args:
        method: The method; one with margins replaces the last layer by one of cosines.
        shape: Shape of one example.
        classes: Number of classes.
        seed: Seed of the initial weights.
        encoding: Encodes rows of features before the network sees them.
    """
    shape = shape if encoding is None else (encoding.plan.features,)
    with keyed_globals(seed, 0, device=torch.device("cpu")):  # for custom networks
        network = build_model(
            recipe.model,
            shape=shape,
            classes=classes,
            generator=keyed_generator(seed, 0),
            dropout=recipe.dropout,
        )
    network = with_cosine_layer(network) if method.loss == "margin" else network
    return network if encoding is None else encoded_network(encoding, network)


def network_name(recipe: Recipe, method: Method) -> str:
    """Name of the network of a recipe, for the card."""
    name = recipe.model
    name = name if isinstance(name, str) else getattr(name, "__name__", "own")
    return f"{name}{SUFFIX}" if method.loss == "margin" else name


def train_network(
    x: Float[Tensor, "examples ..."],
    y: Tensor,
    *,
    recipe: Recipe,
    method: Method,
    classes: int,
    seed: int,
    encoding: EncodingPlan | None = None,
    groups: Tensor | None = None,
    stops: Sequence[int] | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Build the network of a recipe and train it.

    Args:
        x: Training examples, standardised.
        y: Their classes.
        seed: Seed of all randomness.
        encoding: How the network sees rows of features; learned from these rows.
        groups: Group of each example; pairs of sets are from different groups.
        stops: Numbers of updates after which to keep a snapshot; see ``train``.
        checkpoint: File for the state of training, which resumes from it.
        progress: Called with each new row of the log.
    """
    if recipe.model == FOREST:
        return grown_forest(x, y, classes=classes, seed=seed, encoding=encoding)
    network = built_network(
        recipe,
        method=method,
        shape=tuple(x.shape[1:]),
        classes=classes,
        seed=seed,
        encoding=None if encoding is None else Encoding(encoding).fit(x),
    )
    _refuse_other_outputs(network, x, classes)
    operations = training_operations(network, x) * recipe.examples * recipe.updates
    with suitable_threads(operations):
        return train(
            network,
            x,
            y,
            method=with_options(method, recipe),
            classes=classes,
            stops=stops,
            seed=seed,
            groups=groups,
            checkpoint=checkpoint,
            progress=progress,
            **recipe.options,
        )


def grown_forest(
    x: Float[Tensor, "examples features"],
    y: Tensor,
    *,
    classes: int,
    seed: int,
    encoding: EncodingPlan | None,
) -> Trained:
    """A forest behind its encoding, which needs no updates; the arguments are those above."""
    plan = EncodingPlan.of(x, name="standard") if encoding is None else encoding
    first = Encoding(plan).fit(x)
    model = encoded_network(first, Forest(classes).fit(first(x), y, seed=seed)).eval()
    return Trained(model=model, snapshots={1: model.state_dict()})


def with_options(method: Method, recipe: Recipe) -> Method:
    """The method with the label smoothing and the gamma of the recipe, if they apply."""
    if recipe.smoothing is not None and method.smoothing:
        method = replace(method, smoothing=recipe.smoothing)
    if recipe.gamma is not None and method.loss == "focal":
        method = replace(method, gamma=recipe.gamma)
    return method


def _refuse_other_outputs(network: nn.Module, x: Tensor, classes: int) -> None:
    """Raise unless the network outputs one logit per class."""
    shape = tuple(predict_logits(network, x[:1]).shape)
    if shape != (1, classes):
        raise ValueError(
            f"the network must output a logit for each of {classes} classes, got logits of shape "
            f"{shape} for 1 example; let its function take classes= and use it for the last layer"
        )
