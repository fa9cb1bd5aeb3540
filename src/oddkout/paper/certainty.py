"""How many correct predictions have low entropy, and how many wrong ones high entropy."""

import numpy as np

from oddkout.comparing.run import Run

RIGHT, WRONG = "certain when right", "uncertain when wrong"


def certainty(run: Run) -> dict[str, float]:
    """Share of correct predictions with an entropy below half of log C, and of wrong ones above.

    Empty if the run has neither predictions nor these numbers; a share of no predictions is left
    out.
    """
    if run.extras or run.logits is None or run.labels is None:
        return {name: run.extras[name] for name in (RIGHT, WRONG) if name in run.extras}
    logits = run.logits.astype(np.float64)
    log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    entropy = -(np.exp(log_probs) * log_probs).sum(axis=1)
    is_certain = entropy < np.log(logits.shape[1]) / 2
    is_right = logits.argmax(axis=1) == run.labels
    shares = {}
    if is_right.any():
        shares[RIGHT] = float(is_certain[is_right].mean())
    if not is_right.all():
        shares[WRONG] = float(1 - is_certain[~is_right].mean())
    return shares
