"""A course of training: from a network to a trained one with its temperature."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int64
from numpy import ndarray
from torch import Tensor, nn

from oddkout.calibrators import PriorCorrection, TemperatureScaling
from oddkout.checks import Number
from oddkout.estimator.held_out import Part, folds_of
from oddkout.fitting.methods import Method
from oddkout.fitting.training import Progress, Trained, train


@dataclass(frozen=True, kw_only=True)
class Course:
    """All that training depends on, but for the network and the examples.

    Attributes:
        method: The method.
        frequencies: Frequency of every class in the training data.
        updates: Number of updates.
        examples: Number of examples in an update; twice as many sets are drawn among them.
        learning_rate: Highest learning rate.
        seed: Key of all randomness.
        progress: Called with every new row of the log.
    """

    method: Method
    frequencies: tuple[float, ...]
    updates: int
    examples: int
    learning_rate: Number
    seed: int
    progress: Progress | None = None

    @property
    def prior(self) -> PriorCorrection:
        """From the frequencies that the method trains for to those of the training data."""
        trained_for = None if self.method.is_balanced else self.frequencies
        return PriorCorrection(self.frequencies, train_prior=trained_for)

    def train(
        self,
        network: nn.Module,
        x: Float[Tensor, "examples ..."],
        y: Int64[ndarray, " examples"],
        *,
        first: Part,
        second: Part,
    ) -> Trained:
        """Train the network on the first part; keep the state that does best on the second.

        Args:
            network: Trained in place.
            x: All examples.
            y: Their classes.
            first: Indices to train on.
            second: Indices to validate by; without any, the last state is kept.
        """
        return train(
            network,
            x[first],
            torch.from_numpy(y[first]),
            method=self.method,
            classes=len(self.frequencies),
            updates=self.updates,
            examples=self.examples,
            sets=2 * self.examples,
            singletons="repeat",
            learning_rate=self.learning_rate,
            validation=(x[second], torch.from_numpy(y[second])) if len(second) else None,
            validation_prior=self.prior,
            seed=self.seed,
            progress=self.progress,
        )

    def validation_temperature(
        self,
        trained: Trained,
        x: Float[Tensor, "examples ..."],
        y: Int64[ndarray, " examples"],
        *,
        second: Part,
    ) -> TemperatureScaling:
        """The best temperature for the second part; 1 if it is empty.

        It divides logits that are corrected for the prior: on imbalanced data that of uncorrected
        ones would make up for the prior instead.

        Args:
            trained: What was trained on the rest.
            x: All examples.
            y: Their classes.
            second: Indices that were not trained on.
        """
        if not len(second):
            return TemperatureScaling()
        logits = trained.predict_logits(x[second]).double()
        return TemperatureScaling().fit(self.prior(logits), y[second])

    def fold_temperature(
        self,
        new_network: Callable[[int], nn.Module],
        x: Float[Tensor, "examples ..."],
        y: Int64[ndarray, " examples"],
        *,
        folds: int,
    ) -> TemperatureScaling:
        """The best temperature for out-of-fold predictions of as many more networks.

        Args:
            new_network: A network for a seed.
            x: The examples.
            y: Their classes.
            folds: Number of folds.
        """
        logits, order = [], []
        nothing = np.arange(0)
        for fold, (first, second) in enumerate(folds_of(y, folds=folds, seed=self.seed), start=1):
            course = replace(self, seed=self.seed + fold)
            trained = course.train(new_network(course.seed), x, y, first=first, second=nothing)
            logits.append(trained.predict_logits(x[second]).double())
            order.append(second)
        return TemperatureScaling().fit(self.prior(torch.cat(logits)), y[np.concatenate(order)])
