"""Prior correction: probabilities for classes that are not as frequent as they were in training."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.calibrators.calibrator import Calibrator, fitting_data
from oddkout.checks import Labels, Matrix, finite_logits, prediction_matrix

# A vector of class frequencies as people write it: list, array or tensor.
Prior = Any


class PriorCorrection(Calibrator):
    """Logits plus log(prior / training prior), by Bayes' rule.

    A model trained on class-balanced batches, as odd-k-out learning does, predicts for equally
    frequent classes, ``train_prior=None``. Where the frequencies at hand are unknown, ``fit``
    estimates them.

    Args:
        prior: Class frequencies where the model is used; leave out and ``fit`` if unknown.
        train_prior: Class frequencies that the model was trained for; uniform if not given.

    Example:
        An even bet between two classes of which one is nine times as frequent.

        >>> PriorCorrection([0.9, 0.1]).predict_proba([[0.0, 0.0]]).round(4).tolist()
        [[0.9, 0.1]]
    """

    prior: Tensor
    train_prior: Tensor

    def __init__(self, prior: Prior = None, *, train_prior: Prior = None) -> None:
        super().__init__()
        given = None if prior is None else frequencies("prior", prior)
        trained = None if train_prior is None else frequencies("train_prior", train_prior)
        if given is not None and trained is not None and len(given) != len(trained):
            raise ValueError(
                "prior and train_prior must be of the same classes, got "
                f"{len(given)} and {len(trained)} frequencies"
            )
        one = torch.ones(1, dtype=torch.float64)
        # One number stands for equal frequencies of any number of classes.
        trained = one if trained is None else trained
        if given is not None and len(trained) == 1:
            trained = torch.full_like(given, 1 / len(given))
        self.register_buffer("train_prior", trained)
        self.register_buffer("prior", trained.clone() if given is None else given)

    def fit(self, logits: Matrix, labels: Labels = None) -> "PriorCorrection":
        """Estimate the class frequencies of the data at hand; afterwards they are ``prior``.

        Args:
            logits: Logits of examples as they come where the model is used.
            labels: Their classes, if known: then these are counted, one added to each class.
                Without them the frequencies of the highest likelihood are found by expectation
                maximisation (Saerens et al., 2002); this trusts the model to be calibrated for
                its training prior.
        """
        if labels is not None:
            rows, classes = fitting_data(logits, labels)
            counts = classes.bincount(minlength=rows.shape[1]).double() + 1
            estimate = counts / counts.sum()
        else:
            rows = finite_logits(prediction_matrix("logits", logits)).cpu().double()
            estimate = expectation_maximisation(rows, self._trained(rows.shape[1]))
        self.train_prior = self._trained(rows.shape[1])
        self.prior = estimate
        return self

    def forward(self, logits: Tensor) -> Tensor:
        """Shift the logits of every class."""
        if len(self.prior) not in (1, logits.shape[1]):
            raise ValueError(
                f"prior must hold one frequency per class, {logits.shape[1]}, got {len(self.prior)}"
            )
        return logits + (self.prior.log() - self.train_prior.log()).to(logits.dtype)

    def _trained(self, classes: int) -> Float[Tensor, " classes"]:
        """The training prior, spelled out."""
        if len(self.train_prior) == 1:
            return torch.full((classes,), 1 / classes, dtype=torch.float64)
        if len(self.train_prior) != classes:
            raise ValueError(
                f"train_prior must hold one frequency per class, {classes}, got "
                f"{len(self.train_prior)}"
            )
        return self.train_prior.cpu()


def frequencies(name: str, values: Prior) -> Float[Tensor, " classes"]:
    """Return class frequencies in double precision, or raise if they are none."""
    given = values if isinstance(values, Tensor) else np.array(values, float)
    found = torch.as_tensor(given).detach().double().cpu()
    if found.ndim != 1 or len(found) < 2:
        raise ValueError(
            f"{name} must be a list of one frequency for each of at least 2 classes, got shape "
            f"{tuple(found.shape)}"
        )
    if not (found > 0).all() or not abs(found.sum().item() - 1) <= 1e-3:
        raise ValueError(
            f"{name} must be positive and sum to 1, got {found.tolist()}; divide counts by their "
            "sum, and give a class that hardly occurs a small share"
        )
    return found / found.sum()


def expectation_maximisation(
    logits: Float[Tensor, "examples classes"], train_prior: Float[Tensor, " classes"]
) -> Float[Tensor, " classes"]:
    """Class frequencies under which the logits are most likely; none below 1e-9."""
    log_ratio = logits.log_softmax(dim=1) - train_prior.log()
    prior = train_prior
    for _ in range(10_000):
        following = (log_ratio + prior.log()).softmax(dim=1).mean(dim=0).clamp_min(1e-9)
        following = following / following.sum()
        change = (following - prior).abs().max()
        prior = following
        if change < 1e-10:
            break
    return prior
