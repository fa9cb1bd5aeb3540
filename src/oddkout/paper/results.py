"""``RESULTS.md``: everything that committed runs show, the same bytes from the same lines."""

import json
from collections import Counter
from pathlib import Path

from oddkout.comparing.run import Run
from oddkout.paper.claims import Judged, Verdict, judged
from oddkout.paper.cost import extrapolated_seconds, spent_seconds
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.estimator_benchmark import estimator_benchmark
from oddkout.paper.evidence import Evidence
from oddkout.paper.lines import read_lines
from oddkout.paper.presets import PRESETS, preset_named
from oddkout.paper.published import CPU_HOURS, TABLES
from oddkout.paper.quality import QUALITY_SETTINGS, add_quality, conditions
from oddkout.paper.reproduce import planned_counts
from oddkout.paper.summary import summary
from oddkout.paper.tables import paper_table


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
    document.add(conditions(evidence.preset))
    for setting in QUALITY_SETTINGS:
        add_quality(document, evidence, setting)
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
            add_quality(document, narrow, setting)
    _add_claims(document, judged(evidence))
    if benchmark is not None and benchmark.is_file():
        document.add(*estimator_benchmark(_read(benchmark)).parts)
    _add_cost(document, evidence)
    _add_versions(document, evidence)
    return document


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
