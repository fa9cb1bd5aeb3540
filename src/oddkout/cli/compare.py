"""``oddkout compare``: compare methods on one data set and write a report."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from oddkout.cli.execution import (
    AddressOption,
    ExecutorOption,
    ProcessesOption,
    RetryFailedOption,
    executor_named,
)
from oddkout.cli.prior import PriorOption, prior_value
from oddkout.cli.progress import grid_progress
from oddkout.cli.recipe import (
    DEFAULT_RATES,
    Bfloat16Option,
    ChooseOption,
    DropoutOption,
    ExamplesOption,
    FoldsOption,
    LearningRatesOption,
    MembersCliOption,
    ModelOption,
    UpdatesOption,
    given,
    listed,
    numbers,
)
from oddkout.cli.source import (
    SOURCE_HELP,
    TEST_SIZE,
    CategoricalOption,
    DistributionOption,
    GroupOption,
    ImageSizeOption,
    JsonOption,
    NumericOption,
    RareBelowOption,
    TargetOption,
    TestOption,
    TestSizeOption,
    TextOption,
    TrainExamplesOption,
)
from oddkout.cli.terminal import printable
from oddkout.comparing.compare import TIME_LIMIT, compare
from oddkout.comparing.saved import comparison_record
from oddkout.comparing.tables import comparison_json, comparison_text
from oddkout.data.categories import RARE_BELOW

_NO_REPORT = "no report, which needs jinja2 and matplotlib; run: pip install 'oddkout[plot]'"


def compare_methods(
    source: Annotated[str, typer.Argument(metavar="[DATA]", help=SOURCE_HELP)] = "digits",
    methods: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated methods, see oddkout methods; or all; or none, for --contestants "
            "alone. By default eight that suit the data."
        ),
    ] = None,
    contestants: Annotated[
        str,
        typer.Option(
            help="Comma-separated classifiers of others: forest, boosting, svm, mlp, catboost, "
            "tabpfn or package.module:factory. guess and logistic always take part."
        ),
    ] = "",
    raw: Annotated[
        str,
        typer.Option(
            help="Comma-separated contestants of package.module:factory that get the columns of a "
            "table as a pandas frame, before they are encoded."
        ),
    ] = "",
    time_limit: Annotated[
        float, typer.Option(help="Limit in seconds for one fit of such a classifier.")
    ] = TIME_LIMIT,
    seeds: Annotated[int, typer.Option(help="Number of seeds.")] = 5,
    out: Annotated[Path, typer.Option(help="Folder for the runs and the report.")] = Path("runs"),
    distribution: DistributionOption = None,
    train_examples: TrainExamplesOption = None,
    learning_rates: LearningRatesOption = DEFAULT_RATES,
    choose: ChooseOption = "",
    folds: FoldsOption = None,
    members: MembersCliOption = "folds",
    model: ModelOption = None,
    updates: UpdatesOption = None,
    examples: ExamplesOption = None,
    dropout: DropoutOption = None,
    bfloat16: Bfloat16Option = None,
    executor: ExecutorOption = "local",
    address: AddressOption = None,
    processes: ProcessesOption = None,
    retry_failed: RetryFailedOption = False,
    prior: PriorOption = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            help="What answers cost: a CSV file with a row per true class, its name first, and a "
            "column per answer."
        ),
    ] = None,
    criterion: Annotated[
        Literal["nll", "accuracy", "cost"] | None,
        typer.Option(
            help="What the winner is chosen by, out of fold; by default cost if --costs are given, "
            "else nll."
        ),
    ] = None,
    target: TargetOption = None,
    test: TestOption = None,
    test_size: TestSizeOption = TEST_SIZE,
    image_size: ImageSizeOption = None,
    categorical: CategoricalOption = None,
    text: TextOption = None,
    numeric: NumericOption = None,
    rare_below: RareBelowOption = RARE_BELOW,
    group: GroupOption = None,
    is_json: JsonOption = False,
) -> int:
    """Compare methods on the same data, with the same budget and tuning, and write a report.

    Example: oddkout compare patients.csv --target diagnosis --out patients-runs

    Run the same command again to resume. Failed runs are retried only with --retry-failed. The exit
    code is 1 if a method failed.
    """
    with grid_progress() as progress:
        comparison = compare(
            source,
            methods=None if methods is None else [] if methods == "none" else listed(methods),
            contestants=listed(contestants),
            raw=listed(raw),
            time_limit=time_limit,
            seeds=seeds,
            learning_rates=numbers(learning_rates, option="--learning-rates"),
            choose=listed(choose),
            folds=folds,
            members=members,
            recipe=given(
                model=model,
                updates=updates,
                examples=examples,
                dropout=dropout,
                mixed_precision=bfloat16,
            ),
            prior=prior_value(prior),
            costs=costs,
            criterion=criterion,
            out=out,
            retry_failed=retry_failed,
            executor=executor_named(executor, address=address, processes=processes, folder=out),
            progress=progress,
            **given(distribution=distribution, train_examples=train_examples),
            target=target,
            test=test,
            test_size=test_size,
            image_size=image_size,
            categorical=categorical,
            text=text,
            numeric=numeric,
            rare_below=rare_below,
            group=group,
        )
    page = _page(out)
    if is_json:
        record = comparison_record(comparison) | comparison_json(comparison)
        print(json.dumps(record | {"report": page}))
    else:
        print(printable(comparison_text(comparison)))
        print(f"\n{f'wrote {page}' if page else _NO_REPORT}")
    return 1 if comparison.failed else 0


def _page(out: Path) -> str | None:
    """Write the report and return its path; None if plotting packages are missing."""
    if not all(map(find_spec, ("jinja2", "matplotlib"))):
        return None
    from oddkout.report.write import write_report

    return str(write_report(out)["html"])
