"""Methods in one setting: every metric as trained and tempered, and the leads of OKO."""

from statistics import fmean

from oddkout.comparing.run import Run
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.presets import Preset
from oddkout.paper.settings import Setting
from oddkout.paper.tables import shown
from oddkout.paper.variants import VARIANTS

# The settings that methods are compared in with care: rates chosen and temperatures fitted there.
QUALITY_SETTINGS = (
    Setting("mnist", "uniform", 10),
    Setting("mnist", "heavy-tailed", 20),
    Setting("fashion_mnist", "uniform", 10),
    Setting("fashion_mnist", "heavy-tailed", 20),
)

_METRICS = {"accuracy": "accuracy %", "ece": "ECE", "nll": "NLL", "entropy_gap": "abs(CE - H)"}


def conditions(preset: Preset) -> str:
    """What the methods of a grid have in common.

    Args:
        preset: The grid.
    """
    shared = "All methods see the same subsets and forward as many examples"
    measured = (
        "In brackets the ECE that a perfectly calibrated model would score. The test parts are the "
        "official ones, 10,000 examples."
    )
    if len(preset.learning_rates) < 2 or not preset.folds:
        rate = f"{preset.learning_rates[0]:g}"
        return (
            f"{shared}, at learning rate {rate} (the paper's recipe at a quarter of it, since "
            "gradients clipped by value end at chance at higher ones); nothing is chosen, and "
            f"there is no temperature. {measured}"
        )
    return (
        f"{shared}, and they choose between the same learning rates by out-of-fold NLL on the "
        "first seed (the paper's recipe between a quarter of them: higher ones, with gradients "
        "clipped by value, end at chance). Tempered columns have the temperature that "
        f"{preset.folds}-fold cross-fitting on the training examples gives, no held-out data. "
        f"{measured}"
    )


def add_quality(document: Document, evidence: Evidence, setting: Setting) -> None:
    """One setting: every variant as trained and tempered, and the leads of OKO.

    Args:
        document: Where to.
        evidence: The runs.
        setting: The setting.
    """
    document.add(Heading(str(setting), level=3))
    present = [name for name in VARIANTS if evidence.runs(setting, name)]
    if not present:
        document.add("No runs yet.")
        return
    has_folds = any(
        run.out_of_fold
        for name in present
        for run in evidence.runs(setting, name)
        if run.config.how.temperature != "fit"  # which shows its temperature as trained
    )
    columns = [(metric, False) for metric in _METRICS]
    if has_folds:
        columns += [(metric, True) for metric in list(_METRICS)[1:]]  # accuracy stays as it is
    rows = []
    for name in present:
        runs = evidence.runs(setting, name)
        row = [VARIANTS[name].title, str(len(runs))]
        for metric, is_tempered in columns:
            scale, digits = (100, 1) if metric == "accuracy" else (1, 3)
            of = measure(metric, is_tempered=is_tempered)
            text = shown(evidence.mean([setting], name, of), scale=scale, digits=digits)
            row.append(text + _null(runs, metric, is_tempered=is_tempered))
        if has_folds:
            temperatures = [run.temperature for run in runs if run.out_of_fold]
            row.append(f"{fmean(temperatures):.2f}" if temperatures else "")
        rows.append([*row, f"{runs[0].config.learning_rate:g}"])
    titles = [_title(*column) for column in columns]
    last = ["T", "rate"] if has_folds else ["rate"]
    document.add(TextTable(header=["method", "seeds", *titles, *last], rows=rows))
    others = [name for name in present if name != "oko"]
    if "oko" in present and others:
        document.add(
            "OKO minus each other method, paired by seed, intervals corrected for the "
            f"{len(others)} of them; * where the interval excludes 0.",
            _leads(evidence, setting, others, has_folds=has_folds),
        )
    if missing := [name for name in evidence.preset.variants if name not in present]:
        document.add(f"No runs yet: {', '.join(missing)}.")


def _title(metric: str, is_tempered: bool) -> str:
    """What a column is called."""
    return f"tempered {_METRICS[metric]}" if is_tempered else _METRICS[metric]


def _leads(
    evidence: Evidence, setting: Setting, others: list[str], *, has_folds: bool
) -> TextTable:
    """OKO minus the others."""
    columns = [(metric, False) for metric in _METRICS]
    if has_folds:
        columns += [("ece", True), ("nll", True)]
    rows = []
    for name in others:
        row = [VARIANTS[name].title]
        for metric, is_tempered in columns:
            of = measure(metric, is_tempered=is_tempered)
            found = evidence.lead([setting], "oko", name, of, comparisons=len(others))
            scale, digits = (100, 1) if metric == "accuracy" else (1, 3)
            text = shown(found, scale=scale, digits=digits, sign="+")
            is_told = found is not None and (found.low > 0 or found.high < 0)
            row.append(f"{text} *" if is_told else text)
        rows.append(row)
    return TextTable(header=["OKO minus", *(_title(*column) for column in columns)], rows=rows)


def _null(runs: list[Run], metric: str, *, is_tempered: bool) -> str:
    """What a calibrated model would score, for metrics that have it."""
    if metric != "ece":
        return ""
    kept = [run for run in runs if run.out_of_fold or not is_tempered]
    levels = [
        (run.tempered if is_tempered else run.as_trained)[metric].get("null", {}).get("mean")
        for run in kept
    ]
    known = [level for level in levels if level is not None]
    return f" ({fmean(known):.3f})" if known else ""
