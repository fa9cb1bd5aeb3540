"""Writes ``docs/methods.md`` and a table of ``docs/imbalanced.md`` from ``imbalance.py``'s lines.

python benchmarks/imbalance_page.py
"""

import math
from statistics import fmean

import lines
from imbalance import (
    OTHERS,
    PRIMARY,
    SAME_ON_UNIFORM,
    SETTINGS,
    SHARING,
    SINGLE,
    TESTED,
    TUNED,
    searched,
)

from oddkout.comparing.statistics import t_interval
from oddkout.fitting.recipe import Recipe

PAGE = lines.FOLDER.parent / "docs" / "methods.md"
GUIDE = lines.FOLDER.parent / "docs" / "imbalanced.md"
BEGIN, END = "<!-- Written by: python benchmarks/imbalance_page.py -->", "<!-- end -->"
SHOWN = ("stack", "oko+la", "vanilla+ls+la", "vanilla+ls", "oko", "vanilla")  # in the guide
TITLES = {"mnist": "MNIST", "fashion_mnist": "FashionMNIST", "digits": "digits",
          "cifar10 grey": "CIFAR-10 in grey"}  # fmt: skip
METHODS = ("stack", *PRIMARY, *OTHERS, *SHARING)
GROUPS = ("head", "middle", "tail")
LEVEL = 0.05  # of significance


def title(setting):
    """A setting in words."""
    kind, _, rest = setting.partition(", ")
    return f"{TITLES[kind]}, {rest}"


def by_seed(known, setting, method, key, metric):
    """A metric of a method by seed."""
    return {
        one["seed"]: one["metrics"][method][key][metric]
        for one in known
        if one["setting"] == setting and key in one["metrics"].get(method, {})
    }


def log_ratio(known, settings, first, second, key):
    """Mean log ratio of the NLL of two methods per seed, over settings, with its interval."""
    logs = []
    for setting in settings:
        own, other = (by_seed(known, setting, name, key, "nll") for name in (first, second))
        logs.append({seed: math.log(own[seed] / other[seed]) for seed in own.keys() & other.keys()})
    seeds = sorted(set.intersection(*map(set, logs)))
    if len(seeds) < 2:
        return None
    interval = t_interval([fmean(each[seed] for each in logs) for seed in seeds])
    return interval, p_value([fmean(each[seed] for each in logs) for seed in seeds]), len(seeds)


def p_value(values):
    """Two-sided p-value of Student's t for a mean of 0."""
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(values, 0).pvalue)


def holm(p_values):
    """Holm's adjusted p-values."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def page():
    """The page ``docs/methods.md``."""
    known = lines.read(TESTED)
    parts = (_primary, _aims, _tables, _secondary)
    return "\n".join([_HEAD, *(line for part in parts for line in part(known)), *_chosen(), ""])


_HEAD = """# Methods for imbalanced classes, compared

<!-- Written by: python benchmarks/imbalance_page.py -->

