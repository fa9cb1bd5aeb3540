"""The most confident mistakes on the test part: pictures, or rows of a table that name no one."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from oddkout.comparing.run import Run
from oddkout.data import Data, as_tensor
from oddkout.data.decoding import decoded_rows
from oddkout.decisions.inputs import probabilities

# Number of mistakes, of columns of a table, and largest side of a picture.
_MISTAKES, _COLUMNS, _PIXELS = 12, 8, 96


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A wrong prediction.

    Attributes:
        true: Name of the true class.
        predicted: Name of the predicted class.
        confidence: Probability of the predicted class.
        probability: Probability of the true class.
        picture: The example as a PNG in a data URI; empty for rows.
        cells: Cells of the row, by column; empty for pictures.
    """

    true: str
    predicted: str
    confidence: float
    probability: float
    picture: str = ""
    cells: dict[str, str] = field(default_factory=dict)


def confident_mistakes(run: Run, data: Data) -> list[Mistake]:
    """The most confident wrong predictions of a run; none if these are not its data.

    Args:
        run: A run with its predictions.
        data: Its data.
    """
    if run.labels is None or not np.array_equal(run.labels, data.y_test):
        return []
    probs = probabilities(run.test_logits(is_tempered=True))
    confidence, predicted = probs.max(axis=1), probs.argmax(axis=1)
    wrong = np.flatnonzero(predicted != run.labels)
    chosen = wrong[np.argsort(-confidence[wrong], kind="stable")][:_MISTAKES]
    if not len(chosen):
        return []
    examples = np.asarray(data.x_test[chosen])
    shown: Sequence[dict[str, Any]] = (
        [{"cells": cells} for cells in _rows(examples, data)]
        if examples.ndim == 2
        else [{"picture": picture} for picture in _pictures(examples)]
    )
    return [
        Mistake(
            true=run.classes[int(run.labels[place])],
            predicted=run.classes[int(predicted[place])],
            confidence=float(confidence[place]),
            probability=float(probs[place, run.labels[place]]),
            **example,
        )
        for place, example in zip(chosen, shown, strict=True)
    ]


def _rows(rows: Float[ndarray, "rows features"], data: Data) -> list[dict[str, str]]:
    """The columns in which classes differ most."""
    names = [f"feature {number + 1}" for number in range(rows.shape[1])]
    columns = (
        dict(zip(names, ([f"{v:.3g}" for v in column] for column in rows.T), strict=True))
        if data.encoder is None
        else decoded_rows(data.encoder, rows)
    )
    shares = class_shares_of_variance(np.asarray(data.x_train[:]), data.y_train)
    weight: dict[str, float] = {}
    sources = names if data.encoder is None else data.encoder.sources
    for name, value in zip(sources, shares, strict=True):
        weight[name] = max(weight.get(name, 0.0), float(value))
    kept = sorted(columns, key=lambda name: -weight[name])[:_COLUMNS]
    return [{name: columns[name][row] for name in kept} for row in range(len(rows))]


def class_shares_of_variance(
    x: Float[ndarray, "examples features"], y: Int[ndarray, " examples"]
) -> Float[ndarray, " features"]:
    """Share of the variance of each feature that is between classes.

    Example:
        >>> x = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0]])
        >>> class_shares_of_variance(x, np.array([0, 0, 1, 1])).tolist()
        [1.0, 0.0]
    """
    centred = np.nan_to_num(x.astype(np.float64) - np.nanmean(x, axis=0))
    between = np.zeros(x.shape[1])
    for number in np.unique(y):
        mine = centred[y == number]
        between += len(mine) * mine.mean(axis=0) ** 2
    total = (centred**2).sum(axis=0)
    return np.asarray(between / np.where(total > 0, total, 1.0))


def _pictures(images: ndarray) -> list[str]:
    """Images as data URIs, all with the same brightness."""
    from PIL import Image

    tensor = as_tensor(images).double().numpy()
    low, high = float(np.nanmin(tensor)), float(np.nanmax(tensor))
    scaled = np.nan_to_num((tensor - low) / ((high - low) or 1.0)) * 255
    uris = []
    for channels in scaled.round().astype(np.uint8):
        is_colour = channels.shape[0] == 3
        array = channels.transpose(1, 2, 0) if is_colour else channels.mean(axis=0).astype(np.uint8)
        picture = Image.fromarray(array)
        picture.thumbnail((_PIXELS, _PIXELS))
        stream = BytesIO()
        picture.save(stream, format="PNG", optimize=True)
        uris.append(f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}")
    return uris
