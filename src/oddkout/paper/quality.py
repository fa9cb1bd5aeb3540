"""The methods in one setting: every metric as trained and tempered, and OKO minus the others."""

from statistics import fmean

from oddkout.comparing.run import Run
from oddkout.metrics.catalogue import METRICS, Metric
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.settings import Setting
from oddkout.paper.tables import written_mean
from oddkout.paper.variants import VARIANTS

# The settings in which version 0.1.0 chose learning rates and fitted temperatures.
FIRST_SETTINGS = (
    Setting("mnist", "uniform", 10),
    Setting("mnist", "heavy-tailed", 20),
    Setting("fashion_mnist", "uniform", 10),
    Setting("fashion_mnist", "heavy-tailed", 20),
)

_COLUMNS = [METRICS[name] for name in ("accuracy", "ece", "nll", "entropy_gap")]


_MEASURED = (
    "In brackets: the ECE expected of a perfectly calibrated model. Methods are evaluated on "
    "the official test sets of 10,000 examples."
)

# The conditions that all methods share: of the protocol, and of version 0.1.0.
CONDITIONS = (
    "All methods use the same training subsets and forward the same number of examples. Each "
    "chooses from the same lists by out-of-fold NLL on other seeds. Results are as trained, "
    f"without a temperature. {_MEASURED}"
)
FIRST_CONDITIONS = (
    "All methods use the same training subsets and forward the same number of examples. Each "
    "method chooses between the same learning rates by out-of-fold NLL on the first seed (the "
    "paper's recipe chooses between a quarter of these rates: its gradients are clipped by value, "
    "and at higher rates its runs end at chance). Tempered columns use a temperature fitted by "
    "5-fold cross-validation on the training examples, without held-out data. "
    f"{_MEASURED}"
)


def add_quality(document: Document, evidence: Evidence, setting: Setting) -> None:
    """Add one setting: every variant as trained and tempered, and OKO minus the others."""
    document.add(Heading(str(setting), level=3))
    present = [name for name in VARIANTS if evidence.runs(setting, name)]
    if not present:
        document.add("Not yet performed.")
        return
    has_folds = any(
        run.fold_metrics
        for name in present
        for run in evidence.runs(setting, name)
        if run.config.spec.temperature != "fit"  # it is tempered already as trained
    )
    columns = [(metric, False) for metric in _COLUMNS]
    if has_folds:
        columns += [(metric, True) for metric in _COLUMNS[1:]]  # tempering keeps the accuracy
    rows = []
    for name in present:
        runs = evidence.runs(setting, name)
        row = [VARIANTS[name].title, str(len(runs))]
        for metric, is_tempered in columns:
            value_of = measure(metric.name, is_tempered=is_tempered)
            text = written_mean(evidence.mean([setting], name, value_of), metric)
            row.append(text + _null_level(runs, metric, is_tempered=is_tempered))
        if has_folds:
            temperatures = [run.temperature for run in runs if run.fold_metrics]
            row.append(f"{fmean(temperatures):.2f}" if temperatures else "")
        rows.append([*row, f"{runs[0].config.learning_rate:g}"])
    titles = [_title(*column) for column in columns]
    last = ["T", "rate"] if has_folds else ["rate"]
    document.add(TextTable(header=["method", "seeds", *titles, *last], rows=rows))
    others = [name for name in present if name != "oko"]
    if "oko" in present and others:
        document.add(
            "OKO minus each other method, paired by seed, with 95 % confidence intervals "
            f"corrected for {len(others)} comparisons. A star marks a significant difference.",
            _differences(evidence, setting, others, has_folds=has_folds),
        )
    if evidence.preset is not None:
        planned = {name for own, name, _ in evidence.preset.entries if own == setting}
        if missing := [name for name in VARIANTS if name in planned and name not in present]:
            document.add(f"Not yet performed: {', '.join(missing)}.")


def _title(metric: Metric, is_tempered: bool) -> str:
    """Title of a column."""
    return f"tempered {metric.head}" if is_tempered else metric.head


def _differences(
    evidence: Evidence, setting: Setting, others: list[str], *, has_folds: bool
) -> TextTable:
    """OKO minus each of the others."""
    columns = [(metric, False) for metric in _COLUMNS]
    if has_folds:
        columns += [(METRICS[name], True) for name in ("ece", "nll")]
    rows = []
    for name in others:
        row = [VARIANTS[name].title]
        for metric, is_tempered in columns:
            value_of = measure(metric.name, is_tempered=is_tempered)
            difference = evidence.difference(
                [setting], "oko", name, value_of, comparisons=len(others)
            )
            text = written_mean(difference, metric, sign="+")
            is_significant = difference is not None and (difference.low > 0 or difference.high < 0)
            row.append(f"{text} *" if is_significant else text)
        rows.append(row)
    return TextTable(header=["OKO minus", *(_title(*column) for column in columns)], rows=rows)


def _null_level(runs: list[Run], metric: Metric, *, is_tempered: bool) -> str:
    """The value expected of a calibrated model in brackets; empty for metrics without one."""
    if metric.name != "ece":
        return ""
    kept = [run for run in runs if run.fold_metrics or not is_tempered]
    levels = [
        (run.tempered if is_tempered else run.as_trained)[metric.name].get("null", {}).get("mean")
        for run in kept
    ]
    known = [level for level in levels if level is not None]
    return f" ({metric.written(fmean(known))})" if known else ""
