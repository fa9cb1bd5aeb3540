"""A trained classifier as one file that serves without this library: ONNX, or a torch program."""

from oddkout.exports.exporting import Export, export
from oddkout.exports.verification import MismatchError

__all__ = ["Export", "MismatchError", "export"]
