"""The estimator on 14 small tables, against the peers that users would try instead.

``python benchmarks/small_tables.py`` fits what is missing in ``results/small-tables.jsonl``, a line
per table, model and fold; ``--peers`` and ``--tables`` name some of them. ``--page`` prints the
summary from these lines alone. These tables are for development: every choice of the recipe was
made on them.
"""

import argparse
import json
import time
import warnings
from statistics import fmean, median

import numpy as np
import torch
from lines import FOLDER, perform_missing, read
from scipy.stats import t as student
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from table_data import read as read_table

import oddkout as oko
from oddkout.data import Data
from oddkout.estimator.inputs import Inputs
from oddkout.estimator.out_of_fold import out_of_fold_score
from oddkout.fitting.folds import suitable_folds
from oddkout.fitting.methods import METHODS
from oddkout.fitting.pipeline import fit_network
from oddkout.fitting.preparation import prepared
from oddkout.fitting.stack import combined_views
from oddkout.fitting.training import predict_logits
from oddkout.fitting.views import table_recipe, views_of

FILE = FOLDER / "small-tables.jsonl"
TABLES = (
    "newthyroid",
    "ecoli",
    "glass",
    "wine",
    "breast-cancer",
    "car",
    "yeast",
    "vowel",
    "contraceptive",
    "pima",
    "page-blocks",
    "digits",
    "abalone9-18",
    "balance",
)
FOLDS, LARGEST, SMALLEST_CLASS = 3, 1000, 6
TINY = 1e-15  # probabilities below count as this, so that one certain error is not infinite


def encoded(*steps):
    """A pipeline behind scikit-learn's own encoding of text columns and missing numbers."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    text = make_column_selector(dtype_exclude="number")
    numbers = make_column_selector(dtype_include="number")
    columns = make_column_transformer((one_hot, text), (SimpleImputer(strategy="median"), numbers))
    return make_pipeline(columns, *steps)


def catboost(seed):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=0, allow_writing_files=False
    )


def logistic(seed):
    return LogisticRegressionCV(
        Cs=np.logspace(-4, 4, 10),
        cv=3,
        scoring="neg_log_loss",
        l1_ratios=(0.0,),
        max_iter=1000,
        random_state=seed,
        use_legacy_attributes=False,
    )


PEERS = {
    "LogRegCV": lambda seed: encoded(StandardScaler(), logistic(seed)),
    "MLP": lambda seed: encoded(StandardScaler(), MLPClassifier(random_state=seed)),
    "SVC": lambda seed: encoded(
        StandardScaler(), CalibratedClassifierCV(SVC(random_state=seed), ensemble=False, cv=3)
    ),
    "forest": lambda seed: encoded(RandomForestClassifier(n_estimators=300, random_state=seed)),
    "ExtraTrees": lambda seed: encoded(ExtraTreesClassifier(n_estimators=300, random_state=seed)),
    "HistGradientBoosting": lambda seed: encoded(HistGradientBoostingClassifier(random_state=seed)),
    "CatBoost": lambda seed: encoded(catboost(seed)),
}
OURS = ("stack", "stack without sets", "stack without trees", "stack of networks, no sets")
LEFT_OUT = dict(zip(OURS, ((), ("sets",), ("trees",), ("sets", "trees")), strict=True))


def measured(probs, labels) -> dict[str, float]:
    """NLL, accuracies and the calibration error of 15 bins of equal width."""
    own = probs[np.arange(len(labels)), labels]
    confidence, predicted = probs.max(axis=1), probs.argmax(axis=1)
    hits = predicted == labels
    bins = np.minimum((confidence * 15).astype(int), 14)
    ece = sum(
        abs(hits[bins == b].mean() - confidence[bins == b].mean()) * (bins == b).mean()
        for b in np.unique(bins)
    )
    return {
        "nll": float(-np.log(np.clip(own, TINY, 1)).mean()),
        "nll clipped at 0.0001": float(-np.log(np.clip(own, 1e-4, 1)).mean()),
        "accuracy": float(hits.mean()),
        "balanced_accuracy": float(balanced_accuracy_score(labels, predicted)),
        "ece": float(ece),
    }


def parts(data: str, *, seed: int):
    """Columns and classes of a table, and its folds as positions: training part, test part."""
    x, y = read_table(data)
    names, counts = np.unique(y, return_counts=True)
    is_kept = np.isin(y, names[counts >= SMALLEST_CLASS])  # some peers cannot fit smaller classes
    x, y = x[is_kept].reset_index(drop=True), y[is_kept]
    splits = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(x, y):
        if len(train) > LARGEST:
            train, _ = train_test_split(
                train, train_size=LARGEST, stratify=y[train], random_state=seed
            )
        splits.append((train, test))
    return x, y, splits


class Subsets:
    """The estimator's stack, and what it would be without some of its views.

    The views are fitted as ``OddKOutClassifier`` does; each stack has its own weights and exponent.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def fit(self, x, y) -> "Subsets":
        self.classes_, positions = np.unique(y, return_inverse=True)
        self._inputs = Inputs(x)
        examples = self._inputs.array(x)
        data = Data(
            name="examples", x_train=examples, y_train=positions.astype(np.int64),
            x_test=examples[:0], y_test=np.zeros(0, dtype=np.int64),
            classes=tuple(map(str, self.classes_)), encoder=self._inputs.encoder, is_encoded=True,
        )  # fmt: skip
        ready, method = prepared(data, allows_missing=True), METHODS["tables"]
        sizes = data.class_sizes
        plans = views_of(method, sizes, recipe=table_recipe(sizes), choices={})
        views = {
            plan.name: fit_network(
                ready, method=plan.method, recipe=plan.recipe, choices={},
                folds=suitable_folds(len(y), is_table=True), members="folds", calibration="folds",
                population="train", seed=self._seed,
            )
            for plan in plans
        }  # fmt: skip
        self.stacks = {
            name: combined_views(
                method, tuple(view for key, view in views.items() if key not in without), ready.y,
                calibration="folds", judged=None,
            )
            for name, without in LEFT_OUT.items()
        }  # fmt: skip
        self.updates = {name: view.updates for name, view in views.items()}
        return self

    def predict_proba(self, x, name: str):
        stack = self.stacks[name]
        rows = torch.from_numpy(self._inputs.array(x))
        logits = stack.calibrated.combined(predict_logits(stack.model, rows))
        return logits.double().softmax(dim=1).numpy()


def perform_ours(*, data: str, fold: int, seed: int) -> list[dict]:
    """Fit the views once, and measure the stack and its subsets on the test part of a fold."""
    x, y, splits = parts(data, seed=seed)
    train, test = splits[fold]
    began = time.process_time()
    fitted = Subsets(seed).fit(x.iloc[train], y[train])
    seconds = time.process_time() - began
    labels = np.searchsorted(fitted.classes_, y[test])
    common = {"fold": fold, "seed": seed, "train": len(train), "test": len(test)}
    common |= {"features": x.shape[1], "seconds": round(seconds, 3), "updates": fitted.updates}
    found = []
    for name, stack in fitted.stacks.items():
        line = {"data": data, "model": name} | common | {"version": oko.__version__}
        line |= measured(fitted.predict_proba(x.iloc[test], name), labels)
        kept = [view for view in fitted.updates if view not in LEFT_OUT[name]]
        line |= {"weights": dict(zip(kept, stack.weights, strict=True))}
        score = out_of_fold_score(
            stack.scores.calibrated.double().softmax(dim=1).numpy(),
            np.searchsorted(fitted.classes_, y[train]),
        )
        found.append(line | {"oof": [score.value, score.low, score.high]})
    print(data, fold, found[0]["nll"], found[0]["weights"], flush=True)
    return found


def perform(*, data: str, model: str, fold: int, seed: int = 0) -> dict:
    """Fit a peer to the training part of a fold, and measure it on the test part."""
    x, y, splits = parts(data, seed=seed)
    train, test = splits[fold]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an MLP stops at its 200 epochs, classes are small
        began = time.perf_counter()
        classifier = PEERS[model](seed).fit(x.iloc[train], y[train])
        seconds = time.perf_counter() - began
        probs = classifier.predict_proba(x.iloc[test])
    position = {name: number for number, name in enumerate(classifier.classes_)}
    labels = np.array([position[name] for name in y[test]])
    line = {"data": data, "model": model, "fold": fold, "seed": seed}
    line |= {"train": len(train), "test": len(test), "features": x.shape[1]}
    line |= measured(probs, labels) | {"seconds": round(seconds, 3)}
    print({key: line[key] for key in ("data", "model", "fold", "nll", "seconds")}, flush=True)
    return line


def table_means(lines, metric: str) -> dict[tuple[str, str], float]:
    """Mean of a metric over the folds, by table and model."""
    values: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        values.setdefault((line["data"], line["model"]), []).append(line[metric])
    return {key: fmean(found) for key, found in values.items()}


def ratio_interval(ratios) -> tuple[float, float, float]:
    """Geometric mean of ratios, with its 95 % interval over tables."""
    logs = np.log(list(ratios))
    half = student.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5
    return tuple(float(np.exp(value)) for value in (logs.mean(), logs.mean() - half,
                                                    logs.mean() + half))  # fmt: skip


def page(lines, *, tables=TABLES, metric: str = "nll") -> str:
    """Each model's NLL over that of the best peer of each table, and its other metrics."""
    nll = table_means(lines, metric)
    tables = [name for name in tables if all((name, peer) in nll for peer in PEERS)]
    best = {name: min(nll[name, peer] for peer in PEERS) for name in tables}
    models = [m for m in (*OURS, *PEERS) if all((name, m) in nll for name in tables)]
    text = [
        "| model | NLL over the best peer | below MLP | balanced accuracy | ECE | median s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    others = {m: table_means(lines, m) for m in ("balanced_accuracy", "ece")}
    for model in models:
        mean, low, high = ratio_interval(nll[name, model] / best[name] for name in tables)
        wins = sum(nll[name, model] < nll[name, "MLP"] for name in tables)
        shown = [f"{fmean(v[name, model] for name in tables):.4f}" for v in others.values()]
        seconds = median(line["seconds"] for line in lines if line["model"] == model)
        text.append(
            f"| {model} | {mean:.3f} [{low:.3f}, {high:.3f}] | {wins} of {len(tables)} | "
            f"{' | '.join(shown)} | {seconds:.2f} |"
        )
    text += ["", f"| table | best peer | {' | '.join(m for m in models if m in OURS)} |"]
    text += ["| --- " * (2 + sum(m in OURS for m in models)) + "|"]
    for name in tables:
        peer = min(PEERS, key=lambda p: nll[name, p])
        own = [f"{nll[name, m]:.4f} ({nll[name, m] / best[name]:.2f})" for m in models if m in OURS]
        text.append(f"| {name} | {peer} {best[name]:.4f} | {' | '.join(own)} |")
    single = min(PEERS, key=lambda p: ratio_interval(nll[n, p] / best[n] for n in tables)[0])
    if "stack" in models:
        mean, low, high = ratio_interval(nll[n, "stack"] / nll[n, single] for n in tables)
        text += ["", f"NLL of the stack over that of the best single peer, {single}: {mean:.3f} "
                 f"[{low:.3f}, {high:.3f}]."]  # fmt: skip
    if set(OURS) <= set(models):
        for without, what in (("stack without sets", "odd-k-out view"),
                              ("stack without trees", "forest")):  # fmt: skip
            mean, low, high = ratio_interval(
                nll[name, "stack"] / nll[name, without] for name in tables
            )
            text += ["", f"NLL with the {what} over NLL without it: {mean:.3f} "
                     f"[{low:.3f}, {high:.3f}], 95 % interval over tables."]  # fmt: skip
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="print the summary, fit nothing")
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--tables", nargs="*", default=TABLES)
    arguments = parser.parse_args()
    if arguments.page:
        print(page(read(FILE)))
        return
    perform_all(FILE, tables=arguments.tables, peers=arguments.peers, seeds=(0,))


def perform_all(file, *, tables, peers, seeds) -> None:
    """Perform what has no line yet."""
    cells = [
        {"data": name, "fold": fold, "seed": seed}
        for fold in range(FOLDS)
        for seed in seeds
        for name in tables
    ]
    wanted = [{"model": model} | cell for model in peers for cell in cells]
    perform_missing(file, wanted, perform)
    known = read(file)
    for cell in cells:
        if not any(({"model": "stack"} | cell).items() <= line.items() for line in known):
            with file.open("a") as lines:
                lines.writelines(json.dumps(line) + "\n" for line in perform_ours(**cell))


if __name__ == "__main__":
    main()
