"""Claims on accuracy: against every baseline, in the tail, and few-shot MNIST."""

from collections.abc import Iterator

from oddkout.paper.claims.checks import (
    BASELINES,
    compares,
    gains_in_tail,
    reaches,
    shows,
)
from oddkout.paper.claims.claim import Claim
from oddkout.paper.evidence import measure
from oddkout.paper.published import (
    ACCURACY,
    COLUMNS,
    GAIN_OVER_PREVIOUS,
    TEN_SHOT_ACCURACY,
    TEN_SHOT_BEST_SEED,
    column_title,
    published_difference,
)
from oddkout.paper.settings import TITLES, Setting
from oddkout.paper.variants import VARIANTS


def accuracy_claims() -> Iterator[Claim]:
    """OKO is more accurate, most of all in the tail, and on few-shot MNIST."""
    accuracy = measure("accuracy")
    for data, distribution in COLUMNS:
        for other in BASELINES:
            yield Claim(
                name=f"accuracy/{data}/{distribution}/{other}",
                statement=f"{column_title(data, distribution)}: OKO is more accurate than "
                f"{VARIANTS[other].title}, averaged over sizes.",
                where="Table 1",
                check=compares(
                    [(data, distribution)], "oko", other, accuracy, above=0, scale=100, unit=" %"
                ),
                published=published_difference(ACCURACY, "oko", other, data, distribution),
                is_share=True,
            )
    for data in dict(COLUMNS):
        yield Claim(
            name=f"accuracy/{data}/tail",
            statement=f"{TITLES[data]}: OKO's lead in accuracy, averaged over the baselines, is "
            "larger for heavy-tailed than for uniform classes.",
            where="section 5, generalization",
            check=gains_in_tail(data),
            published=_published_tail_gain(data),
            is_share=True,
            contradicted=_published_tail_gain(data) < 0,
        )
    ten = Setting("mnist", "uniform", 10)
    before = TEN_SHOT_ACCURACY - GAIN_OVER_PREVIOUS[10]
    yield Claim(
        name="accuracy/10-shot/before",
        statement="10-shot MNIST: OKO exceeds the best accuracy reported before, "
        f"{100 * before:.2f} %.",
        where="section 5, generalization",
        check=reaches(ten, accuracy, above=before),
        published=TEN_SHOT_ACCURACY,
        is_share=True,
    )
    yield Claim(
        name="accuracy/10-shot/mean",
        statement=f"10-shot MNIST: OKO reaches {100 * TEN_SHOT_ACCURACY:.2f} % on average, "
        f"{100 * GAIN_OVER_PREVIOUS[10]:.2f} points above.",
        where="section 5, generalization",
        check=reaches(ten, accuracy, above=TEN_SHOT_ACCURACY),
        published=TEN_SHOT_ACCURACY,
        is_share=True,
    )
    yield Claim(
        name="accuracy/10-shot/best",
        statement=f"10-shot MNIST: the best seed reaches {100 * TEN_SHOT_BEST_SEED:.2f} %.",
        where="section 5, generalization",
        check=reaches(ten, accuracy, above=TEN_SHOT_BEST_SEED, best_seed=True),
        published=TEN_SHOT_BEST_SEED,
        is_share=True,
    )
    for size in (20, 50):
        yield Claim(
            name=f"accuracy/{size}-shot",
            statement=f"{size}-shot MNIST: OKO improves on the best accuracy reported before by "
            f"{100 * GAIN_OVER_PREVIOUS[size]:.2f} points.",
            where="section 5, generalization",
            check=shows(size),
        )


def _published_tail_gain(data: str) -> float:
    """How much larger the paper's mean lead is for heavy-tailed than for uniform classes."""
    leads = [
        [
            published_difference(ACCURACY, "oko", name, data, distribution) or 0.0
            for name in BASELINES
        ]
        for distribution in ("heavy-tailed", "uniform")
    ]
    return round((sum(leads[0]) - sum(leads[1])) / len(BASELINES), 6)
