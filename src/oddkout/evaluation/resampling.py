"""Resampled metrics: bootstrap replicates, and scores of a perfectly calibrated model.

Each replicate is a column. All metrics are functions of sums over examples, so a thousand
replicates cost a few products of sparse matrices with a table of examples x replicates.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.evaluation.examples import Examples
from oddkout.metrics.brier import decomposed
from oddkout.metrics.calibration import Binning, BinSums, bin_of_confidence, classwise_bin_sums
from oddkout.metrics.influence import Units
from oddkout.metrics.predictions import Predictions
from oddkout.metrics.ranking import confidence_groups, grouped_auroc, grouped_risk
from oddkout.metrics.skill import guessing_nll, skill
from oddkout.metrics.smooth import CELLS, cell_weights, smoothed_error

# Numbers in one table of examples x replicates; about ten tables are in memory at a time.
_TABLE = 2**21


class Resampler:
    """Metrics of one set of examples under resampling.

    Args:
        examples: The examples.
        bins: Number of bins of every binned error.
        replicates: Number of replicates and of draws.
        generator: Source of randomness.
        units: Groups of the examples; a group is drawn as a whole.
        guess: Class frequencies that the skill is measured against; by default those of the labels.
    """

    def __init__(
        self,
        examples: Examples,
        *,
        bins: int,
        replicates: int,
        generator: torch.Generator,
        units: Units | None = None,
        guess: Tensor | None = None,
    ) -> None:
        self.examples = examples
        self.units = Units(len(examples)) if units is None else units
        self.guess = guess
        self.bins = bins
        self.replicates = replicates
        self.generator = generator
        self.confidence = examples.confidence.float().numpy()
        self.hits = examples.hits.float().numpy()
        binnings: dict[str, Binning] = {"ece": "equal-width", "ece_equal_mass": "equal-mass"}
        self._bin_of = {
            name: bin_of_confidence(examples.confidence, bins=bins, binning=binning).numpy()
            for name, binning in binnings.items()
        }
        cells, self._shares = cell_weights(examples.confidence.double().numpy())
        self._cells = cells.ravel()
        # Bin numbers are stored in bytes, which take a quarter of the memory of the predictions.
        number = torch.uint8 if bins <= 256 else torch.int32
        self.probs = torch.empty(examples.predictions.shape)
        self._classwise_bin = torch.empty(examples.predictions.shape, dtype=number)
        for block, rows in examples.predictions.probability_blocks():
            self.probs[block] = rows
            self._classwise_bin[block] = bin_of_confidence(self.probs[block], bins=bins).to(number)

    def bootstrap(self) -> dict[str, Float[Tensor, " replicates"]]:
        """Metrics of units drawn with replacement; equal-mass bins keep their edges."""
        values: dict[str, list[Tensor]] = defaultdict(list)
        means = self._mean_values()
        finite = means.nan_to_num(posinf=0.0).float()
        infinite = means.isinf().float()
        tops = {
            name: [
                self._sums(bin_of, self.bins, summand)
                for summand in (None, self.confidence, self.hits)
            ]
            for name, bin_of in self._bin_of.items()
        }
        smooth = self._sums(self._cells, CELLS, self._shares * (self.confidence - self.hits))
        group, groups = confidence_groups(self.examples.confidence)
        right = self._sums(group.numpy(), groups, self.hits)
        wrong = self._sums(group.numpy(), groups, 1 - self.hits)
        labels = self.examples.predictions.true_classes.numpy()
        classes = self._sums(labels, self.probs.shape[1], None)
        classwise = _ClasswiseSums(self)

        for weights in self._drawn_weights():
            drawn = torch.from_numpy(weights)
            total = drawn.sum(dim=0)
            averages = finite.T @ drawn / total
            if infinite.any():
                averages = averages.masked_fill(infinite.T @ drawn > 0, torch.inf)
            for name, average in zip(_MEANS, averages, strict=True):
                values[name].append(average)
            values["entropy_gap"].append(values["relative_cross_entropy"][-1].abs())
            for name, matrices in tops.items():
                sums = BinSums(*(torch.from_numpy(matrix @ weights) for matrix in matrices))
                _add_top_errors(values, name, sums)
            values["smooth_ece"].append(_smooth(smooth @ weights / total.numpy()))
            sizes = torch.from_numpy(classes @ weights).double()
            guessing = guessing_nll(sizes, self.guess) / total
            values["skill"].append(skill(values["nll"][-1].double(), guessing))
            counts = torch.from_numpy(right @ weights), torch.from_numpy(wrong @ weights)
            values["correctness_auroc"].append(grouped_auroc(*counts))
            values["risk_coverage_area"].append(grouped_risk(*counts))
            _add_classwise(values, classwise.of(weights))
        return {name: torch.cat(parts) for name, parts in values.items()}

    def null(self) -> dict[str, Float[Tensor, " replicates"]]:
        """Calibration errors when the labels are drawn from the predictions.

        All labels of a group are drawn with the same random number, so that examples with equal
        predictions get the same label. No dependence within groups is stronger.
        """
        values: dict[str, list[Tensor]] = defaultdict(list)
        examples = self.examples
        # Sums of many confidences are in double precision: rounding must not look like an error.
        confidence = self.confidence.astype(np.float64)
        sums_of = {
            name: [
                np.bincount(bin_of, weights, minlength=self.bins)[:, None]
                for weights in (np.ones_like(confidence), confidence)
            ]
            for name, bin_of in self._bin_of.items()
        }
        indicators = {
            name: self._sums(bin_of, self.bins, None) for name, bin_of in self._bin_of.items()
        }
        smooth = self._sums(self._cells, CELLS, self._shares)
        true = Predictions(self.probs, are_logits=False, labels=examples.predictions.labels)
        classwise = classwise_bin_sums(true, bins=self.bins)
        classwise_count, classwise_confidence = (
            part[..., None] for part in (classwise.count, classwise.confidence)
        )
        mean_entropy = examples.entropy.mean()
        for labels in self._drawn_labels():
            hits = (labels == examples.predicted[:, None]).float().numpy()
            for name, indicator in indicators.items():
                sums = BinSums(*map(torch.from_numpy, (*sums_of[name], indicator @ hits)))
                _add_top_errors(values, name, sums)
            gaps = smooth @ (self.confidence[:, None] - hits)
            values["smooth_ece"].append(_smooth(gaps / len(examples)))
            cross_entropy = -self.probs.gather(1, labels).log().mean(dim=0, dtype=torch.float64)
            values["entropy_gap"].append((cross_entropy - mean_entropy).abs())
            hits_by_bin = self._classwise_hits(labels)
            _add_classwise(values, BinSums(classwise_count, classwise_confidence, hits_by_bin))
        return {name: torch.cat(values[name]) for name in CALIBRATION_ERRORS}

    def _mean_values(self) -> Float[Tensor, "examples means"]:
        """The per-example values whose means are metrics, in the order of ``_MEANS``."""
        each = self.examples
        relative = each.cross_entropy - each.entropy
        columns = (each.cross_entropy, each.brier, each.entropy, relative, each.confidence.double())
        return torch.stack(columns, dim=1)

    def _sums(self, row_of: np.ndarray, rows: int, values: np.ndarray | None) -> Any:
        """Sparse matrix that sums the values (default: 1) of the examples of each row."""
        from scipy.sparse import csr_array

        examples = len(self.examples)
        columns = np.arange(len(row_of)) % examples
        values = np.ones(len(row_of)) if values is None else values.ravel()
        entries = values.astype(np.float32)
        return csr_array((entries, (row_of, columns)), shape=(rows, examples))

    def _portions(self) -> Iterator[int]:
        """Yield numbers of replicates, each small enough for one table."""
        portion = max(1, _TABLE // len(self.examples))
        for start in range(0, self.replicates, portion):
            yield min(portion, self.replicates - start)

    def _drawn_weights(self) -> Iterator[np.ndarray]:
        """Yield the number of times each example is drawn, as examples x replicates."""
        units = self.units.count
        for columns in self._portions():
            shape = (units, columns)
            drawn = torch.randint(units, shape, generator=self.generator)
            weights = torch.zeros(shape).scatter_add_(0, drawn, torch.ones(shape))
            yield self._of_examples(weights).numpy()

    def _drawn_labels(self) -> Iterator[Int[Tensor, "examples columns"]]:
        """Yield labels drawn from the predictions."""
        examples, classes = self.probs.shape
        for columns in self._portions():
            uniform = self._of_examples(
                torch.rand(self.units.count, columns, generator=self.generator)
            )
            drawn = torch.empty(examples, columns, dtype=torch.int64)
            for block, probs in Predictions(self.probs, are_logits=False).blocks():
                limits = probs.cumsum(dim=1)
                limits /= limits[:, -1:].clone()
                drawn[block] = torch.searchsorted(limits, uniform[block], right=True)
            yield drawn.clamp_max_(classes - 1)

    def _of_examples(self, values: Float[Tensor, "units columns"]) -> Tensor:
        """Rows of values per group as rows per example."""
        return values if self.units.codes is None else values[self.units.codes]

    def _classwise_hits(self, labels: Int[Tensor, "examples columns"]) -> Tensor:
        """Number of labels in each bin of each class, for every column."""
        classes, columns = self.probs.shape[1], labels.shape[1]
        key = self._classwise_bin.gather(1, labels).long().mul_(classes).add_(labels)
        key.mul_(columns).add_(torch.arange(columns))
        counts = key.flatten().bincount(minlength=self.bins * classes * columns)
        return counts.view(self.bins, classes, columns).float()


class _ClasswiseSums:
    """Sums over the bins of each class's probability.

    With many classes, most probabilities lie in the first bin. Its sums are the totals minus those
    of the other bins, which keeps the sparse matrices small.
    """

    def __init__(self, resampler: Resampler) -> None:
        probs, bin_of = resampler.probs, resampler._classwise_bin
        self.classes, self.bins = probs.shape[1], resampler.bins
        self.probs = probs
        rows, columns = (part.int() for part in (bin_of > 0).nonzero(as_tuple=True))
        key = (bin_of[rows, columns].int() * self.classes + columns).numpy()
        shape = (self.bins * self.classes, len(probs))
        self._count = self._matrix(np.ones(len(rows)), key, rows.numpy(), shape)
        self._confidence = self._matrix(probs[rows, columns].numpy(), key, rows.numpy(), shape)
        labels = resampler.examples.predictions.true_classes
        true_key = bin_of.gather(1, labels[:, None])[:, 0].long() * self.classes + labels
        every = np.arange(len(probs))
        self._hits = self._matrix(np.ones(len(probs)), true_key.numpy(), every, shape)

    @staticmethod
    def _matrix(values: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
        from scipy.sparse import csr_array

        return csr_array((values.astype(np.float32), (rows, columns)), shape=shape)

    def of(self, weights: np.ndarray) -> BinSums:
        """Sums of shape (bins, classes, replicates)."""
        shape = (self.bins, self.classes, weights.shape[1])
        count = (self._count @ weights).reshape(shape)
        confidence = (self._confidence @ weights).reshape(shape)
        count[0] = weights.sum(axis=0) - count.sum(axis=0)
        total = self.probs.T @ torch.from_numpy(weights)  # PyTorch's threads are faster here
        confidence[0] = total.numpy() - confidence.sum(axis=0)
        hits = (self._hits @ weights).reshape(shape)
        return BinSums(*map(torch.from_numpy, (count, confidence, hits)))


# Metrics that are means over examples, and calibration errors, which have a null level.
_MEANS = ("nll", "brier", "entropy", "relative_cross_entropy", "confidence")
CALIBRATION_ERRORS = (
    "ece",
    "ece_equal_mass",
    "maximum_ece",
    "debiased_ece",
    "smooth_ece",
    "classwise_ece",
    "brier_reliability",
    "entropy_gap",
)


def _add_top_errors(values: dict[str, list[Tensor]], name: str, sums: BinSums) -> None:
    """Append the errors computed from bins of confidence."""
    values[name].append(sums.expected_error())
    if name == "ece":
        values["maximum_ece"].append(sums.maximum_error())
    else:
        values["debiased_ece"].append(sums.debiased_error())


def _add_classwise(values: dict[str, list[Tensor]], sums: BinSums) -> None:
    """Append the metrics computed from bins of each class's probability."""
    values["classwise_ece"].append(sums.expected_error().mean(dim=0))
    uncertainty, resolution, reliability = decomposed(sums)
    values["brier_uncertainty"].append(uncertainty)
    values["brier_resolution"].append(resolution)
    values["brier_reliability"].append(reliability)


def _smooth(gaps: np.ndarray) -> Tensor:
    """Smooth error of each column, as a tensor."""
    return torch.from_numpy(smoothed_error(gaps))
