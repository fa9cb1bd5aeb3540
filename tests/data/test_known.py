"""Known data sets are found in their official forms and verified."""

import gzip
import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from formats import COLOUR, batch_bytes, idx_bytes

from oddkout import as_tensor, load_data
from oddkout.data.catalogue import KNOWN
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
    with pytest.raises(FileNotFoundError, match="known data sets are digits, mnist"):
        load_data("nothing/of/the/kind")
    with pytest.raises(ValueError, match="digits has its own test part"):
        load_data("digits", test="more.csv")
