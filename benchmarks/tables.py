"""The scikit-learn estimator on real tables, against scikit-learn's network and its boosted trees.

``python benchmarks/tables.py`` runs what is missing in ``results/tables.jsonl``, a line per data
set, model and fold; ``--markdown`` prints the tables from these lines alone. All settings are
defaults; those of ``OddKOutClassifier`` were looked at on other tables (glass, pima, vowel,
segment, contraceptive), never on these.
"""

import argparse
import json
import os
import platform
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
import torch
from scipy.stats import t as student
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from table_data import read

import oddkout as oko

FILE = Path(__file__).parents[1] / "results" / "tables.jsonl"
DATA = ("newthyroid", "ecoli", "wine", "breast-cancer", "car", "yeast", "page-blocks", "digits")
FOLDS, SEED = 5, 0
TINY = 1e-15  # probabilities below count as this, so that one certain error is not infinite
METRICS = ("accuracy", "balanced_accuracy", "nll", "ece")
LOWER_IS_BETTER = ("nll", "ece")


def encoded(*steps):
    """A pipeline behind scikit-learn's own encoding of text columns."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    text = make_column_selector(dtype_exclude="number")
    return make_pipeline(make_column_transformer((one_hot, text), remainder="passthrough"), *steps)


MODELS = {
    "OddKOut": lambda: oko.OddKOutClassifier(random_state=SEED),
    "OddKOut, method='vanilla'": lambda: oko.OddKOutClassifier(method="vanilla", random_state=SEED),
    "MLP": lambda: encoded(StandardScaler(), MLPClassifier(random_state=SEED)),
    "HistGradientBoosting": lambda: encoded(HistGradientBoostingClassifier(random_state=SEED)),
}


def run(name: str, model: str, fold: int) -> dict:
    """Train a model on four folds of a data set and measure it on the fifth."""
    x, y = read(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ecoli has classes of 2; an MLP stops at its 200 epochs
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(x, y)
        train, test = list(folds)[fold]
        start = time.perf_counter()
        classifier = MODELS[model]().fit(x.iloc[train], y[train])
        seconds = time.perf_counter() - start
        probs = np.clip(classifier.predict_proba(x.iloc[test]), TINY, 1)
    probs /= probs.sum(axis=1, keepdims=True)
    labels = np.searchsorted(classifier.classes_, y[test])
    report = oko.evaluate(probs=probs, labels=labels, replicates=200)
    metrics = {key: report[key].value for key in METRICS}
    return {
        "data": name,
        "model": model,
        "fold": fold,
        "config": {
            "settings": {k: repr(v) for k, v in classifier.get_params().items()},
            "folds": FOLDS,
            "tiny": TINY,
            "ece bins": 15,
        },
        "seed": SEED,
        "examples": {"train": len(train), "test": len(test)},
        "features": x.shape[1],
        "classes": dict(
            zip(*map(np.ndarray.tolist, np.unique(y, return_counts=True)), strict=True)
        ),
        "metrics": metrics | {"ece of a calibrated model": report["ece"].null.mean},
        "seconds": round(seconds, 3),
        "versions": {
            "oddkout": oko.__version__,
            "scikit-learn": sklearn.__version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "threads": torch.get_num_threads(),
        },
    }


def run_missing(file: Path) -> None:
    """Run what has no line yet; a line is there whole or not at all."""
    lines = file.read_text().splitlines() if file.exists() else []
    done = {tuple(json.loads(line)[key] for key in ("data", "model", "fold")) for line in lines}
    wanted = [(name, model, fold) for name in DATA for model in MODELS for fold in range(FOLDS)]
    for cell in (cell for cell in wanted if cell not in done):
        result = run(*cell)
        lines.append(json.dumps(result, allow_nan=False))
        file.parent.mkdir(exist_ok=True)
        file.with_suffix(".tmp").write_text("\n".join(lines) + "\n")
        os.replace(file.with_suffix(".tmp"), file)
        print(
            *cell,
            {k: round(v, 4) for k, v in result["metrics"].items()},
            result["seconds"],
            "s",
            flush=True,
        )


def interval(values: list[float]) -> tuple[float, float]:
    """Mean, and half the width of its 95 % Student interval."""
    spread = statistics.stdev(values) / len(values) ** 0.5
    return statistics.fmean(values), float(student.ppf(0.975, len(values) - 1)) * spread


def markdown(lines: list[dict]) -> str:
    """The tables: every data set and model, then pairs of models compared fold by fold."""
    cells = {}
    for line in lines:
        cells.setdefault((line["data"], line["model"]), {})[line["fold"]] = line["metrics"]
    complete = {key: folds for key, folds in cells.items() if len(folds) == FOLDS}
    names = [name for name in DATA if any((name, model) in complete for model in MODELS)]
    counts = {line["data"]: sorted(line["classes"].values(), reverse=True) for line in lines}
    text = [
        f"Mean over {FOLDS} folds ± half the 95 % interval of Student's t over these folds (their "
        "training parts overlap, so that it is somewhat too narrow). ECE with 15 bins; in brackets "
        "what a perfectly calibrated model with these confidences would score on so few examples. "
        "All settings are defaults.",
        "",
        "| data (examples per class) | model | accuracy | balanced accuracy | NLL | ECE |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in names:
        head = f"{name} ({', '.join(map(str, counts[name]))})"
        for model in (model for model in MODELS if (name, model) in complete):
            folds = complete[name, model].values()
            means = [interval([fold[key] for fold in folds]) for key in METRICS]
            null = statistics.fmean(fold["ece of a calibrated model"] for fold in folds)
            shown = [f"{mean:.3f} ± {half:.3f}" for mean, half in means]
            text.append(f"| {head} | {model} | {' | '.join(shown)} ({null:.3f}) |")
            head = ""
    return "\n".join([*text, "", *_duels(complete, names)])


def _duels(complete: dict, names: list[str]) -> list[str]:
    """On how many data sets one model beats another, by fold-wise differences."""
    text = [
        "Better / undecided / worse than, in data sets: the 95 % interval of the fold-wise "
        "difference lies on one side of 0, or does not.",
        "",
        "| model | against | accuracy | balanced accuracy | NLL | ECE |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    ours, others = list(MODELS)[:2], list(MODELS)[2:]
    for first, second in ((a, b) for a in ours for b in others):
        row = []
        for key in METRICS:
            verdicts = []
            for name in names:
                pair = [complete.get((name, model)) for model in (first, second)]
                if None in pair:
                    continue
                sign = -1 if key in LOWER_IS_BETTER else 1
                gains = [sign * (pair[0][f][key] - pair[1][f][key]) for f in range(FOLDS)]
                mean, half = interval(gains)
                verdicts.append(0 if abs(mean) <= half else 1 if mean > 0 else -1)
            row.append(" / ".join(str(verdicts.count(sign)) for sign in (1, 0, -1)))
        text.append(f"| {first} | {second} | {' | '.join(row)} |")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--markdown", action="store_true", help="print the tables, run nothing")
    if parser.parse_args().markdown:
        print(markdown([json.loads(line) for line in FILE.read_text().splitlines()]))
        return
    torch.set_num_threads(1)
    run_missing(FILE)


if __name__ == "__main__":
    main()
