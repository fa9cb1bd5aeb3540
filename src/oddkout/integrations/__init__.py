"""Odd-k-out in other people's training stacks: Lightning, and Trainer of transformers.

Import what you need from its own module, ``oddkout.integrations.lightning`` or ``.hf``. Accelerate
and plain PyTorch need nothing of their own: see ``docs/training-loops.md``.
"""
