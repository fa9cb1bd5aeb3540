"""NLL of every method as trained, with a temperature, and with prior adjustment as well."""

from oddkout.comparing.run import Run
from oddkout.comparing.statistics import t_interval
from oddkout.metrics.catalogue import METRICS
from oddkout.paper.comparisons import PRIMARY, written_estimate
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.evidence import Evidence, Measure, measure
from oddkout.paper.presets import SAME_ON_UNIFORM
from oddkout.paper.settings import DISTRIBUTIONS, TITLES, PaperDistribution
from oddkout.paper.tables import written_mean
from oddkout.paper.variants import ADJUSTED_METHODS, VARIANTS

_METHODS = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls", "oko", *ADJUSTED_METHODS)
_DATA = ("mnist", "fashion_mnist")

# Largest number of examples per class in the table: few examples are what the paper is about.
_FEW = 100

_EXPLAINED = (
    "Mean NLL over the sizes of up to 100 examples per class, ± half the width of the 95 % "
    "interval over seeds: as trained; with a temperature T; and in heavy tails with T and a "
    "strength of prior adjustment. T and strength are fitted to one half of the test set and "
    "judged on the other half, and the other way round. So each method gets 5,000 labelled "
    "examples for one or two numbers, which users do not have. The table shows what is left of a "
    "lead when every method is calibrated as well as it can be. It is no comparison of the "
    "protocol, and nothing is tested."
)


def calibrated_value(metric: str, kind: str) -> Measure:
    """A function that reads a metric with a calibration from a run's digest.

    Args:
        metric: accuracy, nll or ece.
        kind: ``"temperature"``, or ``"adjusted"``, which equals it if classes are equally frequent.
    """

    def value(run: Run) -> float | None:
        found = run.extras.get(kind) or run.extras.get("temperature", {})
        return found.get(metric)

    return value


def after_calibration(evidence: Evidence) -> Document:
    """A table for both distributions; empty without runs."""
    document = Document()
    for distribution in DISTRIBUTIONS:
        rows = [
            [VARIANTS[name].title, *cells]
            for name in _METHODS
            if not (distribution == "uniform" and name in SAME_ON_UNIFORM)
            and any(cells := _cells(evidence, distribution, name))
        ]
        if rows:
            kinds = [title for title, _ in _kinds(distribution)]
            header = [
                distribution,
                *(f"{TITLES[data]}: {kind}" for data in _DATA for kind in kinds),
            ]
            document.add(TextTable(header=header, rows=rows))
    if document.parts:
        document.parts[:0] = [Heading("After calibration"), _EXPLAINED]
    return document


def calibrated_comparisons(evidence: Evidence) -> TextTable | None:
    """The primary comparisons of NLL after calibration; none until their runs are complete."""
    value_of = calibrated_value("nll", "adjusted")
    rows = []
    for one in PRIMARY:
        if one.metric != "nll":
            continue
        groups = [
            one.by_seed(evidence),
            one.by_seed(evidence, value_of=value_of),
            *(one.by_seed(evidence, value_of=value_of, data=data) for data in _DATA),
        ]
        if any(set(values) < set(one.seeds) for values in groups):
            return None
        cells = [written_estimate(t_interval(list(values.values())), "nll") for values in groups]
        rows.append([one.title, *cells])
    header = ["", "as trained", "calibrated", *(f"calibrated: {TITLES[data]}" for data in _DATA)]
    return TextTable(header=header, rows=rows)


def _kinds(distribution: PaperDistribution) -> list[tuple[str, Measure]]:
    """The kinds of calibration that make a difference, each with its title."""
    kinds = [("as trained", measure("nll")), ("with T", calibrated_value("nll", "temperature"))]
    if distribution != "uniform":
        kinds.append(("adjusted, with T", calibrated_value("nll", "adjusted")))
    return kinds


def _cells(evidence: Evidence, distribution: PaperDistribution, name: str) -> list[str]:
    """The NLL of a method for all data sets; empty texts without runs."""
    cells = []
    for data in _DATA:
        settings = [
            setting
            for setting in evidence.shared_settings(data, distribution, name)
            if setting.per_class <= _FEW
        ]
        for _, value_of in _kinds(distribution):
            mean = evidence.mean(settings, name, value_of) if settings else None
            cells.append("" if mean is None else written_mean(mean, METRICS["nll"]))
    return cells
