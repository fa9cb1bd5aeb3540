"""The summary table: OKO and the best other method, setting by setting."""

from oddkout.fitting.methods import METHODS
from oddkout.metrics.catalogue import METRICS
from oddkout.paper.document import Document, TextTable
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.settings import Setting
from oddkout.paper.tables import written_mean
from oddkout.paper.variants import VARIANTS

_COLUMNS = [METRICS[name] for name in ("accuracy", "nll", "ece")]


def summary(evidence: Evidence) -> Document:
    """One row per setting: OKO as trained, and the other method with the best mean.

    The other methods are those that do not learn from sets and have all of OKO's seeds.
    """
    rows, wins = [], dict.fromkeys((metric.name for metric in _COLUMNS), 0)
    for setting in evidence.settings:
        others = _others(evidence, setting)
        if not others:
            continue
        row = [str(setting), str(len(others))]
        for metric in _COLUMNS:
            means = {
                name: mean
                for name in ("oko", *others)
                if (mean := evidence.mean([setting], name, measure(metric.name))) is not None
            }
            own = means.pop("oko")
            best = min(means, key=lambda name: metric.sign * means[name].mean)
            is_won = metric.sign * own.mean < metric.sign * means[best].mean
            wins[metric.name] += is_won
            text, other = (written_mean(mean, metric) for mean in (own, means[best]))
            row += [f"{text} *" if is_won else text, f"{VARIANTS[best].title}: {other}"]
        rows.append(row)
    document = Document()
    if rows:
        columns = [f"{who}: {metric.head}" for metric in _COLUMNS for who in ("OKO", "best other")]
        document.add(
            "OKO as trained, beside the method with the best mean among all methods that do not "
            "learn from sets. A star marks the settings where OKO's mean is better: accuracy in "
            f"{wins['accuracy']}, NLL in {wins['nll']} and ECE in {wins['ece']} of {len(rows)} "
            "settings. A star does not mean that the difference is significant, and the best of "
            "many means is partly luck.",
            TextTable(header=["setting", "others", *columns], rows=rows),
        )
    return document


def _others(evidence: Evidence, setting: Setting) -> list[str]:
    """The methods without sets that have all of OKO's seeds."""
    seeds = {run.config.seed for run in evidence.runs(setting, "oko")}
    return [
        name
        for name, variant in VARIANTS.items()
        if METHODS[variant.method].loss != "sets"
        and seeds
        and {run.config.seed for run in evidence.runs(setting, name)} >= seeds
    ]
