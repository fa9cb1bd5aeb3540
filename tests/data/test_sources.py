"""Sources of data: files, folders, frames and arrays."""

import numpy as np
import pytest
from tables import written

from oddkout import fit, load_data


def test_other_files_are_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"a .csv, .tsv, .xlsx, .parquet or .npz file, or a folder"
    ):
        load_data(written(tmp_path, "hello", "notes.txt"))


def test_other_sources_are_refused_by_their_type():
    with pytest.raises(ValueError, match=r"a pair \(examples, labels\), or loaded data, got int"):
        fit(7)
    with pytest.raises(ValueError, match="got 3 examples and 2 labels"):
        fit((np.zeros((3, 2)), [0, 1]))
