"""Mutated and truncated files: every reader returns data or raises one of our errors."""

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pytest
from formats import COLOUR, IMAGES, batch_bytes, idx_bytes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from oddkout import load_data
from oddkout.data.cifar import read_cifar_batch
from oddkout.data.idx import read_idx
from oddkout.data.npz import read_npz


def npz_bytes(save):
    out = io.BytesIO()
    save(out, x=np.arange(24.0).reshape(12, 2), y=np.arange(12) % 2)
    return out.getvalue()


def parquet_bytes():
    out = io.BytesIO()
    pd.DataFrame({"u": range(12), "v": ["p", "q"] * 6, "y": list("aabb") * 3}).to_parquet(out)
    return out.getvalue()


def png_bytes():
    out = io.BytesIO()
    Image.fromarray(IMAGES[0]).save(out, "PNG")
    return out.getvalue()


def read_one_image(path):
    from oddkout.data.images import ImageFiles

    return ImageFiles([path], size=(4, 4), is_grey=True)[0]


CSV = "u,v,y\n" + "\n".join(f"{i},{'pq'[i % 2]},{'ab'[i % 2]}" for i in range(12))
READERS = {
    "images": (idx_bytes(IMAGES), read_idx),
    "images.gz": (gzip.compress(idx_bytes(IMAGES)), read_idx),
    "batch": (batch_bytes(COLOUR[:2], [0, 1]), read_cifar_batch),
    "stored.npz": (npz_bytes(np.savez), read_npz),
    "packed.npz": (npz_bytes(np.savez_compressed), read_npz),
    "table.csv": (CSV.encode(), lambda path: load_data(path, target="y")),
    "table.parquet": (parquet_bytes(), lambda path: load_data(path, target="y")),
    "image.png": (png_bytes(), read_one_image),
}


@st.composite
def mutated(draw, content):
    """A few bytes changed, inserted or cut out, anywhere but most of all at the beginning."""
    damaged = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, draw(st.sampled_from([40, 400, len(content)]))))
        kind = draw(st.sampled_from(["change", "insert", "cut", "truncate"]))
        if kind == "change" and place < len(damaged):
            damaged[place] = draw(st.integers(0, 255))
        elif kind == "insert":
            damaged[place:place] = draw(st.binary(min_size=1, max_size=8))
        elif kind == "cut":
            del damaged[place : place + draw(st.integers(1, 50))]
        else:
            del damaged[place:]
    return bytes(damaged)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_never_fails_otherwise(name, tmp_path):
    content, read = READERS[name]
    path = tmp_path / name
    path.write_bytes(content)
    read(path)

    @settings(
        max_examples=400,
        deadline=5000,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(content))
    def run(damaged):
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Pillow and pandas say of odd files
            try:
                read(path)
            except (ValueError, OSError) as error:
                words = ("column", "the classes")  # of ours, where no file is named
                assert any(word in str(error) for word in (name, *words))  # noqa: PT017

    run()
