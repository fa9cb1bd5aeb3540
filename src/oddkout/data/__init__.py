"""Data: known data sets, one's own tables, arrays and images, and imbalanced subsets."""

from oddkout.data.arrays import Data, as_tensor
from oddkout.data.catalogue import KNOWN
from oddkout.data.load import load_data
from oddkout.data.splits import last_split, split, subset

__all__ = ["KNOWN", "Data", "as_tensor", "last_split", "load_data", "split", "subset"]
