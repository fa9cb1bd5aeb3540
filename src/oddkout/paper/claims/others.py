"""Claims about batch-balancing against re-weighting, and about the cost of training."""

from collections.abc import Iterator

from oddkout.paper.claims.checks import compares, costs
from oddkout.paper.claims.claim import LITTLE, Claim
from oddkout.paper.published import ACCURACY, COLUMNS, column_title, published_difference


def other_claims() -> Iterator[Claim]:
    """Claims that batch-balancing beats re-weighting and that sets cost little."""
    for data in dict(COLUMNS):
        published = published_difference(ACCURACY, "bb", "weighted", data, "heavy-tailed")
        yield Claim(
            name=f"balancing/{data}",
            statement=f"{column_title(data, 'heavy-tailed')}: batch-balancing is more accurate "
            "than re-weighting.",
            where="appendix, batch-balancing",
            check=compares([(data, "heavy-tailed")], "bb", "weighted", "accuracy", above=0),
            published=published,
            is_share=True,
            contradicted=published is not None and published < 0,
        )
    yield Claim(
        name="cost/overhead",
        statement="Training with OKO costs little more than cross-entropy on the same number of "
        f"examples (less than {LITTLE} times plain cross-entropy, in CPU-seconds of whole runs).",
        where="section 1, contributions",
        check=costs("oko", "vanilla", below=LITTLE),
    )
    for k in (2, 3):
        yield Claim(
            name=f"cost/linear/k{k}",
            statement=f"The cost of an update grows at most linearly in the set size: k = {k} "
            f"costs no more than {k + 2}/3 of k = 1.",
            where="section 1, contributions",
            check=costs(f"oko-k{k}", "oko-k1", below=(k + 2) / 3),
        )
