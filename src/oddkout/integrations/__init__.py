"""Odd-k-out in other training stacks: Lightning, and Trainer of transformers.

Import from ``oddkout.integrations.lightning`` or ``oddkout.integrations.hf``. Accelerate and plain
PyTorch need no integration: see ``docs/training-loops.md``.
"""
