"""Claims about calibration: ECE, entropy against cross-entropy, entropy of right and wrong."""

from collections.abc import Iterator

from oddkout.paper.claims.checks import (
    BASELINES,
    CALIBRATED,
    compares,
    knows_when_right,
    ranks,
)
from oddkout.paper.claims.claim import SLIGHTLY, Claim
from oddkout.paper.published import (
    COLUMNS,
    ENTROPY_GAP,
    column_title,
    published_difference,
)
from oddkout.paper.variants import VARIANTS

_LOWEST_ECE = (
    ("mnist", "uniform"),
    ("fashion_mnist", "uniform"),
    ("cifar10", "uniform"),
    ("mnist", "heavy-tailed"),
)


def calibration_claims() -> Iterator[Claim]:
    """Claims that OKO is calibrated better than the baselines, or as well."""
    for data, distribution in COLUMNS:
        column = column_title(data, distribution)
        if (data, distribution) in _LOWEST_ECE:
            for other in CALIBRATED:
                yield Claim(
                    name=f"ece/{data}/{distribution}/{other}",
                    statement=f"{column}: OKO has a lower ECE than {VARIANTS[other].title}.",
                    where="figure 10 and its text",
                    check=compares([(data, distribution)], "oko", other, "ece", below=0),
                )
        else:
            yield Claim(
                name=f"ece/{data}/{distribution}/bb+ls",
                statement=f"{column}: OKO's ECE is on par with that of label smoothing, or "
                f"slightly larger (by less than {SLIGHTLY}).",
                where="figure 10 and its text",
                check=compares([(data, distribution)], "oko", "bb+ls", "ece", below=SLIGHTLY),
            )
        if distribution == "uniform":
            for other in BASELINES:
                published = published_difference(ENTROPY_GAP, "oko", other, data, distribution)
                yield Claim(
                    name=f"entropy-gap/{data}/{distribution}/{other}",
                    statement=f"{column}: OKO has a lower MAE between entropy and cross-entropy "
                    f"than {VARIANTS[other].title}.",
                    where="Table 2 and its text",
                    check=compares([(data, distribution)], "oko", other, "entropy_gap", below=0),
                    published=published,
                    contradicted=published is not None and published > 0,
                )
        else:
            lower = sum(
                (published_difference(ENTROPY_GAP, "oko", other, data, distribution) or 0) > 0
                for other in BASELINES
            )
            yield Claim(
                name=f"entropy-gap/{data}/{distribution}/rank",
                statement=f"{column}: OKO's MAE between entropy and cross-entropy is among the "
                "three lowest of seven.",
                where="Table 2 and its text",
                check=ranks(data, distribution, 3),
                published=float(lower),
                contradicted=lower >= 3,
            )
        yield Claim(
            name=f"entropies/{data}/{distribution}",
            statement=f"{column}: most correct predictions of OKO have low entropy, most wrong "
            "ones high entropy (below and above half of log C).",
            where="figures 4, 8 and 9",
            check=knows_when_right(data, distribution),
        )
