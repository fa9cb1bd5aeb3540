"""Read a folder of images per class: decoded at once if they are few, on demand if many."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped, UInt8
from numpy import ndarray

from oddkout.checks import at_least, few
from oddkout.reading import reading, refuse_large

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_GREY_MODES = ("1", "L", "LA", "I", "I;16", "I;16L", "I;16B", "F")

# Memory for a pixel while it is decoded, turned and scaled; and the largest side to scale to.
_PIXEL_BYTES = 12
_LARGEST_SIDE = 10_000

# Above either limit, images are decoded on demand.
_MANY_FILES = 20_000
_MANY_BYTES = 1 << 28


class ImageFiles:
    """Image files that are indexed like an array of bytes and decoded on demand.

    Images are turned upright by their EXIF orientation. Those of 16 bits are divided by 257, and
    those of floats from 0 to 1 are multiplied by 255.

    Args:
        files: Paths of the images.
        size: Height and width to scale images to; no scaling if not given.
        is_grey: Whether the array is grey (files, height, width) or RGB (files, height, width, 3).
    """

    def __init__(self, files: list[Path], *, size: tuple[int, int] | None, is_grey: bool) -> None:
        self.files = files
        self.size = size
        self.is_grey = is_grey

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: Any) -> UInt8[ndarray, "..."]:
        chosen = np.arange(len(self.files))[index]
        if chosen.ndim == 0:
            return self._decoded(self.files[int(chosen)])
        images = [self._decoded(self.files[i]) for i in chosen]
        if not images:
            return np.zeros((0, *self._decoded(self.files[0]).shape), dtype=np.uint8)
        for number, image in zip(chosen, images, strict=True):
            if image.shape != images[0].shape:
                raise ValueError(
                    f"images must be of one size, but {self.files[chosen[0]]} is "
                    f"{images[0].shape[:2]} and {self.files[number]} is {image.shape[:2]}; pass "
                    "--image-size to scale them"
                )
        return np.stack(images)

    def subset(self, index: Any) -> "ImageFiles":
        """Select files without decoding them."""
        files = [self.files[i] for i in np.arange(len(self.files))[index]]
        return ImageFiles(files, size=self.size, is_grey=self.is_grey)

    def _decoded(self, file: Path) -> UInt8[ndarray, "..."]:
        """Decode one image, or raise and name it."""
        from PIL import Image

        with (
            reading(file, kind="an image", repair="repair or remove it"),
            Image.open(file) as image,
        ):
            refuse_large(file, image.height * image.width * _PIXEL_BYTES)
            converted = _upright_bytes(image).convert("L" if self.is_grey else "RGB")
            if self.size is not None:
                height, width = self.size
                converted = converted.resize((width, height))
            return np.asarray(converted)


def _upright_bytes(image: Any) -> Any:
    """The image turned upright, with 8 bits for each channel; Pillow would cut off at 255."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.mode not in ("I", "I;16", "I;16L", "I;16B", "F"):
        return upright
    values = np.asarray(upright, dtype=np.float64)
    factor, largest = (255.0, 1) if upright.mode == "F" else (1 / 257, 65_535)
    if not (np.isfinite(values).all() and values.min() >= 0 and values.max() <= largest):
        raise ValueError(
            f"its brightness must lie in 0 .. {largest}, got {values.min():g} .. {values.max():g}"
        )
    return Image.fromarray(np.rint(values * factor).astype(np.uint8))


def is_image_folder(folder: Path) -> bool:
    """Whether every folder in a folder holds an image, and there are at least two of them."""
    parts = [part for part in folder.iterdir() if part.is_dir() and not part.name.startswith(".")]
    return len(parts) > 1 and all(
        any(file.suffix.lower() in SUFFIXES for file in part.iterdir()) for part in parts
    )


def read_image_folder(
    folder: Path, *, image_size: int | None = None
) -> tuple[UInt8[ndarray, "..."] | ImageFiles, Shaped[ndarray, "..."]]:
    """Read a folder that holds a folder of images for each class.

    Few images are returned as one array, many as ``ImageFiles``, which decodes them on demand.
    They are grey if the first image of every class is, RGB otherwise.

    Args:
        folder: The folder; the names of its subfolders are the classes.
        image_size: Height and width to scale images to; no scaling if not given.
    """
    from PIL import Image

    size = None if image_size is None else (_side(image_size),) * 2
    by_class = {
        child.name: sorted(p for p in child.iterdir() if p.suffix.lower() in SUFFIXES)
        for child in sorted(folder.iterdir())
        if child.is_dir() and not child.name.startswith(".")
    }
    if empty := [name for name, files in by_class.items() if not files]:
        raise ValueError(
            f"every folder in {folder} must hold images ({', '.join(SUFFIXES)}), but "
            f"{few(empty)} hold none; remove them"
        )
    if len(by_class) < 2:
        raise ValueError(
            f"{folder} must hold a folder of images for each of at least 2 classes, got "
            f"{len(by_class)}; move the images into folders named after their classes"
        )
    is_grey = True
    for files in by_class.values():
        with (
            reading(files[0], kind="an image", repair="repair or remove it"),
            Image.open(files[0]) as image,
        ):
            is_grey &= image.mode in _GREY_MODES
            height, width = size or (image.height, image.width)
    images = ImageFiles([*chain(*by_class.values())], size=size, is_grey=is_grey)
    labels = np.repeat(list(by_class), [len(files) for files in by_class.values()])
    if (
        len(images) > _MANY_FILES
        or len(images) * height * width * (1 if is_grey else 3) > _MANY_BYTES
    ):
        return images, labels
    return _decoded_all(images), labels


def _side(image_size: int) -> int:
    """Height and width, or raise if they are too large."""
    return at_least("image_size", image_size, 1, maximum=_LARGEST_SIDE)


def _decoded_all(files: ImageFiles) -> UInt8[ndarray, "..."]:
    """Decode all images, or raise and name the damaged ones."""
    damaged = []
    for number, file in enumerate(files.files):
        try:
            files[number]
        except ValueError:
            damaged.append(file.name)
    if damaged:
        raise ValueError(
            f"{len(damaged)} of {len(files)} images cannot be read: {few(damaged)}; repair or "
            "remove them"
        )
    return files[:]
