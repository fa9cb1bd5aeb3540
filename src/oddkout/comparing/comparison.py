"""The result of a comparison: means over seeds, paired differences, a winner and a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oddkout.comparing.config import RunConfig, open_setting
from oddkout.comparing.contestants import is_outsider, table_order
from oddkout.comparing.criterion import Criterion, ranked_by
from oddkout.comparing.differences import difference_of_runs, mean_of_runs, pooled_difference
from oddkout.comparing.example_values import TRIED
from oddkout.comparing.run import Run
from oddkout.comparing.schema import COMPARED
from oddkout.comparing.statistics import Interval, TrainingVariance
from oddkout.data import KNOWN
from oddkout.decisions.cost_table import CostTable
from oddkout.fitting.selection import FIELDS
from oddkout.metrics.catalogue import CATALOGUE
from oddkout.prior import prior_sentence

if TYPE_CHECKING:
    from oddkout.comparing.tables import ComparisonTable


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs of several methods on one setting, all with the same seeds.

    Attributes:
        runs: The runs with the chosen recipes.
        tuning: The runs that the recipes were chosen from.
        choices: What each method chose on the first seed, with the candidates.
        folder: Folder of the stored runs.
        warnings: What makes the results doubtful, one sentence each, without a full stop.
        criterion: What the winner is chosen by, out of fold.
        costs: What answers cost, if a user gave costs; the runs are then priced.
    """

    runs: Sequence[Run]
    tuning: Sequence[Run] = ()
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    folder: Path | None = None
    warnings: Sequence[str] = ()
    criterion: Criterion = "nll"
    costs: CostTable | None = None

    @cached_property
    def by_method(self) -> dict[str, list[Run]]:
        """The runs of each contestant, ordered by seed; in the order of ``table_order``."""
        runs_of: dict[str, list[Run]] = {}
        for run in sorted(self.runs, key=lambda run: run.config.seed):
            runs_of.setdefault(run.config.method, []).append(run)
        return {name: runs_of[name] for name in table_order(runs_of)}

    @cached_property
    def _means(self) -> dict[tuple[str, str, bool], Interval]:
        """Means that were computed before."""
        return {}

    @cached_property
    def _lags(self) -> dict[tuple[str, str, bool], Interval]:
        """Differences that were computed before."""
        return {}

    @cached_property
    def _variances(self) -> dict[tuple[str, bool], TrainingVariance | None]:
        """Training variances that were computed before."""
        return {}

    @property
    def methods(self) -> list[str]:
        """Names of the methods without a failed run."""
        return [
            name for name, runs in self.by_method.items() if not any(run.has_failed for run in runs)
        ]

    @property
    def failed(self) -> dict[str, str]:
        """The methods with a failed run, each with the reason of its first failure."""
        return {name: runs[0].reason for name, runs in self.failed_runs.items()}

    @property
    def failed_runs(self) -> dict[str, list[Run]]:
        """The methods with a failed run, each with its failed runs."""
        failed = {
            name: [run for run in runs if run.has_failed] for name, runs in self.by_method.items()
        }
        return {name: runs for name, runs in failed.items() if runs}

    @property
    def setting(self) -> RunConfig:
        """The config that all runs share; method, seed and what was chosen have their defaults."""
        chosen = [name for choice in ("learning_rate", *self.choices) for name in FIELDS[choice]]
        return open_setting(self.runs[0].config, chosen=chosen)

    @property
    def learning_rates(self) -> list[float]:
        """The learning rates that the methods chose from."""
        return sorted({float(run.config.learning_rate) for run in self.tuning or self.runs})

    @property
    def title(self) -> str:
        """Title of the setting: data, class distribution and number of training examples."""
        config = self.setting
        name = config.data if config.data in KNOWN else Path(config.data).name
        if config.distribution == "all":
            return f"{name}, all training examples"
        return f"{name}, {config.distribution}, {config.train_examples:,} training examples"

    @property
    def prior_sentence(self) -> str:
        """Which class frequencies all probabilities are judged for."""
        population = self.setting.population
        if isinstance(population, tuple):
            return prior_sentence(population, population)
        if population == "train":
            return "probabilities are for the class frequencies of the training data"
        return (
            "probabilities are judged for equally frequent classes: uniform, as in the paper, "
            "which corrects no method"
        )

    @property
    def winner(self) -> str | None:
        """The best method by the criterion, out of fold; None without folds.

        The test part is not used, so the test results of the winner are unbiased.
        """
        return self.ranked[0] if self.ranked else None

    @property
    def best_of_ours(self) -> str | None:
        """Like ``winner``, among our own methods."""
        return next((name for name in self.ranked if not is_outsider(name)), None)

    @cached_property
    def ranked(self) -> list[str]:
        """The methods with folds, best first, by the criterion out of fold."""
        return ranked_by(self.criterion, {name: self.by_method[name] for name in self.methods})

    @property
    def compared(self) -> tuple[str, ...]:
        """The metrics of the main tables."""
        return COMPARED if self.costs is None else (*COMPARED, "cost")

    @property
    def tried(self) -> tuple[str, ...]:
        """The metrics of decisions; none without folds, or for runs of earlier versions."""
        runs = [run for name in self.methods for run in self.by_method[name]]
        return TRIED if runs and all(TRIED[0] in run.tempered for run in runs) else ()

    def values(self, method: str, metric: str, *, is_tempered: bool = False) -> list[float]:
        """Values of a metric on the test part, one per seed.

        Args:
            method: Name of the method.
            metric: Name of the metric, see ``oddkout.metrics.catalogue``.
            is_tempered: Whether the out-of-fold temperature is applied.
        """
        return [run.value(metric, is_tempered=is_tempered) for run in self.by_method[method]]

    def mean(self, method: str, metric: str, *, is_tempered: bool = False) -> Interval:
        """Mean of a metric over seeds, with its confidence interval; see ``values``.

        The interval counts training and test sample, see ``oddkout.comparing.statistics``.
        """
        key = (method, metric, is_tempered)
        if key not in self._means:
            self._means[key] = mean_of_runs(self.by_method[method], metric, is_tempered=is_tempered)
        return self._means[key]

    def best(self, metric: str, *, is_tempered: bool = False) -> str:
        """The method with the best mean of a metric on the test part."""
        sign = CATALOGUE[metric].sign
        return min(
            self.methods,
            key=lambda name: sign * self.mean(name, metric, is_tempered=is_tempered).mean,
        )

    def lag(self, method: str, metric: str, *, is_tempered: bool = False) -> Interval:
        """Difference to the best method, paired by seed; positive if this method is worse.

        The best method is chosen by the same data. So the interval is Bonferroni-corrected for
        all pairs of methods: with 95 % probability, those of all pairs hold at once.
        """
        key = (method, metric, is_tempered)
        if key not in self._lags:
            best = self.best(metric, is_tempered=is_tempered)
            self._lags[key] = difference_of_runs(
                self.by_method[method],
                self.by_method[best],
                metric,
                is_tempered=is_tempered,
                comparisons=max(len(self.methods) * (len(self.methods) - 1) // 2, 1),
                pooled=self.pooled(metric, is_tempered=is_tempered),
            )
        return self._lags[key]

    def pooled(self, metric: str, *, is_tempered: bool) -> TrainingVariance | None:
        """Training variance of the difference of two methods, averaged over all pairs.

        Args:
            metric: Name of the metric.
            is_tempered: Whether the out-of-fold calibration is applied.
        """
        key = (metric, is_tempered)
        if key not in self._variances:
            runs = [self.by_method[name] for name in self.methods]
            self._variances[key] = pooled_difference(runs, metric, is_tempered=is_tempered)
        return self._variances[key]

    def tied(self, metric: str, *, is_tempered: bool = False) -> list[str]:
        """The best method and all methods that are not significantly worse."""
        best = self.best(metric, is_tempered=is_tempered)
        return [
            name
            for name in self.methods
            if name == best or self.lag(name, metric, is_tempered=is_tempered).has_zero()
        ]

    @property
    def table(self) -> "ComparisonTable":
        """The results of all methods. Prints as text; ``to_frame`` returns a pandas frame."""
        from oddkout.comparing.tables import ComparisonTable

        return ComparisonTable(self)

    def report(self, out: str | Path | None = None, *, mistakes: bool = True) -> dict[str, Path]:
        """Write the report, see ``oddkout.write_report``.

        Args:
            out: Folder for the report; by default that of the runs.
            mistakes: Whether to show examples of the test part that are confidently misclassified.
        """
        # The only import from a higher layer: users expect this method here.
        from oddkout.report.write import write_report

        if self.folder is None:
            raise ValueError("a report needs stored runs, but this comparison has no folder")
        return write_report(self.folder, out=out, mistakes=mistakes)

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return max(len(runs) for runs in self.by_method.values())

    @property
    def verdict(self) -> str:
        """The result in a few sentences that claim no more than the runs support."""
        from oddkout.comparing.verdict import verdict

        return verdict(self)
