"""The numbers that the paper prints in its tables and its text.

Table 1 is accuracy, table 2 the gap between entropy and cross-entropy, tables 3 and 4 the same gap
for the ablations. (In the compiled paper a table of the theory comes first.) The paper's OKO,
including k = 1 in its ablations, has the odd-class head.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from oddkout.metrics.catalogue import METRICS, Metric
from oddkout.paper.settings import DISTRIBUTIONS, TITLES

# Columns of all tables: every data set, first with uniform, then with heavy-tailed classes.
COLUMNS = tuple((data, distribution) for data in list(TITLES)[:4] for distribution in DISTRIBUTIONS)


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """A table of the paper.

    Attributes:
        name: Its name in files.
        title: Its caption.
        label: Its label in the paper's LaTeX source.
        metric: Name of the metric; the table has its mean over all sizes.
        rows: The numbers of every variant, column by column; shares, not per cent.
        digits: Decimals that the paper prints.
    """

    name: str
    title: str
    label: str
    metric: str
    rows: dict[str, tuple[float, ...]]
    digits: int = 3

    @property
    def printed_metric(self) -> Metric:
        """The metric, written with as many decimals as the paper prints."""
        return replace(METRICS[self.metric], digits=self.digits)

    def value(self, variant: str, data: str, distribution: str) -> float | None:
        """One number of the table; none if the paper does not have it."""
        if variant not in self.rows or (data, distribution) not in COLUMNS:
            return None
        return self.rows[variant][COLUMNS.index((data, distribution))]

    def cells(self) -> Iterator[tuple[str, str, str, float]]:
        """Variant, data set, distribution and number of every cell."""
        for variant, values in self.rows.items():
            for (data, distribution), value in zip(COLUMNS, values, strict=True):
                yield variant, data, distribution, value


def _per_cent(*values: float) -> tuple[float, ...]:
    """Shares, from the percentages that the paper prints."""
    return tuple(round(value / 100, 6) for value in values)


ACCURACY = PublishedTable(
    name="table-1",
    title="Accuracy, averaged over sizes",
    label="tab:generalization",
    metric="accuracy",
    digits=2,
    rows={
        "vanilla": _per_cent(92.34, 78.21, 81.05, 68.16, 55.84, 30.24, 32.72, 2.68),
        "vanilla+ls": _per_cent(91.84, 77.38, 81.10, 66.46, 55.06, 27.16, 31.20, 2.62),
        "weighted": _per_cent(92.14, 80.18, 79.52, 71.45, 55.74, 33.76, 32.42, 5.20),
        "focal": _per_cent(90.98, 76.42, 80.13, 69.86, 54.39, 33.89, 32.72, 5.98),
        "bb": _per_cent(92.31, 81.42, 81.11, 71.24, 55.87, 44.69, 32.63, 13.67),
        "bb+ls": _per_cent(91.86, 80.81, 81.12, 71.13, 54.96, 44.72, 31.26, 13.96),
        "oko": _per_cent(93.62, 85.67, 81.49, 74.02, 57.63, 44.95, 35.11, 14.13),
    },
)

_OKO_GAP = (0.073, 0.094, 0.080, 0.334, 0.116, 0.498, 0.314, 1.164)
_K2_GAP = (0.224, 0.123, 0.204, 0.208, 0.352, 0.194, 0.527, 1.040)
_K3_GAP = (0.285, 0.180, 0.279, 0.160, 0.376, 0.153, 0.682, 0.769)

ENTROPY_GAP = PublishedTable(
    name="table-2",
    title="MAE between mean entropy and mean cross-entropy, averaged over sizes",
    label="tab:xent_vs_entropy",
    metric="entropy_gap",
    rows={
        "vanilla": (0.189, 0.723, 0.455, 1.075, 0.330, 1.845, 0.708, 2.638),
        "vanilla+ls": (0.475, 0.342, 0.243, 0.119, 0.230, 1.158, 0.236, 2.171),
        "weighted": (0.207, 0.558, 0.505, 0.758, 0.315, 0.366, 0.705, 0.189),
        "focal": (0.044, 0.333, 0.107, 0.308, 0.222, 0.296, 0.526, 0.198),
        "bb": (0.201, 0.709, 0.455, 1.275, 0.330, 1.438, 0.918, 6.362),
        "bb+ls": (0.475, 0.380, 0.240, 0.114, 0.225, 0.471, 0.337, 1.141),
        "oko": _OKO_GAP,
    },
)

ODD_CLASSES = PublishedTable(
    name="table-3",
    title="Ablation of k: MAE between mean entropy and mean cross-entropy, averaged over sizes",
    label="tab:ablations-xent_vs_entropy, k",
    metric="entropy_gap",
    rows={
        "pair": (0.091, 0.318, 0.136, 0.542, 0.657, 1.370, 2.088, 3.739),
        "oko": _OKO_GAP,
        "oko-k2": _K2_GAP,
        "oko-k3": _K3_GAP,
    },
)

TARGETS = PublishedTable(
    name="table-4",
    title="Ablation of targets: MAE between mean entropy and mean cross-entropy, averaged over "
    "sizes",
    label="tab:ablations-xent_vs_entropy, hard and soft",
    metric="entropy_gap",
    rows={
        "oko": _OKO_GAP,
        "oko-k2": _K2_GAP,
        "oko-k3": _K3_GAP,
        "oko-soft": (0.893, 0.759, 0.761, 0.627, 0.417, 0.243, 0.331, 0.281),
        "oko-soft-k2": (0.845, 0.717, 0.733, 0.620, 0.394, 0.248, 0.564, 0.082),
        "oko-soft-k3": (0.772, 0.667, 0.668, 0.585, 0.301, 0.268, 0.626, 0.107),
    },
)

TABLES = (ACCURACY, ENTROPY_GAP, ODD_CLASSES, TARGETS)


def published_difference(
    table: PublishedTable, first: str, second: str, data: str, distribution: str
) -> float | None:
    """First variant minus second in a table of the paper; none if it lacks one of them."""
    values = [table.value(name, data, distribution) for name in (first, second)]
    if values[0] is None or values[1] is None:
        return None
    return round(values[0] - values[1], 6)


def column_title(data: str, distribution: str) -> str:
    """A data set and a distribution, for the beginning of a statement."""
    return f"{TITLES[data]}, {distribution}"


# From the text: accuracy of OKO on 10-shot MNIST (mean and best seed), and its gain over the
# previous best result. The paper does not state the previous best for 20 and 50 examples per class.
TEN_SHOT_ACCURACY = 0.8762
TEN_SHOT_BEST_SEED = 0.9014
GAIN_OVER_PREVIOUS = {10: 0.0859, 20: 0.0285, 50: 0.0181}

# CPU-hours of all experiments on MNIST and FashionMNIST, and GPU-hours of all on CIFAR.
CPU_HOURS = 100
GPU_HOURS = 50
