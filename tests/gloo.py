"""How a process of a gloo group ends in a test: once all have written what they found."""

# Gloo's threads may let go of a tensor while the interpreter ends, and ask for a lock that is gone:
# the process aborts now and then, whatever it did before (pytorch/pytorch issue 190489). A model
# that was prepared for several processes keeps them even when the group is destroyed. No test here
# is about that, so the end of the interpreter is left out.
ENDING = """
import os, torch
if torch.distributed.is_initialized():
    torch.distributed.barrier()
os._exit(0)
"""
