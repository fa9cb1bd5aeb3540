"""The table of commands; each is defined in the module of its name."""

import os
from typing import Annotated

import typer

from oddkout.cli import (
    compare,
    data,
    decide,
    doctor,
    evaluate,
    export,
    methods,
    predict,
    report,
    reproduce,
    train,
    verify,
)
from oddkout.reading import DEFAULT_GIGABYTES, VARIABLE, memory_limit
from oddkout.version import __version__

app = typer.Typer(
    help="Trustworthy classifiers from few, unevenly labelled examples.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    max_memory: Annotated[
        float | None,
        typer.Option(
            "--max-memory",
            help="Gigabytes that the content of one file may take; "
            f"{DEFAULT_GIGABYTES:g} by default. Stands before the command.",
        ),
    ] = None,
) -> None:
    """Trustworthy classifiers from few, unevenly labelled examples."""
    if max_memory is not None:
        os.environ[VARIABLE] = str(max_memory)  # which worker processes inherit
        memory_limit()  # raises for an invalid one
    if version:
        print(f"oddkout {__version__}")
        raise typer.Exit


app.command("compare")(compare.compare_methods)
app.add_typer(data.app, name="data")
app.command("doctor")(doctor.doctor)
app.command("methods")(methods.methods)
app.command("train")(train.train_classifier)
app.command("predict")(predict.predict)
app.command("decide")(decide.decide)
app.command("evaluate")(evaluate.evaluate)
app.command("export")(export.export)
app.command("reproduce")(reproduce.reproduce_paper)
app.command("report")(report.report)
app.command("verify")(verify.verify)
