"""IDX files are read back, and damaged ones are refused."""

import gzip
import hashlib

import numpy as np
import pytest
from formats import IMAGES, idx_bytes

from oddkout.data.idx import read_idx


@pytest.mark.parametrize("axes", [1, 3])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_idx_files_are_read_back(tmp_path, axes, suffix):
    array = IMAGES if axes == 3 else IMAGES[:, 0, 0]
    content = idx_bytes(array)
    path = tmp_path / f"file{suffix}"
    path.write_bytes(gzip.compress(content) if suffix else content)
    found = read_idx(path, checksum=hashlib.md5(content).hexdigest())
    np.testing.assert_array_equal(found, array)


GOOD = idx_bytes(IMAGES)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\x00\x00\x09" + GOOD[3:], "not an IDX file of bytes: .* got 00 00 09 03"),
        (b"PK\x03\x04" + GOOD[4:], "got 50 4b 03 04"),
        (b"", "got nothing"),
        (GOOD[:9], "ends within its header"),
        (GOOD[:-1], r"announces 3,136 bytes of data, axes \(4, 28, 28\), but holds 3,135"),
        (GOOD + b"!", "but holds more"),
        (GOOD[:-1] + bytes([GOOD[-1] ^ 1]), "is not the published file: its MD5 is not"),
        (b"\x00\x00\x08\x03" + b"\xff" * 12, "must take at most 4 GB"),
    ],
)
def test_damaged_idx_files_are_refused_in_a_sentence(tmp_path, content, text):
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=text):
        read_idx(path, checksum=hashlib.md5(GOOD).hexdigest())


@pytest.mark.parametrize("content", [gzip.compress(GOOD)[:-20], b"no gzip", GOOD])
def test_damaged_gzip_files_are_refused(tmp_path, content):
    path = tmp_path / "images.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read as an IDX file"):
        read_idx(path)