Every method in the same pipeline: five members, stopped and calibrated out of fold, tuned by the
same lists. The [protocol](protocol.md#methods-for-imbalanced-classes-seeds-23-to-32) was written
before. Everything on this page is made from `results/imbalance-tuning.jsonl` and
`results/imbalance-test.jsonl`. `oddkout methods` explains the methods.
"""


def _primary(known):
    yield "## Primary comparison"
    yield ""
    found = log_ratio(known, SINGLE, *PRIMARY, "calibrated")
    if found is None:
        yield "Not yet performed."
    else:
        interval, p, seeds = found
        mean, low, high = (math.exp(v) for v in (interval.mean, interval.low, interval.high))
        yield (
            f"Calibrated NLL of `oko+la` over that of `vanilla+ls+la`, heavy-tailed MNIST and "
            f"FashionMNIST: **{mean:.3f} [{low:.3f}, {high:.3f}]**, {seeds} seeds, p = {p:.2g}."
        )
    yield ""


def _aims(known):
    """What was hoped for, and what came out."""
    yield "## Aims"
    yield ""
    yield "Set before the runs; means over the seeds that all methods of a setting have (23 to 27)."
    yield ""
    for setting in SINGLE:
        ranked = ranking(known, setting, "one network")
        if "oko+la" in ranked:
            yield _lowest("oko+la", ranked, "NLL of one network as trained", setting)
    ranked = {setting: ranking(known, setting, "calibrated") for setting in SETTINGS}
    for setting, values in ranked.items():
        if "stack" in values:
            yield _lowest("stack", values, "Calibrated NLL", setting)
    found = list(_stack_rows(known, "accuracy"))
    adjusted = holm([p for _, _, p in found])
    above = [
        text
        for (text, interval, _), p in zip(found, adjusted, strict=True)
        if p < LEVEL and interval.mean < 0
    ]
    yield (
        "* No method is significantly more accurate than `stack`: "
        + ("**met**." if not above else f"**missed**: {'; '.join(above)}.")
    )
    yield ""


def _lowest(method, ranked, name, setting):
    """Whether a method has the lowest value, in a sentence."""
    best = min(ranked, key=ranked.__getitem__)
    text = f"* {name}, {title(setting)}: `{method}` has {ranked[method]:.3f}"
    if best == method:
        second = min((other for other in ranked if other != method), key=ranked.__getitem__)
        return (
            f"{text}, the lowest of {len(ranked)}: **met** (next: `{second}` {ranked[second]:.3f})."
        )
    rank = sorted(ranked.values()).index(ranked[method]) + 1
    return (
        f"{text}, rank {rank} of {len(ranked)}: **missed** (lowest: `{best}` {ranked[best]:.3f})."
    )


def ranking(known, setting, key):
    """Mean NLL of each method, over the seeds that all methods of a setting have."""
    return {
        method: fmean(values.values())
        for method in METHODS
        if (values := by_common_seed(known, setting, method, key, "nll"))
    }


def by_common_seed(known, setting, method, key, metric):
    """A metric of a method, for the seeds that all methods of a setting have."""
    own = [by_seed(known, setting, other, key, "nll").keys() for other in METHODS]
    common = set.intersection(*(set(seeds) for seeds in own if seeds)) if any(own) else set()
    values = by_seed(known, setting, method, key, metric)
    return {seed: value for seed, value in values.items() if seed in common}


def _tables(known):
    yield "## Results"
    yield ""
    yield "Means over the seeds that all methods of a setting have (23 to 27). The methods with ten"
    yield "seeds use them all in the comparisons above and below. Accuracy in %; head, middle and"
    yield "tail are the accuracies on frequent, middle and rare classes, calibrated."
    for setting in SETTINGS:
        has_single = setting in SINGLE
        heads = ["method", "accuracy", "NLL", "ECE", *GROUPS, "as trained: accuracy", "NLL", "ECE"]
        heads += ["one network, as trained: NLL"] if has_single else []
        yield f"\n### {title(setting)}\n"
        yield f"| {' | '.join(heads)} |"
        yield f"| --- |{' ---: |' * (len(heads) - 1)}"
        for method in METHODS:
            if not by_seed(known, setting, method, "calibrated", "nll"):
                same = SAME_ON_UNIFORM.get(method)
                if same and setting.endswith("10 per class"):
                    yield f"| {method} | like {same} |{' |' * (len(heads) - 2)}"
                continue
            cells = [
                *_means(known, setting, method, "calibrated", ("accuracy", "nll", "ece", *GROUPS)),
                *_means(known, setting, method, "as trained", ("accuracy", "nll", "ece")),
            ]
            if has_single:
                cells += _means(known, setting, method, "one network", ("nll",))
            yield f"| {method} | {' | '.join(cells)} |"
    yield ""


def _means(known, setting, method, key, metrics):
    """Means of some metrics as text."""
    texts = []
    for metric in metrics:
        values = by_common_seed(known, setting, method, key, metric).values()
        is_share = metric in ("accuracy", *GROUPS)
        if not values:
            texts.append("-")
        else:
            texts.append(f"{100 * fmean(values):.1f}" if is_share else f"{fmean(values):.3f}")
    return texts


def _secondary(known):
    yield "## Secondary comparisons"
    yield ""
    yield "Log ratios of NLL, or differences in points of accuracy, paired by seed, with 95 %"
    yield f"intervals; an asterisk marks p < {LEVEL} after Holm's correction within the list."
    for name, rows in (
        ("NLL of one network as trained, `oko+la` against", _single_rows(known)),
        ("Calibrated NLL, `stack` against", _stack_rows(known, "nll")),
        ("Accuracy, `stack` minus", _stack_rows(known, "accuracy")),
    ):
        found = list(rows)
        yield f"\n**{name}**\n"
        if not found:
            yield "Not yet performed."
            continue
        adjusted = holm([p for _, _, p in found])
        for (text, interval, _), p in zip(found, adjusted, strict=True):
            mark = "*" if p < LEVEL else ""
            limits = f"{interval.mean:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"
            yield f"* {text}: {limits}{mark}"
    yield ""


def _single_rows(known):
    for setting in SINGLE:
        for method in METHODS:
            found = log_ratio(known, [setting], "oko+la", method, "one network")
            if method != "oko+la" and found is not None:
                yield f"{method}, {title(setting)}", found[0], found[1]


def _stack_rows(known, metric):
    for setting in SETTINGS:
        for method in METHODS:
            own, other = (
                by_seed(known, setting, name, "calibrated", metric) for name in ("stack", method)
            )
            seeds = sorted(own.keys() & other.keys())
            if method == "stack" or len(seeds) < 2:
                continue
            gaps = [
                math.log(own[seed] / other[seed])
                if metric == "nll"
                else 100 * (own[seed] - other[seed])
                for seed in seeds
            ]
            yield f"{method}, {title(setting)}", t_interval(gaps), p_value(gaps)


def _chosen():
    yield "## What each method chose"
    yield ""
    yield "On seeds 0 to 3, one for each kind of images, out of fold; number of runs in brackets."
    yield ""
    for method in (*PRIMARY, *OTHERS):
        best, compared, is_complete = searched(method)
        fields = {name: value for name, value in best.items() if value != getattr(Recipe, name)}
        text = ", ".join(f"{name} {value:g}" for name, value in fields.items()) or "the defaults"
        state = "" if is_complete else ", not finished"
        yield f"* `{method}`: {text} ({4 * len(compared)} runs{state})"
    yield ""
    yield "The power q of the class frequencies in `oko+la`, with the recipe before all choices,"
    yield "mean of log NLL out of fold:"
    yield ""
    tried = {}
    for one in lines.read(TUNED):
        name, _, power = one["method"].partition(" q=")
        if name == "oko+la" and one["changes"] == {}:
            tried.setdefault(float(power or 1), []).append(math.log(one["nll"]))
    for power, logs in sorted(tried.items(), reverse=True):
        yield f"* q = {power:g}: {fmean(logs):.3f}"


def guide():
    """The page ``docs/imbalanced.md`` with today's table."""
    before, _, rest = GUIDE.read_text().partition(BEGIN)
    return "\n".join([before + BEGIN, *_guide(lines.read(TESTED)), END + rest.partition(END)[2]])


def _guide(known):
    """NLL and accuracy of a few methods in every setting, as trained and calibrated."""
    heads = ["images", *(f"`{method}`" for method in SHOWN), "lowest of all methods"]
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * (len(heads) - 1)}"
    for setting in SETTINGS:
        ranked = ranking(known, setting, "calibrated")
        if not ranked:
            continue
        cells = []
        for method in SHOWN:
            own = method if method in ranked else SAME_ON_UNIFORM[method]
            before = _means(known, setting, own, "as trained", ("nll",))[0]
            accuracy = _means(known, setting, own, "calibrated", ("accuracy",))[0]
            cells.append(f"{before} → {ranked[own]:.3f}, {accuracy} %")
        best = min(ranked, key=ranked.__getitem__)
        yield f"| {title(setting)} | {' | '.join(cells)} | `{best}` {ranked[best]:.3f} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page())
    GUIDE.write_text(guide())
