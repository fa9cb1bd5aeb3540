"""Claims about accuracy: against every baseline, for heavy tails, and on few-shot MNIST."""

from collections.abc import Iterator

from oddkout.paper.claims.checks import (
    BASELINES,
    compares,
    gains_in_tail,
    reaches,
    shows,
)
from oddkout.paper.claims.claim import Claim
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
    """Claims that OKO is more accurate, most of all for heavy tails and on few-shot MNIST."""
    for data, distribution in COLUMNS:
        for other in BASELINES:
            yield Claim(
                name=f"accuracy/{data}/{distribution}/{other}",
                statement=f"{column_title(data, distribution)}: OKO is more accurate than "
                f"{VARIANTS[other].title}, averaged over sizes.",
                where="Table 1",
                check=compares([(data, distribution)], "oko", other, "accuracy", above=0),
                published=published_difference(ACCURACY, "oko", other, data, distribution),
                is_share=True,
            )
    for data in dict(COLUMNS):
        tail_gain = _published_tail_gain(data)
        yield Claim(
            name=f"accuracy/{data}/tail",
            statement=f"{TITLES[data]}: OKO's lead in accuracy, averaged over the baselines, is "
            "larger for heavy-tailed than for uniform classes.",
            where="section 5, generalization",
            check=gains_in_tail(data),
            published=tail_gain,
            is_share=True,
            contradicted=tail_gain < 0,
        )
    ten = Setting("mnist", "uniform", 10)
    previous_best = TEN_SHOT_ACCURACY - GAIN_OVER_PREVIOUS[10]
    yield Claim(
        name="accuracy/10-shot/before",
        statement="10-shot MNIST: OKO exceeds the previous best accuracy, "
        f"{100 * previous_best:.2f} %.",
        where="section 5, generalization",
        check=reaches(ten, above=previous_best),
        published=TEN_SHOT_ACCURACY,
        is_share=True,
    )
    yield Claim(
        name="accuracy/10-shot/mean",
        statement=f"10-shot MNIST: OKO reaches {100 * TEN_SHOT_ACCURACY:.2f} % on average, "
        f"{100 * GAIN_OVER_PREVIOUS[10]:.2f} points above the previous best.",
        where="section 5, generalization",
        check=reaches(ten, above=TEN_SHOT_ACCURACY),
        published=TEN_SHOT_ACCURACY,
        is_share=True,
    )
    yield Claim(
        name="accuracy/10-shot/best",
        statement=f"10-shot MNIST: the best seed reaches {100 * TEN_SHOT_BEST_SEED:.2f} %.",
        where="section 5, generalization",
        check=reaches(ten, above=TEN_SHOT_BEST_SEED, best_seed=True),
        published=TEN_SHOT_BEST_SEED,
        is_share=True,
    )
    for size in (20, 50):
        yield Claim(
            name=f"accuracy/{size}-shot",
            statement=f"{size}-shot MNIST: OKO improves on the previous best accuracy by "
            f"{100 * GAIN_OVER_PREVIOUS[size]:.2f} points.",
            where="section 5, generalization",
            check=shows(size),
        )


def _published_tail_gain(data: str) -> float:
    """The paper's mean lead for heavy-tailed classes minus that for uniform classes."""
    leads = [
        [
            published_difference(ACCURACY, "oko", name, data, distribution) or 0.0
            for name in BASELINES
        ]
        for distribution in ("heavy-tailed", "uniform")
    ]
    return round((sum(leads[0]) - sum(leads[1])) / len(BASELINES), 6)
