"""Folders of images: one per class, decoded when indexed."""

import os
import resource

import numpy as np
import pytest
from PIL import Image

from oddkout import load_data
from oddkout.data import images as images_module


def make_images(folder, *, classes=("cat", "dog"), files=6, mode="RGB", size=(9, 7)):
    for c, name in enumerate(classes):
        (folder / name).mkdir(parents=True)
        for i in range(files):
            image = Image.new(mode, size, color=(40 * c + i) if mode == "L" else (40 * c, i, 9))
            image.save(folder / name / f"{i}.png")


@pytest.mark.parametrize(("mode", "shape"), [("RGB", (7, 9, 3)), ("L", (7, 9))])
def test_a_folder_per_class_becomes_images(tmp_path, mode, shape):
    make_images(tmp_path / "pets", mode=mode)
    data = load_data(tmp_path / "pets", test_size=0.5)
    assert data.classes == ("cat", "dog")
    assert data.x_train.shape == (6, *shape)
    first = data.x_train.reshape(6, -1)[:, 0]
    np.testing.assert_array_equal(first >= 40, data.y_train == 1)
    assert load_data(tmp_path / "pets", image_size=4).x_train.shape[1:3] == (4, 4)
    separate = load_data(tmp_path / "pets", test=tmp_path / "pets")
    assert len(separate.y_test) == 12


@pytest.mark.parametrize(
    ("values", "suffix"),
    [
        (np.arange(64, dtype=np.uint16).reshape(8, 8) * 1040, ".png"),
        (np.arange(64, dtype=np.uint16).reshape(8, 8) * 1040, ".tif"),
        (np.arange(64, dtype=np.float32).reshape(8, 8) / 63, ".tif"),
    ],
)
def test_images_of_16_bits_and_of_floats_keep_their_range(tmp_path, values, suffix):
    Image.fromarray(values).save(tmp_path / f"a{suffix}")
    decoded = images_module.ImageFiles([tmp_path / f"a{suffix}"], size=None, is_grey=True)[0]
    scale = 65_535 if values.dtype == np.uint16 else 1
    expected = values.astype(np.float64) / scale * 255
    assert np.abs(decoded - expected).max() <= 0.5
    assert len(np.unique(decoded)) == 64


def test_brightness_without_a_known_range_is_refused(tmp_path):
    Image.fromarray(np.full((4, 4), 7.5, dtype=np.float32)).save(tmp_path / "a.tif")
    with pytest.raises(ValueError, match=r"a.tif cannot .* must lie in 0 .. 1, got 7.5 .. 7.5"):
        images_module.ImageFiles([tmp_path / "a.tif"], size=None, is_grey=True)[0]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_photographs_are_upright(tmp_path, orientation):
    """The same scene, stored in each of the eight ways that a camera may be held."""
    scene = np.zeros((16, 24), dtype=np.uint8)
    scene[:8, :8], scene[:8, 16:] = 255, 120
    ways = {1: scene, 2: scene[:, ::-1], 3: scene[::-1, ::-1], 4: scene[::-1], 5: scene.T,
            6: np.rot90(scene), 7: scene[::-1, ::-1].T, 8: np.rot90(scene, -1)}  # fmt: skip
    image = Image.fromarray(np.ascontiguousarray(ways[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    image.save(tmp_path / "a.png", exif=exif)
    decoded = images_module.ImageFiles([tmp_path / "a.png"], size=None, is_grey=True)[0]
    np.testing.assert_array_equal(decoded, scene)


def test_damaged_images_are_all_named(tmp_path):
    make_images(tmp_path)
    for name in ("cat/3.png", "dog/5.png"):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"2 of 12 images cannot be read: \[3.png, 5.png\]"):
        load_data(tmp_path)
    (tmp_path / "cat" / "0.png").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"0.png cannot be read as an image"):
        load_data(tmp_path)


def test_folders_that_cannot_serve_are_refused(tmp_path):
    make_images(tmp_path / "sizes")
    Image.new("RGB", (3, 3)).save(tmp_path / "sizes" / "dog" / "small.png")
    with pytest.raises(ValueError, match=r"one size.*small.png is \(3, 3\); pass --image-size"):
        load_data(tmp_path / "sizes")
    make_images(tmp_path / "single", classes=("cat",))
    with pytest.raises(ValueError, match="for each of at least 2 classes, got 1"):
        load_data(tmp_path / "single")
    (tmp_path / "single" / "dog").mkdir()
    with pytest.raises(ValueError, match=r"\[dog\] hold none; remove them"):
        load_data(tmp_path / "single")


def test_many_images_are_decoded_only_as_they_are_asked_for(tmp_path, monkeypatch):
    """100,000 files of 64 x 64 x 3 would be 1.2 GB."""
    make_images(tmp_path, files=1, size=(64, 64))
    for name in ("cat", "dog"):
        for i in range(1, 50_000):
            os.link(tmp_path / name / "0.png", tmp_path / name / f"{i}.png")
    decoded = []
    original = images_module.ImageFiles._decoded
    monkeypatch.setattr(
        images_module.ImageFiles,
        "_decoded",
        lambda self, file: decoded.append(file) or original(self, file),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = load_data(tmp_path)
    assert (len(data.x_train), len(data.x_test), len(decoded)) == (80_000, 20_000, 0)
    batch = data.x_train[np.array([5, 70_000, 12])]
    assert batch.shape == (3, 64, 64, 3)
    assert len(decoded) == 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes
