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

import numpy as np
import torch
from lines import FOLDER, perform_missing, read
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
from small_tables_page import OURS, page
from table_data import read as read_table
from tabpfn_peer import OutsideLimitsError, tabpfn

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
    "TabPFN": lambda seed: encoded(tabpfn(seed)),
}
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
    line = {"data": data, "model": model, "fold": fold, "seed": seed}
    line |= {"train": len(train), "test": len(test), "features": x.shape[1]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an MLP stops at its 200 epochs, classes are small
        began = time.perf_counter()
        try:
            classifier = PEERS[model](seed).fit(x.iloc[train], y[train])
        except OutsideLimitsError as limit:
            return line | {"left out": str(limit)}
        fitted = time.perf_counter()
        probs = classifier.predict_proba(x.iloc[test])
        predicted = time.perf_counter()
    position = {name: number for number, name in enumerate(classifier.classes_)}
    labels = np.array([position[name] for name in y[test]])
    line |= measured(probs, labels) | {"seconds": round(fitted - began, 3)}
    line |= {"prediction seconds": round(predicted - fitted, 3)}
    print({key: line[key] for key in ("data", "model", "fold", "nll", "seconds")}, flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="print the summary, fit nothing")
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--tables", nargs="*", default=TABLES)
    arguments = parser.parse_args()
    if arguments.page:
        print(page(read(FILE), tables=TABLES))
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
