"""The table of commands; each is defined in the module of its name."""

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
) -> None:
    """Trustworthy classifiers from few, unevenly labelled examples."""
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
