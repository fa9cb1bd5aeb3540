"""Tensors written to a file; a full disk is an ``OSError``, as for all other files."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor


def write_tensors(
    tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors with safetensors, which raises an error of its own if the disk is full.

    Args:
        tensors: Contiguous tensors that share no memory, by name.
        metadata: Texts that the file holds beside them.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file(dict(tensors), path, metadata=None if metadata is None else dict(metadata))
    except SafetensorError as error:
        raise OSError(
            f"{path} cannot be written ({error}); make room on the disk, or choose another folder"
        ) from None
