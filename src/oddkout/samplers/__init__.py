"""Batch samplers: odd-k-out sets, class-balanced pools, batch-balancing, and natural pairs."""

from oddkout.samplers.class_balanced import ClassBalancedBatchSampler
from oddkout.samplers.keyed import KeyedBatchSampler
from oddkout.samplers.odd_k_out import OddKOutBatchSampler
from oddkout.samplers.paired import PairedBatchSampler

__all__ = [
    "ClassBalancedBatchSampler",
    "KeyedBatchSampler",
    "OddKOutBatchSampler",
    "PairedBatchSampler",
]
