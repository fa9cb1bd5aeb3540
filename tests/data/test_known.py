"""Known data sets: official formats written byte by byte, checksums, and hostile files."""

import gzip
import hashlib
import os
import pickle
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from formats import COLOUR, IMAGES, batch_bytes, idx_bytes

from oddkout import as_tensor, load_data
from oddkout.data.catalogue import KNOWN
from oddkout.data.cifar import read_cifar_batch
from oddkout.data.idx import read_idx
from oddkout.data.known import find_known, load_known

DATA = os.environ.get("ODDKOUT_DATA", "")
needs_data = pytest.mark.skipif(
    not (Path(DATA) / "mnist.npz").is_file(), reason="ODDKOUT_DATA names no folder with mnist.npz"
)


@needs_data
@pytest.mark.parametrize(
    ("name", "train", "shape", "classes"),
    [
        ("mnist", 60_000, (28, 28), 10),
        ("fashion_mnist", 60_000, (28, 28), 10),
        ("cifar10", 12_000, (32, 32, 3), 10),
        ("cifar100", 12_000, (32, 32, 3), 100),
    ],
)
def test_image_data_sets_load_with_the_right_shapes(name, train, shape, classes):
    data = load_data(name)
    assert data.x_train.shape == (train, *shape)
    assert data.x_test.shape == (10_000, *shape)
    assert len(data.classes) == len(set(data.classes)) == classes
    assert (np.bincount(data.y_test) == 10_000 // classes).all() or name == "mnist"
    assert (np.bincount(data.y_train) > 0).all()
    assert bool(data.notes) == name.startswith("cifar"), "a partial archive says so"


@needs_data
def test_mnist_is_a_float_tensor_in_under_a_second_after_the_first_read():
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        images = as_tensor(load_data("mnist").x_train)
        seconds.append(time.perf_counter() - start)
    assert min(seconds[1:]) < 1
    assert images.shape == (60_000, 1, 28, 28)
    assert (images.min().item(), images.max().item()) == (0.0, 1.0)


@needs_data
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("layout", ["", "MNIST/raw"])
def test_the_official_mnist_files_are_read_and_verified(tmp_path, suffix, layout):
    archive = load_data("mnist")
    folder = tmp_path / layout
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"train": (archive.x_train, archive.y_train), "t10k": (archive.x_test, archive.y_test)}
    for part, (x, y) in parts.items():
        for kind, array in (("images-idx3", x), ("labels-idx1", y.astype(np.uint8))):
            content = idx_bytes(array)
            packed = gzip.compress(content, compresslevel=1) if suffix else content
            (folder / f"{part}-{kind}-ubyte{suffix}").write_bytes(packed)
    data = load_data("mnist", data_dir=tmp_path)
    np.testing.assert_array_equal(data.x_test, archive.x_test)
    np.testing.assert_array_equal(data.y_train, archive.y_train)


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
        (b"\x00\x00\x08\x03" + b"\xff" * 12, "truncated or damaged"),
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
    with pytest.raises(ValueError, match="damaged gzip file"):
        read_idx(path)


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


def test_cifar_is_found_in_torchvisions_folder_and_verified(tmp_path, monkeypatch):
    monkeypatch.delenv("ODDKOUT_DATA", raising=False)
    content = batch_bytes(COLOUR, [0, 1, 2, 3, 4])
    checksum = hashlib.md5(content).hexdigest()
    known = replace(
        KNOWN["cifar10"],
        train={f"data_batch_{i}": checksum for i in range(1, 6)},
        test={"test_batch": checksum},
    )
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for file in [*known.train, *known.test]:
        (folder / file).write_bytes(content)
    assert find_known(known, tmp_path) == folder
    data = load_known(known, tmp_path)
    assert data.x_train.shape == (25, 32, 32, 3)
    assert data.classes[:2] == ("airplane", "automobile")
    (folder / "data_batch_3").write_bytes(content[:-1] + b"!")
    with pytest.raises(ValueError, match="data_batch_3 is not the published file"):
        load_known(known, tmp_path)


def test_the_first_folder_that_has_it_is_used(tmp_path, monkeypatch):
    def archive(folder, train):
        folder.mkdir(exist_ok=True)
        x, y = np.zeros((train, 28, 28), np.uint8), np.arange(train) % 10
        np.savez(folder / "mnist.npz", x_train=x, y_train=y, x_test=x, y_test=y)

    archive(tmp_path / "named", 20)
    archive(tmp_path / "environment", 30)
    archive(tmp_path / "cache", 40)
    monkeypatch.setenv("ODDKOUT_DATA", str(tmp_path / "environment"))
    monkeypatch.setattr(
        "platformdirs.user_cache_path", lambda name: tmp_path / "nowhere", raising=True
    )
    assert len(load_data("mnist", data_dir=tmp_path / "named").y_train) == 20
    assert len(load_data("mnist").y_train) == 30
    assert len(load_data("mnist", data_dir=tmp_path / "empty").y_train) == 30
    monkeypatch.delenv("ODDKOUT_DATA")
    with pytest.raises(FileNotFoundError, match=r"mnist is not on this machine.*data fetch mnist"):
        load_data("mnist")


def test_an_archive_of_another_data_set_is_refused(tmp_path):
    x = np.zeros((30, 28, 28), np.uint8)
    np.savez(tmp_path / "mnist.npz", x_train=x, y_train=np.arange(30), x_test=x, y_test=x[:, 0, 0])
    with pytest.raises(ValueError, match=r"y_train must hold the classes 0 .. 9 of mnist"):
        load_data("mnist", data_dir=tmp_path)


def test_digits_come_with_scikit_learn():
    data = load_data("digits")
    assert (data.x_train.dtype, data.x_train.max(), data.x_train.min()) == (np.uint8, 255, 0)
    assert len(data.y_train) + len(data.y_test) == 1797
    assert as_tensor(data.x_test).shape == (450, 1, 8, 8)


def test_tensors_keep_colour_and_scale():
    tensor = as_tensor(COLOUR)
    assert tensor.shape == (5, 3, 32, 32)
    assert tensor.is_contiguous()
    torch.testing.assert_close(tensor[2, 1, 3, 4].item(), float(COLOUR[2, 3, 4, 1]) / 255)
    features = np.array([[1, 2], [3, 4]])
    assert as_tensor(features).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_name_with_a_slip_gets_a_suggestion():
    with pytest.raises(FileNotFoundError, match="did you mean mnist"):
        load_data("mnits")
    with pytest.raises(FileNotFoundError, match="known are digits, mnist"):
        load_data("nothing/of/the/kind")
    with pytest.raises(ValueError, match="digits has its own test part"):
        load_data("digits", test="more.csv")
