"""Summary of the lines of ``small_tables.py`` and ``small_tables_confirm.py``: fits nothing."""

from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np
from scipy.stats import t as student

OURS = ("stack", "stack without sets", "stack without trees", "stack of networks, no sets")
# A pretrained network is a peer on tables within its limits, and left out on others.
LIMITED = "TabPFN"


def table_means(lines, metric: str) -> dict[tuple[str, str], float]:
    """Mean of a metric over the folds, by table and model; without what left out some fold."""
    values: dict[tuple[str, str], list[float]] = {}
    absent = {(line["data"], line["model"]) for line in lines if "left out" in line}
    for line in lines:
        if (line["data"], line["model"]) not in absent:
            values.setdefault((line["data"], line["model"]), []).append(line[metric])
    return {key: fmean(found) for key, found in values.items()}


def ratio_interval(ratios: Iterable[float]) -> tuple[float, float, float]:
    """Geometric mean of ratios, with its 95 % interval over tables."""
    logs = np.log(list(ratios))
    half = student.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5
    return tuple(float(np.exp(value)) for value in (logs.mean(), logs.mean() - half,
                                                    logs.mean() + half))  # fmt: skip


def page(lines, *, tables: Sequence[str], metric: str = "nll") -> str:
    """Each model's NLL over that of the best peer of each table, and its other metrics.

    Only tables that the stack and every peer without limits has fitted are shown.
    """
    means = {m: table_means(lines, m) for m in (metric, "balanced_accuracy", "ece")}
    nll = means[metric]
    known = dict.fromkeys(model for _, model in nll)
    ours = [model for model in OURS if model in known]
    peers = [model for model in known if model not in OURS]
    always = [model for model in (*ours, *peers) if model != LIMITED]
    tables = [name for name in tables if all((name, model) in nll for model in always)]
    on = {m: [name for name in tables if (name, m) in nll] for m in (*ours, *peers)}
    best = {name: min((p for p in peers if name in on[p]), key=lambda p: nll[name, p])
            for name in tables}  # fmt: skip

    def ratio(model: str, names, other) -> str:
        mean, low, high = ratio_interval(nll[name, model] / nll[name, other(name)]
                                         for name in names)  # fmt: skip
        return f"{mean:.3f} [{low:.3f}, {high:.3f}]"

    text = [
        "| model | NLL over the best peer | below MLP | balanced accuracy | ECE |",
        "| --- | --- | --- | --- | --- |",
    ]
    for model, names in on.items():
        wins = sum(nll[name, model] < nll[name, "MLP"] for name in names)
        others = [fmean(means[m][name, model] for name in names)
                  for m in ("balanced_accuracy", "ece")]  # fmt: skip
        text.append(
            f"| {model} | {ratio(model, names, best.get)} | {wins} of {len(names)} | "
            f"{others[0]:.4f} | {others[1]:.4f} |"
        )
    text += ["", f"| table | best peer | {' | '.join(ours)} |", "| --- " * (2 + len(ours)) + "|"]
    for name in tables:
        lowest = nll[name, best[name]]
        own = [f"{nll[name, m]:.4f} ({nll[name, m] / lowest:.2f})" for m in ours]
        text.append(f"| {name} | {best[name]} {lowest:.4f} | {' | '.join(own)} |")
    if "stack" not in ours:
        return "\n".join(text)
    general = [p for p in peers if p != LIMITED]
    single = min(general, key=lambda p: ratio_interval(nll[n, p] for n in tables)[0])
    text += ["", f"NLL of the stack over that of the best single peer, {single}: "
             f"{ratio('stack', tables, lambda name: single)}."]  # fmt: skip
    if LIMITED in peers:
        names = on[LIMITED]
        accuracy, ece = (
            " against ".join(
                f"{fmean(means[m][name, model] for name in names):.4f}"
                for model in ("stack", LIMITED)
            )
            for m in ("balanced_accuracy", "ece")
        )
        text += [
            "",
            f"NLL of the stack over that of {LIMITED}, on the {len(names)} tables within its "
            f"limits: {ratio('stack', names, lambda name: LIMITED)}; balanced accuracy there "
            f"{accuracy}, ECE {ece}.",
        ]
        rival = {name: min(general, key=lambda p: nll[name, p]) for name in tables}
        text += ["", f"NLL of the stack over that of the best peer other than {LIMITED}: "
                 f"{ratio('stack', tables, rival.get)}."]  # fmt: skip
    for model, what in (("stack without sets", "odd-k-out view"),
                        ("stack without trees", "forest")):  # fmt: skip
        if model in ours:
            shown = ratio("stack", tables, dict.fromkeys(tables, model).get)
            text += ["", f"NLL with the {what} over NLL without it: {shown}, "
                     "95 % interval over tables."]  # fmt: skip
    return "\n".join(text)
