"""Check that a training stack delivers batches as the sampler drew them."""

from oddkout.testing.batches import Indices
from oddkout.testing.check import check_loader
from oddkout.testing.loader_report import LoaderReport

__all__ = ["Indices", "LoaderReport", "check_loader"]
