"""Read CIFAR's Python batches: pickles, loaded without running any code in them."""

import io
import pickle
from collections.abc import Callable
from hashlib import md5
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64, UInt8
from numpy import ndarray

from oddkout.reading import reading


def read_cifar_batch(
    path: Path, *, checksum: str | None = None
) -> tuple[UInt8[ndarray, "images 32 32 3"], Int64[ndarray, " images"]]:
    """Read the images and (fine) labels of one CIFAR-10 or CIFAR-100 batch.

    If the MD5 of the file is known, pass it as ``checksum``.
    """
    with reading(path, kind="a CIFAR batch", repair="fetch it again"):
        content = path.read_bytes()
    if checksum is not None and md5(content, usedforsecurity=False).hexdigest() != checksum:
        raise ValueError(
            f"{path} is not the published file: its MD5 is not {checksum}; delete it and fetch it "
            "again"
        )
    batch = unpickle_plain(content, name=str(path))
    if not isinstance(batch, dict):
        raise ValueError(
            f"{path} is not a CIFAR batch: it holds {type(batch).__name__}, not a dict"
        )
    named = {
        key.decode("latin1") if isinstance(key, bytes) else key: value
        for key, value in batch.items()
    }
    pixels, labels = named.get("data"), named.get("fine_labels", named.get("labels"))
    if not (
        isinstance(pixels, _Array)
        and isinstance(labels, list)
        and all(type(label) is int and 0 <= label < 100 for label in labels)
        and pixels.shape == (len(labels), 3072)
    ):
        raise ValueError(
            f"{path} is not a CIFAR batch: it must hold 'data', bytes of shape (images, 3072), and "
            "as many 'labels' or 'fine_labels'; check that it is the right file"
        )
    images = pixels.bytes(str(path)).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), np.array(labels, dtype=np.int64)


def unpickle_plain(content: bytes, *, name: str) -> Any:
    """Load a pickle of lists, dicts, bytes, str, int and byte arrays, and refuse anything else.

    Nothing that the pickle names is imported or called. The few names in the pickle of a NumPy
    array are replaced by classes of ours that record their arguments. ``name`` is the name of the
    pickle in error messages.
    """
    try:
        return _PlainUnpickler(io.BytesIO(content), encoding="bytes").load()
    except _ForbiddenError as error:
        raise ValueError(
            f"{name} was refused: the pickle asks for {error}, which a file of images does not "
            "need; get it from a source you trust"
        ) from None
    # A damaged pickle can raise any exception.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"{name} is a damaged pickle ({reason}); fetch it again") from None


class _ForbiddenError(Exception):
    """The pickle names something that is not part of an array."""


class _Array:
    """A pickled array: its shape, dtype and bytes."""

    def __init__(self) -> None:
        self.shape: Any = None
        self._dtype: Any = None
        self._raw: Any = None

    def __setstate__(self, state: Any) -> None:
        _, self.shape, self._dtype, is_fortran, self._raw = state
        if is_fortran:
            raise ValueError("array in Fortran order")

    def bytes(self, name: str) -> UInt8[ndarray, "..."]:
        """The array, or raise unless it is an array of bytes."""
        code, raw = getattr(self._dtype, "code", None), self._raw
        size = self.shape[0] * self.shape[1]
        if code not in ("u1", b"u1") or not isinstance(raw, bytes) or len(raw) != size:
            raise ValueError(f"{name} is not a CIFAR batch: 'data' is damaged; fetch it again")
        return np.frombuffer(raw, dtype=np.uint8).reshape(self.shape)


class _Dtype:
    """A pickled dtype."""

    def __init__(self, code: Any, *_: Any) -> None:
        self.code = code

    def __setstate__(self, state: Any) -> None:
        """Ignore the state: byte order and alignment do not matter for bytes."""


# The Python implementation, because a damaged memo index makes the C one allocate gigabytes. The
# replacements are functions and not classes, so that a pickle cannot change our classes.
class _PlainUnpickler(pickle._Unpickler):
    """An unpickler that accepts byte arrays only."""

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        """Return the replacement of a name in the pickle of an array; refuse any other name."""
        allowed: dict[tuple[str, str], Callable[..., Any]] = {
            ("numpy", "ndarray"): lambda *_: None,
            ("numpy", "dtype"): lambda *arguments: _Dtype(*arguments),
            ("_codecs", "encode"): lambda text, *_: text.encode("latin1"),
        }
        for core in ("numpy.core.multiarray", "numpy._core.multiarray"):
            allowed[core, "_reconstruct"] = lambda *_: _Array()
        if (module, name) not in allowed:
            raise _ForbiddenError(f"{module}.{name}")
        return allowed[module, name]
