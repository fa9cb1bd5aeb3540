"""``oddkout compare``: which method gives the best probabilities on these data."""

import json
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from oddkout.cli.execution import Address, Processes, RetryFailed, Where, executor_named
from oddkout.cli.progress import grid_progress
from oddkout.cli.recipe import Dropout, Examples, Model, Updates
from oddkout.cli.source import Categorical, ImageSize, Json, Target, Test, TestSize
from oddkout.comparing.compare import LEARNING_RATES, compare
from oddkout.comparing.config import RunConfig
from oddkout.comparing.perform import suited
from oddkout.data import KNOWN
from oddkout.fitting.methods import METHODS
from oddkout.report.tables import comparison_json, comparison_text

_NO_REPORT = "no report: run: pip install 'oddkout[plot]'"


def compare_methods(
    source: Annotated[
        str,
        typer.Argument(
            metavar="[DATA]",
            help="digits, mnist, fashion_mnist, cifar10, cifar100; or a path: .npz, .csv, "
            ".parquet, or a folder of images per class.",
        ),
    ] = "digits",
    methods: Annotated[
        str, typer.Option(help=f"Methods, separated by commas; of {', '.join(METHODS)}.")
    ] = ",".join(METHODS),
    seeds: Annotated[int, typer.Option(help="Number of seeds.")] = 5,
    out: Annotated[Path, typer.Option(help="Folder for the runs and the report.")] = Path("runs"),
    distribution: Annotated[
        Literal["all", "uniform", "heavy-tailed"] | None,
        typer.Option(help="Classes to train on: all, or a subset of their examples."),
    ] = None,
    train_examples: Annotated[int | None, typer.Option(help="Size of the subset.")] = None,
    learning_rates: Annotated[
        str, typer.Option(help="Learning rates that every method chooses from.")
    ] = ",".join(map(str, LEARNING_RATES)),
    model: Model = RunConfig.model,
    updates: Updates = None,
    examples: Examples = RunConfig.examples,
    dropout: Dropout = float(RunConfig.dropout),
    folds: Annotated[
        int, typer.Option(help="Folds for tuning and for the temperature.")
    ] = RunConfig.folds,
    executor: Where = "local",
    address: Address = None,
    processes: Processes = None,
    retry_failed: RetryFailed = False,
    target: Target = None,
    test: Test = None,
    test_size: TestSize = 0.2,
    image_size: ImageSize = None,
    categorical: Categorical = None,
    is_json: Json = False,
) -> int:
    """Compare methods on the same data, budget and tuning, and say what can be said.

    Example: oddkout compare patients.csv --target diagnosis --out patients-runs

    Interrupted or killed, the same command goes on. It ends with 1 if a method failed; what failed
    is tried again with --retry-failed alone.
    """
    is_known = source in KNOWN
    if distribution is None:
        distribution = "heavy-tailed" if source == "digits" else "all"
    if source == "digits" and distribution != "all" and train_examples is None:
        train_examples = 200
    if (distribution == "all") != (train_examples is None):
        raise ValueError(
            "--train-examples is the size of a subset, so that it goes together with "
            "--distribution uniform or heavy-tailed"
        )
    config = RunConfig(
        data=source,
        target=target,
        test=test,
        test_size=test_size,
        image_size=image_size,
        categorical=tuple(categorical or ()),
        distribution=distribution,
        train_examples=train_examples,
        # Known test parts hold every class equally often; one's own is like its training part.
        population="uniform" if is_known else "train",
        model=model,
        examples=examples,
        dropout=dropout,
        folds=folds,
    )
    config = suited(config)
    if updates is not None:
        config = replace(config, updates=updates)
    with grid_progress() as progress:
        comparison = compare(
            config,
            methods=_listed(methods),
            seeds=seeds,
            learning_rates=[float(rate) for rate in _listed(learning_rates)],
            out=out,
            retries_failed=retry_failed,
            executor=executor_named(executor, address=address, processes=processes, folder=out),
            progress=progress,
        )
    page = _page(out)
    if is_json:
        found = comparison_json(comparison) | {"config": asdict(config), "report": page}
        print(json.dumps(found))
    else:
        print(comparison_text(comparison))
        print(f"\n{f'wrote {page}' if page else _NO_REPORT}")
    return 1 if comparison.failed else 0


def _page(out: Path) -> str | None:
    """Write the report and say where; nothing without what it is drawn with."""
    if not all(map(find_spec, ("jinja2", "matplotlib"))):
        return None
    from oddkout.report.write import write_report

    return str(write_report(out)["html"])


def _listed(text: str) -> list[str]:
    """The parts between commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
