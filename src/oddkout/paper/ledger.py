"""The ledger of claims as a document: every claim with its verdict, and what the others need."""

from collections import Counter

from oddkout.paper.claims import Judged, Verdict
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.published import COLUMNS
from oddkout.paper.settings import TITLES

_ORDER: tuple[Verdict, ...] = ("holds", "does not hold", "undecided", "no data")
_RULE = (
    "Every empirical claim of the paper, judged by a program. The verdict rests on the 95 % "
    "confidence interval of the paired difference, averaged over the sizes that both sides have. A "
    "claim is undecided if the interval includes the limit. The intervals are not corrected for "
    "the number of claims, so that about one claim in forty is misjudged by chance."
)

# What a claim without runs would take, by the beginning of its name.
_NEEDS = {
    "accuracy": "all methods of Table 1",
    "ece": "all methods of figure 10",
    "entropy-gap": "all methods of Table 2",
    "entropies": "OKO",
    "k0": "k = 0, 1, 2, 3",
    "k": "k = 1, 2, 3",
    "soft": "hard and soft targets",
    "balancing": "BB and weighted cross-entropy",
    "cost": "OKO with k = 1, 2, 3 and vanilla",
}


def verdict_counts(ledger: list[Judged]) -> str:
    """The number of claims with each verdict, in words."""
    counts = Counter(item.outcome.verdict for item in ledger)
    words = ("hold", "do not hold", "undecided", "without data")
    return ", ".join(
        f"{counts[verdict]} {word}" for verdict, word in zip(_ORDER, words, strict=True)
    )


def verdict_table(ledger: list[Judged]) -> TextTable:
    """The number of claims with each verdict, by data set."""
    rows = []
    for title, own in _by_data(ledger).items():
        counts = Counter(item.outcome.verdict for item in own)
        rows.append([title, str(len(own)), *(str(counts[verdict]) for verdict in _ORDER)])
    return TextTable(header=["claims about", "claims", *_ORDER], rows=rows)


def claims_document(ledger: list[Judged], *, origin: str = "", level: int = 2) -> Document:
    """The claims and their outcomes.

    Args:
        ledger: All claims with their outcomes.
        origin: Which runs were judged, in a sentence.
        level: Level of the heading.
    """
    document = Document()
    document.add(Heading("Claims", level=level), *([origin] if origin else []))
    document.add(f"{_RULE} {len(ledger)} claims: {verdict_counts(ledger)}.")
    rows = []
    for item in ledger:
        claim, outcome = item.claim, item.outcome
        if is_silent(item):
            continue
        paper = claim.published_text + (" (contradicts it)" if claim.contradicted else "")
        rows.append([claim.statement, claim.where, outcome.verdict, outcome.numbers, paper])
    if rows:
        header = ["claim", "source", "verdict", "our numbers", "paper's own number"]
        document.add(TextTable(header=header, rows=rows))
    contradicted = [item.claim for item in ledger if item.claim.contradicted]
    document.add(
        f"The paper's own tables contradict {len(contradicted)} of its claims: "
        + ", ".join(f"{claim.name} ({claim.published_text})" for claim in contradicted)
        + ".",
    )
    silent = [item for item in ledger if is_silent(item)]
    if silent:
        document.add(
            Heading("Claims without runs", level=level + 1),
            f"{len(silent)} claims have no runs yet, or lack a method that they compare with. "
            "`oddkout reproduce --preset cluster --executor slurm` performs what those on CIFAR "
            "need, with the paper's networks; `--dry-run` prints the cost.",
            missing_table(silent),
        )
    return document


def missing_table(silent: list[Judged]) -> TextTable:
    """Every claim without runs, with the runs that it needs."""
    rows = [
        [item.claim.statement, item.claim.where, _NEEDS[item.claim.name.split("/")[0]]]
        for item in silent
    ]
    return TextTable(header=["claim", "source", "runs that it needs"], rows=rows)


def is_silent(item: Judged) -> bool:
    """Whether there are no numbers on a claim."""
    return item.outcome.verdict == "no data" and item.outcome.value is None


def _by_data(ledger: list[Judged]) -> dict[str, list[Judged]]:
    """The claims by data set and distribution; those about neither come last."""
    groups: dict[str, list[Judged]] = {
        f"{TITLES[data]}, {distribution}": [] for data, distribution in COLUMNS
    }
    for item in ledger:
        parts = item.claim.name.split("/")
        key = "other"
        if parts[1:2] and parts[1] in TITLES:
            is_column = len(parts) > 2 and (parts[1], parts[2]) in COLUMNS
            key = f"{TITLES[parts[1]]}, {parts[2]}" if is_column else TITLES[parts[1]]
        groups.setdefault(key, []).append(item)
    return {title: own for title, own in groups.items() if own}
