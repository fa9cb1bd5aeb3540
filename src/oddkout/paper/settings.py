"""Settings: a data set, a distribution of classes and a number of training examples."""

from dataclasses import dataclass
from typing import Literal

from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.data import KNOWN

PaperDistribution = Literal["uniform", "heavy-tailed"]
DISTRIBUTIONS: tuple[PaperDistribution, ...] = ("uniform", "heavy-tailed")

# Titles of the data sets, in the order of the paper's tables.
TITLES = {
    "mnist": "MNIST",
    "fashion_mnist": "FashionMNIST",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "digits": "digits",
}

# Examples per class in the paper; on CIFAR it starts at 40.
SIZES = (10, 20, 30, 40, 50, 100, 500, 1000, 2000)


@dataclass(frozen=True, order=True)
class Setting:
    """The training data of a run.

    Attributes:
        data: Name of a known data set.
        distribution: Distribution of the classes.
        per_class: Examples per class; their mean if the distribution is heavy-tailed.
    """

    data: str
    distribution: PaperDistribution
    per_class: int

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(KNOWN[self.data].classes)

    @property
    def examples(self) -> int:
        """Total number of training examples."""
        return self.per_class * self.classes

    @property
    def class_sizes(self) -> list[Number]:
        """Expected number of examples of every class, most frequent first."""
        if self.distribution == "uniform":
            return [self.per_class] * self.classes
        rare = max(5, 0.1 * self.examples / (self.classes - 3))
        frequent = (self.examples - rare * (self.classes - 3)) / 3
        return [frequent] * 3 + [rare] * (self.classes - 3)

    def __str__(self) -> str:
        return f"{TITLES[self.data]}, {self.distribution}, {self.per_class} per class"


def setting_of(config: RunConfig) -> Setting | None:
    """The setting of a run; none if it uses all training data or a user's own data."""
    if config.data not in TITLES or not config.train_examples:
        return None
    if config.distribution == "all" or config.distribution == "exponential":
        return None
    per_class, rest = divmod(config.train_examples, len(KNOWN[config.data].classes))
    return None if rest else Setting(config.data, config.distribution, per_class)


def paper_sizes(data: str) -> tuple[int, ...]:
    """The paper's numbers of examples per class that a data set can provide."""
    low, high = {"cifar10": (40, 2000), "cifar100": (40, 100), "digits": (10, 50)}.get(
        data, (SIZES[0], SIZES[-1])
    )
    return tuple(size for size in SIZES if low <= size <= high)
