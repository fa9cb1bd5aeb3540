"""Missing cells of an encoded table, for networks that encode them themselves."""

from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray

from oddkout.data.table import TableEncoder


def encoded_with_gaps(encoder: TableEncoder, frame: Any) -> Shaped[ndarray, "rows features"]:
    """Encode the rows of a table, with NaN for missing numbers instead of medians.

    Args:
        encoder: The encoder of the table.
        frame: A pandas frame with the columns of the training part.
    """
    encoded = encoder.encode(frame)
    for position, name in enumerate(encoder.features):
        # A feature with the name of its column holds its numbers; categories have other names.
        if name in encoder.columns and len(frame):
            encoded[frame[name].isna().to_numpy(), position] = np.nan
    return encoded
