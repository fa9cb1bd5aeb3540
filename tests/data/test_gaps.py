"""Missing cells of an encoded table."""

import numpy as np
import pandas as pd

from oddkout.data.gaps import encoded_with_gaps
from oddkout.data.table import TableEncoder


def test_only_missing_numbers_become_nan():
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": ["x", None, "y"], "c": [1, 2, 4]})
    encoder = TableEncoder(frame)
    plain, gaps = encoder.encode(frame), encoded_with_gaps(encoder, frame)
    expected = np.zeros_like(plain, dtype=bool)
    expected[1, encoder.features.index("a")] = True
    np.testing.assert_array_equal(np.isnan(gaps), expected)
    np.testing.assert_array_equal(gaps[~expected], plain[~expected])
    assert encoded_with_gaps(encoder, frame[:0]).shape == (0, len(encoder.features))
