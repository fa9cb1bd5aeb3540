"""Claims about the ablations: the number of odd classes, hard and soft targets."""

from collections.abc import Iterator

from oddkout.paper.claims.checks import compares
from oddkout.paper.claims.claim import HARDLY, SLIGHTLY, Claim
from oddkout.paper.published import (
    COLUMNS,
    ODD_CLASSES,
    TARGETS,
    column_title,
    published_difference,
)


def odd_class_claims() -> Iterator[Claim]:
    """Claims that odd classes are crucial and that their number hardly matters."""
    for data, distribution in COLUMNS:
        column = column_title(data, distribution)
        here = [(data, distribution)]
        for other, title in (("oko", "k = 1"), ("oko-k1", "k = 1 without the odd-class head")):
            suffix = "" if other == "oko" else "/no-head"
            published = published_difference(ODD_CLASSES, "pair", other, data, distribution)
            yield Claim(
                name=f"k0/{data}/{distribution}/accuracy{suffix}",
                statement=f"{column}: k = 0 is less accurate than {title}.",
                where="figure 11",
                check=compares(here, "pair", other, "accuracy", below=0),
            )
            yield Claim(
                name=f"k0/{data}/{distribution}/ece{suffix}",
                statement=f"{column}: k = 0 has a higher ECE than {title}.",
                where="figure 12",
                check=compares(here, "pair", other, "ece", above=0),
            )
            yield Claim(
                name=f"k0/{data}/{distribution}/entropy-gap{suffix}",
                statement=f"{column}: k = 0 has a larger MAE between entropy and cross-entropy "
                f"than {title}.",
                where="Table 3",
                check=compares(here, "pair", other, "entropy_gap", above=0),
                published=published,
                contradicted=published is not None and published < 0,
            )
        for k in (2, 3):
            published = published_difference(ODD_CLASSES, "pair", f"oko-k{k}", data, distribution)
            yield Claim(
                name=f"k0/{data}/{distribution}/entropy-gap/k{k}",
                statement=f"{column}: k = 0 has a larger MAE between entropy and cross-entropy "
                f"than k = {k}.",
                where="appendix, selection of k; Table 3",
                check=compares(here, "pair", f"oko-k{k}", "entropy_gap", above=0),
                published=published,
                contradicted=published is not None and published < 0,
            )
            if distribution == "uniform" and data.startswith("cifar"):
                yield Claim(
                    name=f"k/{data}/{distribution}/accuracy/k{k}",
                    statement=f"{column}: k = 1 is more accurate than k = {k}.",
                    where="figure 11",
                    check=compares(here, "oko", f"oko-k{k}", "accuracy", above=0),
                )
            else:
                yield Claim(
                    name=f"k/{data}/{distribution}/accuracy/k{k}",
                    statement=f"{column}: the accuracy of k = {k} is within "
                    f"{100 * HARDLY:.0f} point of k = 1, both without the odd-class head.",
                    where="figure 11",
                    check=compares(
                        here,
                        f"oko-k{k}",
                        "oko-k1",
                        "accuracy",
                        above=-HARDLY,
                        below=HARDLY,
                    ),
                )
            is_uniform = distribution == "uniform"
            yield Claim(
                name=f"k/{data}/{distribution}/ece/k{k}",
                statement=f"{column}: k = {k} has a higher ECE than k = 1."
                if is_uniform
                else f"{column}: the ECE of k = {k} is as low as that of k = 1, or lower (at "
                f"most {SLIGHTLY} above it).",
                where="figure 12",
                check=compares(
                    here,
                    f"oko-k{k}",
                    "oko",
                    "ece",
                    above=0 if is_uniform else None,
                    below=None if is_uniform else SLIGHTLY,
                ),
            )


def target_claims() -> Iterator[Claim]:
    """Claims that soft targets are worse than hard ones."""
    for data, distribution in COLUMNS:
        column = column_title(data, distribution)
        here = [(data, distribution)]
        yield Claim(
            name=f"soft/{data}/{distribution}/accuracy",
            statement=f"{column}: soft targets are less accurate than hard ones.",
            where="figure 14",
            check=compares(here, "oko-soft", "oko", "accuracy", below=0),
        )
        yield Claim(
            name=f"soft/{data}/{distribution}/accuracy/no-head",
            statement=f"{column}: soft targets are less accurate than hard ones without the "
            "odd-class head.",
            where="figure 14",
            check=compares(here, "oko-soft", "oko-k1", "accuracy", below=0),
        )
        yield Claim(
            name=f"soft/{data}/{distribution}/entropy",
            statement=f"{column}: soft targets give predictions of higher entropy.",
            where="figure 16",
            check=compares(here, "oko-soft", "oko", "entropy", above=0),
        )
        if data != "cifar100":
            yield Claim(
                name=f"soft/{data}/{distribution}/ece",
                statement=f"{column}: soft targets have a higher ECE than hard ones.",
                where="figure 15",
                check=compares(here, "oko-soft", "oko", "ece", above=0),
            )
        elif distribution == "heavy-tailed":
            yield Claim(
                name=f"soft/{data}/{distribution}/ece",
                statement=f"{column}: soft targets have a lower ECE than hard ones.",
                where="figure 15",
                check=compares(here, "oko-soft", "oko", "ece", below=0),
            )
        published = published_difference(TARGETS, "oko-soft", "oko", data, distribution)
        if data in ("mnist", "fashion_mnist"):
            yield Claim(
                name=f"soft/{data}/{distribution}/entropy-gap",
                statement=f"{column}: soft targets have a larger MAE between entropy and "
                "cross-entropy than hard ones.",
                where="Table 4",
                check=compares(here, "oko-soft", "oko", "entropy_gap", above=0),
                published=published,
                contradicted=published is not None and published < 0,
            )
