"""``RESULTS.md``: everything that committed runs show, the same bytes from the same lines."""

import json
from collections import Counter
from pathlib import Path
from statistics import fmean

from oddkout.experiments.claims import Judged, Verdict, judged
from oddkout.experiments.cost import extrapolated_seconds, spent_seconds
from oddkout.experiments.evidence import Evidence, measure
from oddkout.experiments.lines import read_lines
from oddkout.experiments.presets import PRESETS, Preset, preset_named
from oddkout.experiments.published import CPU_HOURS, TABLES
from oddkout.experiments.reproduce import planned_counts
from oddkout.experiments.run import Run
from oddkout.experiments.settings import Setting
from oddkout.experiments.variants import VARIANTS
from oddkout.report.document import Document, Heading, TextTable
from oddkout.report.estimator_benchmark import estimator_benchmark
from oddkout.report.paper_tables import paper_table, shown
from oddkout.report.summary import summary

# The settings that methods are compared in with care: rates chosen and temperatures fitted there.
QUALITY_SETTINGS = (
    Setting("mnist", "uniform", 10),
    Setting("mnist", "heavy-tailed", 20),
    Setting("fashion_mnist", "uniform", 10),
    Setting("fashion_mnist", "heavy-tailed", 20),
)

_METRICS = {"accuracy": "accuracy %", "ece": "ECE", "nll": "NLL", "entropy_gap": "abs(CE - H)"}


def results_markdown(folder: str | Path) -> str:
    """``RESULTS.md`` from a folder of lines alone.

    Args:
        folder: The folder.
    """
    lines, cifar = read_lines(folder), PRESETS["cifar"]
    return results_document(
        Evidence(lines, PRESETS["paper"]),
        narrow=Evidence([run for run in lines if run.config.data in cifar.datasets], cifar),
        benchmark=Path(folder) / "tables.jsonl",
        origin="`oddkout reproduce --report --results results` from the lines in `results/`",
    ).markdown()


def results_document(
    evidence: Evidence,
    *,
    origin: str,
    narrow: Evidence | None = None,
    benchmark: Path | None = None,
) -> Document:
    """All results: in short, in four settings, the paper's tables, its claims, and the cost.

    Args:
        evidence: The runs.
        origin: The command that wrote the document, and from what.
        narrow: Runs of the CIFAR settings with narrow networks, if there are any.
        benchmark: Lines of the benchmark of the estimator, if there are any.
    """
    document = Document()
    others = evidence.others - (len(narrow.trained) if narrow is not None else 0)
    document.add(
        Heading("Results", level=1),
        f"Written by {origin}, never by hand. Numbers are means over seeds ± half of their 95 % "
        "interval (Student's t); every seed draws its own training subset, weights and batches. "
        "ECE has 10 bins. "
        "abs(CE - H) is the distance between mean cross-entropy and mean entropy, which the paper "
        "calls MAE.",
        f"{len(evidence.trained)} runs, {len(evidence.failed)} failed; {others} runs of "
        "other recipes are not shown.",
    )
    if evidence.failed:
        document.add(_failures(evidence.failed))
    document.add(*summary(evidence).parts)
    document.add(Heading("Methods in four settings"))
    document.add(_conditions(evidence.preset))
    for setting in QUALITY_SETTINGS:
        _add_quality(document, evidence, setting)
    document.add(
        Heading("The paper's tables"),
        "The paper averages over all of its sizes; a difference is shown only where we do, too. "
        "Its OKO, and its k = 1, has the odd-class head.",
    )
    for table in TABLES:
        document.add(*paper_table(evidence, table).parts)
    if narrow is not None and narrow.trained:
        document.add(
            Heading("CIFAR with narrow ResNets"),
            "One setting each of CIFAR-10 and CIFAR-100, with ResNets of a quarter of the paper's "
            "width and one or two hundred updates, shifts and flips: what a machine without a GPU "
            "can do (`oddkout reproduce --preset cifar`). Too little training for the paper's "
            "level of accuracy; the same for every method. All at learning rate 0.1, no "
            "temperature.",
        )
        for setting in narrow.settings:
            _add_quality(document, narrow, setting)
    _add_claims(document, judged(evidence))
    if benchmark is not None and benchmark.is_file():
        document.add(*estimator_benchmark(_read(benchmark)).parts)
    _add_cost(document, evidence)
    _add_versions(document, evidence)
    return document


def _conditions(preset: Preset) -> str:
    """What the methods of a grid have in common."""
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


def _add_quality(document: Document, evidence: Evidence, setting: Setting) -> None:
    """One setting: every variant as trained and tempered, and the leads of OKO."""
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


