"""Results in short: OKO beside the best of the other methods, setting by setting."""

from oddkout.fitting.methods import METHODS
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.settings import Setting
from oddkout.paper.tables import shown
from oddkout.paper.variants import VARIANTS

# Title, what it is multiplied by, decimals, and the sign of what is best if lowest.
_METRICS = {
    "accuracy": ("accuracy %", 100, 1, -1),
    "nll": ("NLL", 1, 3, 1),
    "ece": ("ECE", 1, 3, 1),
}


def summary(evidence: Evidence) -> Document:
    """Every setting in a line: OKO as trained, and whichever other method has the best mean.

    Others are all methods that do not learn from sets, as far as they have OKO's seeds.

    Args:
        evidence: The runs.
    """
    rows, wins = [], dict.fromkeys(_METRICS, 0)
    for setting in evidence.settings:
        others = _others(evidence, setting)
        if not others:
            continue
        row = [str(setting), str(len(others))]
        for metric, (_, scale, digits, sign) in _METRICS.items():
            means = {
                name: found
                for name in ("oko", *others)
                if (found := evidence.mean([setting], name, measure(metric))) is not None
            }
            own = means.pop("oko")
            best = min(means, key=lambda name: sign * means[name].mean)
            is_won = sign * own.mean < sign * means[best].mean
            wins[metric] += is_won
            text, other = (shown(one, scale=scale, digits=digits) for one in (own, means[best]))
            row += [f"{text} *" if is_won else text, f"{VARIANTS[best].title}: {other}"]
        rows.append(row)
    document = Document()
    if rows:
        titles = [title for title, *_ in _METRICS.values()]
        columns = [f"{who}: {title}" for title in titles for who in ("OKO", "best other")]
        document.add(
            Heading("In short"),
            "OKO as trained, beside the best mean of all methods that do not learn from sets; * "
            f"where OKO's is better. Of {len(rows)} settings this is so in {wins['accuracy']} for "
            f"accuracy, in {wins['nll']} for NLL and in {wins['ece']} for ECE. The best of many "
            "means is a lucky one, and most differences in accuracy are within their intervals: "
            "the claims below say which are not.",
            TextTable(header=["setting", "others", *columns], rows=rows),
        )
    return document


def _others(evidence: Evidence, setting: Setting) -> list[str]:
    """The methods without sets that have the seeds that OKO has."""
    seeds = {run.config.seed for run in evidence.runs(setting, "oko")}
    return [
        name
        for name, variant in VARIANTS.items()
        if METHODS[variant.method].loss != "sets"
        and seeds
        and {run.config.seed for run in evidence.runs(setting, name)} >= seeds
    ]
