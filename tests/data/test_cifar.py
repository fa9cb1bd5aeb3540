"""CIFAR batches are read back, and harmful or damaged pickles are refused."""

import hashlib
import os
import pickle

import numpy as np
import pytest
from formats import COLOUR, batch_bytes

from oddkout.data.cifar import read_cifar_batch


@pytest.mark.parametrize("key", [b"labels", b"fine_labels"])
def test_cifar_batches_are_read_back(tmp_path, key):
    path = tmp_path / "batch"
    content = batch_bytes(COLOUR, [3, 1, 4, 1, 5], key)
    path.write_bytes(content)
    reference = pickle.loads(content, encoding="bytes")  # what Python itself makes of the bytes
    assert reference[b"data"].shape == (5, 3072)
    images, labels = read_cifar_batch(path, checksum=hashlib.md5(content).hexdigest())
    np.testing.assert_array_equal(images, COLOUR)
    assert labels.tolist() == reference[key] == [3, 1, 4, 1, 5]


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_batches_pickled_by_todays_python_are_read_too(tmp_path, protocol):
    path = tmp_path / "batch"
    pixels = np.ascontiguousarray(COLOUR.transpose(0, 3, 1, 2)).reshape(5, 3072)
    batch = {"data": pixels, "labels": [0, 1, 2, 3, 4], "filenames": ["a"] * 5}
    path.write_bytes(pickle.dumps(batch, protocol=protocol))
    images, labels = read_cifar_batch(path)
    np.testing.assert_array_equal(images, COLOUR)
    assert labels.tolist() == [0, 1, 2, 3, 4]


class Harmful:
    """Runs a command when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.system, (f"touch {self.file}",)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_calls_a_command_is_refused_and_nothing_runs(tmp_path, protocol):
    trace = tmp_path / "trace"
    path = tmp_path / "batch"
    path.write_bytes(pickle.dumps({"data": Harmful(trace)}, protocol=protocol))
    with pytest.raises(ValueError, match=r"refused: the pickle asks for (posix|nt)\.system"):
        read_cifar_batch(path)
    assert not trace.exists()
    pickle.loads(path.read_bytes())
    assert trace.exists(), "the pickle does run its command where nothing stops it"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (batch_bytes(COLOUR, [1] * 5)[:-9], "damaged pickle"),
        (b"", "damaged pickle"),
        (pickle.dumps([1, 2]), "not a CIFAR batch: it holds list"),
        (pickle.dumps({"data": b"", "labels": []}), "not a CIFAR batch: it must hold 'data'"),
        (batch_bytes(COLOUR, [1] * 4), "as many 'labels'"),
        (batch_bytes(COLOUR, [1, 2, 3, 4, 200]), "as many 'labels'"),
    ],
)
def test_files_that_are_no_batch_are_refused(tmp_path, content, text):
    path = tmp_path / "batch"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=text):
        read_cifar_batch(path)