def claims_document(ledger: list[Judged]) -> Document:
    """The ledger of claims.

    Args:
        ledger: The claims, each with what became of it.
    """
    document = Document()
    _add_claims(document, ledger)
    return document


def _add_claims(document: Document, ledger: list[Judged]) -> None:
    counts = Counter(judged.finding.verdict for judged in ledger)
    order: tuple[Verdict, ...] = ("holds", "does not hold", "undecided", "no data")
    document.add(
        Heading("Claims"),
        "Every empirical claim of the paper as a function of runs. It holds, or does not, where "
        "the 95 % interval of the paired difference, averaged over the sizes that both sides have, "
        "says so (each by itself: of forty, one is misjudged by chance); it is undecided where the "
        "interval includes the limit. "
        + ", ".join(f"{counts[verdict]} {verdict}" for verdict in order)
        + ".",
    )
    rows = []
    for judged_claim in ledger:
        claim, finding = judged_claim.claim, judged_claim.finding
        if finding.verdict == "no data" and finding.value is None:
            continue
        paper = claim.published_text + (" (contradicts it)" if claim.contradicted else "")
        rows.append([claim.statement, claim.where, finding.verdict, finding.numbers, paper])
    if rows:
        header = ["claim", "where", "here", "numbers", "paper's own number"]
        document.add(TextTable(header=header, rows=rows))
    contradicted = [item.claim for item in ledger if item.claim.contradicted]
    document.add(
        f"The paper's own tables contradict {len(contradicted)} of its claims: "
        + ", ".join(f"{claim.name} ({claim.published_text})" for claim in contradicted)
        + ".",
    )
    silent = Counter(
        "/".join(item.claim.name.split("/")[:2])
        for item in ledger
        if item.finding.verdict == "no data" and item.finding.value is None
    )
    if silent:
        listed = ", ".join(f"{name} ({count})" for name, count in silent.items())
        document.add(f"No runs yet for {silent.total()} claims: {listed}.")


def _add_cost(document: Document, evidence: Evidence) -> None:
    document.add(Heading("Cost"))
    if not evidence.trained:
        document.add("No runs yet.")
        return
    clocked = [run for run in evidence.trained if "cpu" in run.seconds]
    spent = spent_seconds(evidence.trained)
    how = (
        "CPU-seconds"
        if len(clocked) == len(evidence.trained)
        else f"seconds on one thread each ({len(clocked)} of {len(evidence.trained)} runs have "
        "their CPU-seconds; the others shared the machine, so that they took longer than they cost)"
    )
    document.add(f"The runs above took {spent:,.0f} {how}: {spent / 3600:.1f} hours.")
    small = [run for run in evidence.trained if not run.config.model.startswith("resnet")]
    rows = []
    for title, preset in (
        ("few-shot: MNIST and FashionMNIST, 10 to 100 per class", PRESETS["few-shot"]),
        (
            "paper: MNIST and FashionMNIST, all sizes, ablations included",
            preset_named("paper", datasets=["mnist", "fashion_mnist"]),
        ),
    ):
        plan = planned_counts(preset)
        seconds = extrapolated_seconds(small, plan)
        hours = "no run knows its CPU-seconds" if seconds is None else f"{seconds / 3600:.1f}"
        rows.append([title, str(sum(plan.values())), hours])
    document.add(
        "Extrapolated to whole grids, by examples forwarded and test parts evaluated; the paper "
        f"spent about {CPU_HOURS} CPU-hours on these two data sets, our goal is 10.",
        TextTable(header=["grid", "runs", "CPU-hours"], rows=rows),
    )


def _add_versions(document: Document, evidence: Evidence) -> None:
    document.add(
        Heading("How to get them"),
        "`oddkout reproduce --preset few-shot --out runs --results results` performs what "
        "`results/` lacks of the few-shot grid and adds its lines; `--preset paper` does so for "
        "everything in the paper. `oddkout reproduce --report --results results` writes this file "
        "again; `oddkout reproduce --claims --results results` prints the ledger.",
    )
    found: dict[str, set[str]] = {}
    for run in evidence.trained:
        for name, version in run.versions.items():
            found.setdefault(name, set()).add(version)
    rows = [[name, ", ".join(sorted(versions))] for name, versions in sorted(found.items())]
    if rows:
        document.add(TextTable(header=["made with", "version"], rows=rows))


def _failures(failed: list[Run]) -> TextTable:
    """Runs that failed, each with its reason."""
    rows = [
        [run.config.data, run.config.method, str(run.config.seed), run.reason.splitlines()[0]]
        for run in failed
    ]
    return TextTable(header=["data", "method", "seed", "reason"], rows=rows)


def _read(file: Path) -> list[dict[str, object]]:
    """Lines of JSON; what is none is left out."""
    found = []
    for line in file.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
