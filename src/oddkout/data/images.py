"""A folder of images per class, decoded at once if few, as they are asked for if many."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped, UInt8
from numpy import ndarray

from oddkout.checks import at_least, few

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_GREY_MODES = ("1", "L", "LA", "I", "I;16", "F")

# Above this, images are decoded as they are asked for.
_MANY_FILES = 20_000
_MANY_BYTES = 1 << 28


class ImageFiles:
    """Image files that are indexed like an array of bytes and decoded when asked for.

    Args:
        files: The files.
        size: Height and width that every image is scaled to; images keep theirs if not given.
        is_grey: Whether they become grey (files, height, width) or RGB (files, height, width, 3).
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
        """Some of the files, not decoded."""
        files = [self.files[i] for i in np.arange(len(self.files))[index]]
        return ImageFiles(files, size=self.size, is_grey=self.is_grey)

    def _decoded(self, file: Path) -> UInt8[ndarray, "..."]:
        """One image, or raise with its name."""
        from PIL import Image

        try:
            with Image.open(file) as image:
                grey_or_colour = image.convert("L" if self.is_grey else "RGB")
                if self.size is not None:
                    height, width = self.size
                    grey_or_colour = grey_or_colour.resize((width, height))
                return np.asarray(grey_or_colour)
        except FileNotFoundError:
            raise
        # Pillow's readers end in exceptions of many kinds on damaged files.
        except Exception as error:
            raise ValueError(
                f"{file} is no image that can be read ({error}); repair or remove it"
            ) from None


def read_image_folder(
    folder: Path, *, image_size: int | None = None
) -> tuple[UInt8[ndarray, "..."] | ImageFiles, Shaped[ndarray, "..."]]:
    """Read a folder that holds a folder of images for each class.

    Few images come as one array; many as ``ImageFiles``, which decode when they are asked for.
    They are grey if the first image of every class is, RGB otherwise.

    Args:
        folder: The folder; the names of its folders are the classes.
        image_size: Height and width to scale every image to; images keep theirs if not given.
    """
    from PIL import Image

    size = None if image_size is None else (at_least("image_size", image_size, 1),) * 2
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
        try:
            with Image.open(files[0]) as image:
                is_grey &= image.mode in _GREY_MODES
                height, width = size or (image.height, image.width)
        except Exception as error:
            raise ValueError(
                f"{files[0]} is no image that can be read ({error}); repair or remove it"
            ) from None
    every = ImageFiles([*chain(*by_class.values())], size=size, is_grey=is_grey)
    labels = np.repeat(list(by_class), [len(files) for files in by_class.values()])
    if (
        len(every) > _MANY_FILES
        or len(every) * height * width * (1 if is_grey else 3) > _MANY_BYTES
    ):
        return every, labels
    return _decoded_all(every), labels


def _decoded_all(files: ImageFiles) -> UInt8[ndarray, "..."]:
    """All images, or raise with the names of all that are damaged."""
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
