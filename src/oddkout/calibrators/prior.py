"""Prior correction: adapt probabilities to class frequencies that differ from training."""

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.calibrators.calibrator import Calibrator, fitting_data
from oddkout.checks import (
    Labels,
    Matrix,
    Prior,
    finite_logits,
    frequencies,
    prediction_matrix,
)


class PriorCorrection(Calibrator):
    """Add log(prior / training prior) to the logits, by Bayes' rule.

    Odd-k-out learning trains on class-balanced batches, so its training prior is uniform:
    ``train_prior=None``. If the prior where the model is used is unknown, ``fit`` estimates it.

    Args:
        prior: Class frequencies where the model is used; if unknown, leave it out and call ``fit``.
        train_prior: Class frequencies that the model was trained for; uniform if not given.

    Example:
        Equal logits for two classes, one of which is nine times as frequent.

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
        # A single 1 stands for the uniform prior over any number of classes.
        trained = one if trained is None else trained
        if given is not None and len(trained) == 1:
            trained = torch.full_like(given, 1 / len(given))
        self.register_buffer("train_prior", trained)
        self.register_buffer("prior", trained.clone() if given is None else given)

    def fit(self, logits: Matrix, labels: Labels = None) -> "PriorCorrection":
        """Estimate ``prior`` from examples.

        Args:
            logits: Logits of examples from where the model is used.
            labels: Their classes, if known. The estimate is then (count + 1) / total. Without
                labels it is the maximum-likelihood estimate, computed by expectation maximisation
                (Saerens et al., 2002). This assumes that the model is calibrated for its training
                prior.
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
        """Shift the logits of each class."""
        if len(self.prior) not in (1, logits.shape[1]):
            raise ValueError(
                f"prior must hold one frequency per class, {logits.shape[1]}, got {len(self.prior)}"
            )
        return logits + (self.prior.log() - self.train_prior.log()).to(logits.dtype)

    def _trained(self, classes: int) -> Float[Tensor, " classes"]:
        """The training prior with one entry per class."""
        if len(self.train_prior) == 1:
            return torch.full((classes,), 1 / classes, dtype=torch.float64)
        if len(self.train_prior) != classes:
            raise ValueError(
                f"train_prior must hold one frequency per class, {classes}, got "
                f"{len(self.train_prior)}"
            )
        return self.train_prior.cpu()


def expectation_maximisation(
    logits: Float[Tensor, "examples classes"], train_prior: Float[Tensor, " classes"]
) -> Float[Tensor, " classes"]:
    """Maximum-likelihood class frequencies given the logits; none below 1e-9."""
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
