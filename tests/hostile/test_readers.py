"""Every reader refuses pipes, devices, bombs and odd values in one sentence that names the file."""

import gzip
import io
import os
import struct
import zipfile
import zlib

import numpy as np
import pandas as pd
import pytest
from formats import IMAGES, batch_bytes, idx_bytes

import oddkout as oko
from oddkout.data.cifar import read_cifar_batch
from oddkout.data.idx import read_idx
from oddkout.data.images import ImageFiles, read_image_folder
from oddkout.data.npz import read_arrays
from oddkout.data.table_files import read_table
from oddkout.decisions.cost_table import cost_table
from oddkout.evaluation.files import read_predictions

READERS = {
    "table.csv": read_table,
    "table.tsv": read_table,
    "table.xlsx": read_table,
    "table.parquet": read_table,
    "predictions.csv": read_predictions,
    "predictions.npz": read_predictions,
    "arrays.npz": read_arrays,
    "images-idx3-ubyte": read_idx,
    "images.gz": read_idx,
    "batch": read_cifar_batch,
    "costs.csv": lambda path: cost_table(path, classes=["a", "b"]),
    "image.png": lambda path: ImageFiles([path], size=None, is_grey=True)[0],
}


@pytest.mark.parametrize("name", READERS)
def test_pipes_devices_and_empty_files_are_refused(name, tmp_path):
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(ValueError, match=f"{name} must be a regular file, but it is a pipe"):
        READERS[name](path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=f"{name} must be a regular file, but it is a device"):
        READERS[name](path)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=f"there is no file .*{name}"):
        READERS[name](path)
    path.touch()
    with pytest.raises(ValueError, match=name):
        READERS[name](path)


@pytest.mark.parametrize("name", READERS)
def test_a_large_file_is_not_opened(name, tmp_path, monkeypatch):
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(5_000_000_000)  # a hole: it takes no space
    with pytest.raises(ValueError, match=rf"{name} must take at most 4 GB.*--max-memory 5 "):
        READERS[name](path)


def png(width, height):
    """The beginning of an image of this size, which holds no pixels."""

    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"0"))


def sheet(dimension, row):
    """A workbook whose sheet claims a size."""
    frame = pd.DataFrame({"u": [1, 2], "y": ["a", "b"]})
    out, changed = io.BytesIO(), io.BytesIO()
    frame.to_excel(out, index=False)
    with zipfile.ZipFile(out) as book, zipfile.ZipFile(changed, "w") as copy:
        for name in book.namelist():
            content = book.read(name)
            if name.endswith("sheet1.xml"):
                content = content.replace(b"A1:B3", dimension)
                content = content.replace(b'<row r="3"', b'<row r="' + row + b'"')
            copy.writestr(name, content)
    return changed.getvalue()


def zeros_npz(path, size):
    """An archive of one array of zeros, written without having it in memory."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (size,)}
    )
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w") as entry,
    ):
        entry.write(header.getvalue())
        for _ in range(size // 1_000_000):
            entry.write(bytes(1_000_000))


def test_bombs_are_refused_by_their_headers(tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import parquet

    monkeypatch.setenv("ODDKOUT_MAX_MEMORY", "0.02")
    zeros_npz(tmp_path / "bomb.npz", 30_000_000)
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(5_000_000, np.int32)), ["a"])
    parquet.write_table(pa.table({"y": column}), tmp_path / "bomb.parquet")
    (tmp_path / "bomb.png").write_bytes(png(30_000, 30_000))
    (tmp_path / "bomb.gz").write_bytes(
        gzip.compress(b"\0\0\x08\x01" + (30_000_000).to_bytes(4, "big") + bytes(30_000_000))
    )
    (tmp_path / "gap.xlsx").write_bytes(sheet(b"A1:B3", b"9000000"))
    for name in ("bomb.npz", "bomb.parquet", "bomb.png", "bomb.gz", "gap.xlsx"):
        path = tmp_path / name
        assert path.stat().st_size < 1_000_000
        read = READERS[{".gz": "images.gz", ".png": "image.png", ".npz": "arrays.npz"}.get(
            path.suffix, "table.csv")]  # fmt: skip
        with pytest.raises(ValueError, match=rf"{name} (must|cannot)"):
            read(path)


def test_a_workbook_that_claims_too_much_and_holds_little_is_read(tmp_path):
    (tmp_path / "claim.xlsx").write_bytes(sheet(b"A1:XFD1048576", b"3"))
    assert read_table(tmp_path / "claim.xlsx")[0].shape == (2, 2)


def test_a_million_columns_are_refused(tmp_path):
    names = ",".join(f"c{i}" for i in range(200_000))
    (tmp_path / "wide.csv").write_text(f"{names}\n{names}\n")
    with pytest.raises(ValueError, match=r"wide\.csv must have at most 100,000 columns, got 200,0"):
        read_table(tmp_path / "wide.csv")


def test_images_and_bins_have_largest_sizes(tmp_path):
    from PIL import Image

    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        Image.fromarray(IMAGES[0]).save(tmp_path / name / "0.png")
    with pytest.raises(ValueError, match="image_size must be at most 10,000, got 1000000"):
        read_image_folder(tmp_path, image_size=1_000_000)
    with pytest.raises(ValueError, match="bins must be at most 10,000, got 1000000000"):
        oko.evaluate(probs=[[0.5, 0.5]] * 4, labels=[0, 1, 0, 1], bins=10**9)


def test_many_axes_are_refused(tmp_path):
    (tmp_path / "axes").write_bytes(b"\0\0\x08\xff" + b"\0\0\0\1" * 255 + b"x")
    with pytest.raises(ValueError, match="axes"):
        read_idx(tmp_path / "axes")
    assert read_idx_of(tmp_path, IMAGES).shape == IMAGES.shape
    colour = np.zeros((2, 32, 32, 3), np.uint8)
    (tmp_path / "batch").write_bytes(batch_bytes(colour, [0, 1]))
    assert len(read_cifar_batch(tmp_path / "batch")[1]) == 2


def read_idx_of(tmp_path, images):
    (tmp_path / "images").write_bytes(idx_bytes(images))
    return read_idx(tmp_path / "images")
