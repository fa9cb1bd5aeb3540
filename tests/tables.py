"""A small table with missing cells, and text as a file, for tests."""

import numpy as np
import pandas as pd

TABLE = pd.DataFrame(
    {
        "age": [20, 30, np.nan, 50, 60, 70, 80, 25, 35, 45],
        "colour": ["red", "blue", "red", None, "blue", "red", "blue", "red", "blue", "red"],
        "dose": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        "kind": ["sick", "well", "sick", "well", "sick", "well", "sick", "well", "sick", "well"],
    }
)


def written(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path
