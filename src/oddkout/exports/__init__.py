"""Export a trained classifier to one file that runs without this library."""

from oddkout.exports.exporting import Export, export
from oddkout.exports.verification import MismatchError

__all__ = ["Export", "MismatchError", "export"]
