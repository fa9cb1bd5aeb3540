"""The first page of results: what was asked, what was found, and what does not hold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from oddkout.comparing.run import Run
from oddkout.paper.after_calibration import calibrated_comparisons
from oddkout.paper.claims import Judged
from oddkout.paper.comparisons import PrimaryResult, primary_results
from oddkout.paper.completeness import PRESET_TITLES, is_complete, performed
from oddkout.paper.cost import spent_seconds
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.evidence import Evidence
from oddkout.paper.ledger import is_silent, verdict_counts, verdict_table
from oddkout.paper.presets import PRESETS
from oddkout.paper.published import ACCURACY, CPU_HOURS, ENTROPY_GAP
from oddkout.paper.results_figures import FOLDER, PRIMARY_FIGURE, figure_name
from oddkout.paper.summary import summary
from oddkout.paper.tables import compact_table
from oddkout.paper.versions_table import versions_table

# What a reader of the runs of version 0.1.0 must know, and the tables do not show.
LIMITS = (
    "**The runs of version 0.1.0 favour OKO.** OKO lost to BB + LS on the MNIST test set at 20, 50 "
    "and 100 per class. The recipe was then changed and the runs were repeated on the same seeds "
    "and test sets. OKO had more tuning than any baseline. [The recipe](docs/recipe.md) tells the "
    "whole history.",
    "**Methods with prior adjustment are missing there.** The test classes are equally frequent. "
    "Trained on heavy-tailed data, vanilla, label smoothing and focal loss still predict for the "
    "training frequencies.",
    "**They cover a part of the paper**: 12 of 36 settings on MNIST and FashionMNIST, and one size "
    "of CIFAR. The recipe was developed on these two data sets, so a lead need not carry over.",
)

_ASKED = (
    "Odd-k-out learning (OKO) trains a classifier on sets of examples. The paper says that it is "
    "more accurate and better calibrated than other methods if examples are few or classes "
    "imbalanced. We asked:",
    "1. Does OKO give better probabilities on imbalanced classes than the methods that researchers "
    "use today?\n"
    "2. Do the paper's tables and claims hold, on fresh seeds, with the same tuning for every "
    "method?\n"
    "3. What do out-of-fold choices, calibration and ensembles add?",
    "Each question has a [protocol](docs/protocol.md) that was committed before its test results "
    "were computed.",
)

_CORRECTED = (
    "Each interval is for its comparison alone. Decisions rest on the p-values, which Holm's "
    "method corrects for seven comparisons, so an interval without 0, or 1, is not enough."
)

_CALIBRATED = (
    "What is left of these ratios after calibration: a temperature, and in heavy tails also prior "
    "adjustment, are fitted for every method to one half of the test set and judged on the other. "
    "This was not planned, and nothing is tested ([all methods]"
    "(docs/results/paper.md#after-calibration))."
)

_DECISIONS = (
    "Prediction sets from out-of-fold scores are made to cover 90 % of each class; a class with "
    "fewer than nine training examples is in every set. Do they, on test sets? ([All methods, "
    "their sizes, and referral](docs/results/decisions.md); [what is promised](docs/decisions.md))"
)

_ELSEWHERE = TextTable(
    header=["question", "results"],
    rows=[
        ["folds that choose, calibrate and predict; larger data", "[folds](docs/folds.md)"],
        ["small tables, against other classifiers", "[small tables](docs/small-tables.md)"],
        [
            "intervals and verdicts of a comparison, simulated",
            "[simulated comparisons](docs/simulated-comparisons.md)",
        ],
        ["decisions with guarantees", "[decisions](docs/decisions.md)"],
        ["the paper's theory", "[theory](docs/theory.md)"],
        ["speed", "[speed](docs/speed.md)"],
    ],
)


@dataclass(frozen=True, kw_only=True)
class FrontPage:
    """What the first page is made from.

    Attributes:
        grid: The runs of the protocol's grid.
        compared: The runs that made its choices.
        first: The runs of version 0.1.0.
        ledger: All claims with their outcomes.
        methods: The page on methods for imbalanced classes; empty if it does not exist.
        findings: What other protocols found, in sentences.
        tables: Real tables, each through one comparison; None if there are none.
        decisions: Whether decisions keep their promises on images and tables.
        robustness: How the grid held against kills, and in repetitions.
        origin: How the page is generated.
    """

    grid: Evidence
    compared: Sequence[Run]
    first: Evidence
    ledger: list[Judged]
    methods: str
    findings: Sequence[str]
    tables: TextTable | None
    decisions: Sequence[str]
    robustness: Sequence[str]
    origin: str

    def document(self) -> Document:
        """The page."""
        document = Document()
        document.add(Heading("Results", level=1), self.origin)
        document.add(Heading("What was asked"), *_ASKED)
        self._add_primary(document)
        self._add_tables(document)
        self._add_claims(document)
        document.add(Heading("Methods for imbalanced classes"), *_methods(self.methods))
        if self.findings:
            document.add(
                Heading("What folds add, and where OKO leads"),
                "MNIST and FashionMNIST unless said otherwise, fresh seeds, the same lists of "
                "choices for every method; means with 95 % intervals over seeds.",
                "\n".join(f"* {sentence}" for sentence in self.findings),
            )
        if self.tables is not None:
            document.add(
                Heading("Real tables, through one comparison"),
                "NLL on the test parts, calibrated, five splits ([verdicts and intervals]"
                "(docs/compared-tables.md)). `tables` was developed on these tables, which favours "
                "it; [small tables](docs/small-tables.md) has others.",
                self.tables,
            )
        if self.decisions:
            listed = "\n".join(f"* {sentence}" for sentence in self.decisions)
            document.add(Heading("Decisions"), _DECISIONS, listed)
        self._add_first(document)
        document.add(Heading("Further results"), _ELSEWHERE)
        self._add_cost(document)
        return document

    def _add_primary(self, document: Document) -> None:
        document.add(
            Heading("The paper's experiments, on fresh seeds"),
            "MNIST and FashionMNIST, all 36 settings of the paper, one network each, tuned by the "
            "same lists ([protocol](docs/protocol.md#the-papers-tables-seeds-40-to-44), "
            "[full tables](docs/results/paper.md)).",
            *(performed(self.grid, PRESETS[name]) for name in ("paper", "cifar")),
        )
        results = primary_results(self.grid)
        rows = [
            [
                str(number),
                result.comparison.title,
                result.estimate,
                str(len(result.values)),
                "" if result.p_value is None else f"{result.p_value:.2g}",
                result.decision,
            ]
            for number, result in enumerate(results, start=1)
        ]
        header = ["", "primary comparison", "mean [95 % interval]", "seeds", "p, Holm", "decision"]
        document.add(TextTable(header=header, rows=rows))
        if results[0].interval is not None:
            document.add(_CORRECTED, *_sentences(results))
            if (calibrated := calibrated_comparisons(self.grid)) is not None:
                document.add(_CALIBRATED, calibrated)
            document.add(f"![Every seed of the primary comparisons]({FOLDER}/{PRIMARY_FIGURE}.svg)")
            document.add(f"![Accuracy by number of examples]({FOLDER}/{figure_name('2')}.svg)")

    def _add_tables(self, document: Document) -> None:
        if not is_complete(self.grid, PRESETS["paper"]):
            return
        document.add(
            Heading("The paper's tables"),
            "Means over seeds and sizes, ± half the width of the 95 % interval over seeds. In "
            "brackets: the paper's number, and ours minus the paper's where both average over the "
            "same sizes. CIFAR is trained with narrow ResNets. [Ablations, every setting, and what "
            "remains after calibration](docs/results/paper.md), [all figures]"
            "(docs/results/figures.md).",
        )
        present = {setting.data for setting in self.grid.settings}
        for table in (ACCURACY, ENTROPY_GAP):
            for datasets in (("mnist", "fashion_mnist"), ("cifar10", "cifar100")):
                if own := [data for data in datasets if data in present]:
                    document.add(compact_table(self.grid, table, own))

    def _add_first(self, document: Document) -> None:
        """The runs of version 0.1.0; with their table until the grid is complete."""
        link = "[Full tables](docs/results/version-0.1.md)."
        if primary_results(self.grid)[0].interval is not None:
            document.add(
                Heading("Version 0.1.0"), f"Its runs are replaced by those above. {link}", LIMITS[0]
            )
            return
        document.add(
            Heading("Version 0.1.0"),
            "Until the grid above is complete, these runs on seeds 0 to 4 are the widest "
            f"comparison. {link}",
            *LIMITS,
            *summary(self.first).parts,
        )

    def _add_claims(self, document: Document) -> None:
        silent = sum(map(is_silent, self.ledger))
        is_whole = is_complete(self.grid, PRESETS["paper"])
        judged_from = "the grid above" if is_whole else "the runs of version 0.1.0"
        document.add(
            Heading("Claims of the paper"),
            f"A program judges {len(self.ledger)} claims from {judged_from}: "
            f"{verdict_counts(self.ledger)}. {silent} have no runs at all. "
            "[The ledger](docs/results/claims.md) has every claim, and what the missing ones need.",
            verdict_table(self.ledger),
        )

    def _add_cost(self, document: Document) -> None:
        document.add(
            Heading("Cost, and how to reproduce"),
            f"{self._cost_of('paper')} The paper spent about {CPU_HOURS} CPU-hours on MNIST and "
            f"FashionMNIST. {self._cost_of('cifar')} Version 0.1.0: "
            f"{spent_seconds(self.first.trained) / 3600:.1f} hours.",
            *self.robustness,
            "`oddkout reproduce --preset paper --out runs/paper --results results` performs the "
            "runs that `results/` lacks and adds them; `--preset cifar --out runs/cifar` those on "
            "CIFAR; `--dry-run` prints the plan. `oddkout reproduce --report --results results` "
            "writes this page, those of `docs/results/` and their figures again, byte for byte. "
            "`python benchmarks/reproduced.py` performs some recorded runs again and compares.",
            versions_table(self.grid.trained or self.first.trained),
        )

    def _cost_of(self, name: str) -> str:
        """The CPU-hours of a preset's runs, in a sentence."""
        data = {setting.data for setting in PRESETS[name].settings}
        trained, compared = (
            [run for run in runs if run.config.data in data]
            for runs in (self.grid.trained, self.compared)
        )
        hours = spent_seconds([*trained, *compared]) / 3600
        return (
            f"{PRESET_TITLES[name]}: {len(trained):,} runs and {len(compared)} fits for the "
            f"choices took {hours:.1f} CPU-hours."
        )


def _methods(page: str) -> list[str]:
    """The primary comparison and the aims of the page on imbalanced classes."""
    link = "[All methods and settings](docs/methods.md)."
    titles = r"^## (?:Primary comparison|Aims)\n(.*?)(?=^## |\Z)"
    found = re.findall(titles, page, re.DOTALL | re.MULTILINE)
    return [*(text.strip() for text in found), link] if found else ["Not yet performed."]


def _sentences(results: list[PrimaryResult]) -> list[str]:
    """What was found, and what does not hold, as two lists."""
    groups: dict[str, list[str]] = {"found": [], "against": [], "open": []}
    for number, result in enumerate(results, start=1):
        text = f"{result.sentence} ({number})"
        is_ours = result.winner in ("oko", "oko+la") and result.winner == result.comparison.first
        groups["open" if not result.winner else "found" if is_ours else "against"].append(text)
    titles = {
        "found": "What was found in favour of OKO, with or without prior adjustment:",
        "against": "What does not hold for OKO:",
        "open": "What is not decided:",
    }
    return [
        f"{titles[name]}\n\n" + "\n".join(f"* {text}" for text in texts)
        for name, texts in groups.items()
        if texts
    ]
