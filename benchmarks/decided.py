"""What a fitted classifier's decisions are worth on a test set with known labels.

Used by ``imbalance.py``, which keeps the measures in ``results/imbalance-decisions.jsonl``.
"""

import numpy as np
import torch

from oddkout.fitting.deciding import decided
from oddkout.fitting.held_out_file import held_out_of

COVERAGE = 0.9
RISKS = (0.05, 0.1)


def decision_measures(stack, data, logits):
    """Prediction sets and referral from out-of-fold scores, measured on the test part.

    Args:
        stack: The fitted classifier, see ``oddkout.fitting.stack.Stack``.
        data: The data, prepared.
        logits: Logits of all its networks for the test part.
    """
    mixture, truth = stack.calibrated, data.y_test.numpy()
    held_out = held_out_of(stack, data.y, members="folds", groups=None, is_calibrated=True)
    names = [str(number) for number in range(len(data.classes))]
    shared = {"mixture": mixture, "held_out": held_out, "classes": names, "costs": None}
    probs = mixture.combined(logits).double().softmax(dim=1).numpy()
    measures = {
        "best": {
            "size": size_at_coverage(probs, truth),
            "answered": {str(risk): share_at_risk(probs, truth, risk) for risk in RISKS},
        }
    }
    for name, by_class in (("by class", True), ("on average", False)):
        found = decided(
            logits, coverage=COVERAGE, risk=None, prior=None, by_class=by_class, **shared
        )
        is_in = np.array([[label in answer for label in names] for answer in found.answers])
        hits = is_in[np.arange(len(truth)), truth]
        measures[name] = {
            "size": float(is_in.sum(axis=1).mean()),
            "coverage": float(hits.mean()),
            "classes": [float(hits[truth == label].mean()) for label in range(len(names))],
            "always": np.flatnonzero(is_in.all(axis=0)).tolist(),
        }
    train = torch.tensor(mixture.train).double()
    shares = torch.as_tensor(np.bincount(truth, minlength=len(names)) / len(truth))
    for name, prior, by_label in (
        ("equal classes", None, 1 / (len(names) * shares)),
        ("training frequencies", tuple(mixture.train), train / shares),
    ):
        weight = by_label.numpy()[truth]
        for risk in RISKS:
            found = decided(logits, coverage=None, risk=risk, prior=prior, by_class=None, **shared)
            answers = np.array(found.answers)
            is_answered = answers != "refer"
            is_wrong = is_answered & (answers != truth.astype(str))
            answered = float(weight @ is_answered / weight.sum())
            measures[f"risk {risk}, {name}"] = {
                "answered": answered,
                "error": float(weight @ is_wrong / (weight @ is_answered)) if answered else None,
            }
    return measures


def size_at_coverage(probs, truth, *, coverage=COVERAGE):
    """Mean size of sets whose thresholds give each class its coverage on this very test set."""
    own = probs[np.arange(len(truth)), truth]
    limits = [
        np.quantile(own[truth == label], 1 - coverage, method="higher")
        for label in range(probs.shape[1])
    ]
    return float((probs >= np.array(limits)).sum(axis=1).mean())


def share_at_risk(probs, truth, risk):
    """Largest share of cases, the most confident ones, of whose answers this share is wrong.

    Cases that are equally confident are answered together or not at all.
    """
    confidence = probs.max(axis=1)
    order = np.argsort(-confidence, kind="stable")
    wrong = (probs.argmax(axis=1) != truth)[order].cumsum()
    is_last = np.append(np.diff(confidence[order]) != 0, True)
    safe = np.flatnonzero(is_last & (wrong <= risk * np.arange(1, len(truth) + 1)))
    return float((safe.max() + 1) / len(truth)) if len(safe) else 0.0
