"""A check of anybody's training stack: do batches reach the model as they were drawn?"""

from oddkout.testing.batches import Indices
from oddkout.testing.check import check_loader
from oddkout.testing.loader_report import LoaderReport

__all__ = ["Indices", "LoaderReport", "check_loader"]
