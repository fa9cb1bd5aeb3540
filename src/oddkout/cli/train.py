"""``oddkout train``: one trained, evaluated classifier."""

import gc
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import torch
import typer

from oddkout.cli.progress import training_progress
from oddkout.cli.recipe import Dropout, Examples, Model, Updates
from oddkout.cli.source import (
    Categorical,
    DataDir,
    ImageSize,
    Json,
    Source,
    Target,
    Test,
    TestSize,
)
from oddkout.comparing.winner import winning_config
from oddkout.data import load_data
from oddkout.fitting.fit import fit_classifier
from oddkout.fitting.methods import METHODS
from oddkout.fitting.recipe import Recipe, suited_to


@contextmanager
def processes() -> Iterator[bool]:
    """Join the processes that torchrun started, if it did; whether this is the first of them."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield True
        return
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    torch.distributed.init_process_group(backend)
    try:
        yield torch.distributed.get_rank() == 0
    finally:
        # A model that was wrapped for the group holds it until it is collected: then its threads
        # outlive the interpreter, and now and then abort the process (pytorch issue 190489).
        gc.collect()
        torch.distributed.destroy_process_group()


def train(
    source: Source,
    out: Annotated[Path, typer.Option(help="Folder to write the classifier to.")],
    method: Annotated[
        str, typer.Option(help=f"One of {', '.join(METHODS)}; or best, with --from.")
    ] = "oko",
    runs: Annotated[
        Path | None,
        typer.Option("--from", help="Runs of oddkout compare, whose winner --method best is."),
    ] = None,
    k: Annotated[int | None, typer.Option(help="Number of odd classes in a set.")] = None,
    head: Annotated[
        bool | None,
        typer.Option("--head/--no-head", help="An odd-class head; if neither, for k = 1."),
    ] = None,
    model: Model = Recipe.model,
    updates: Updates = None,
    examples: Examples = Recipe.examples,
    learning_rate: Annotated[float, typer.Option(help="Highest learning rate.")] = float(
        Recipe.learning_rate
    ),
    dropout: Dropout = float(Recipe.dropout),
    shift: Annotated[int, typer.Option(help="Images: largest shift in pixels.")] = 0,
    flip: Annotated[bool, typer.Option("--flip", help="Images: mirror at random.")] = False,
    crop: Annotated[float, typer.Option(help="Images: largest share cut off a side.")] = 0.0,
    compiled: Annotated[
        bool | None,
        typer.Option("--compile/--no-compile", help="If neither, when the run is long enough."),
    ] = None,
    folds: Annotated[
        int, typer.Option(help="Folds for an out-of-fold temperature; 0 for none.")
    ] = 0,
    validation: Annotated[
        float, typer.Option(help="Share of the training part to choose the best state by.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Key of all randomness.")] = 0,
    target: Target = None,
    test: Test = None,
    test_size: TestSize = 0.2,
    image_size: ImageSize = None,
    categorical: Categorical = None,
    data_dir: DataDir = None,
    is_json: Json = False,
) -> None:
    """Train a classifier, evaluate it on the test part, and write it down.

    Example: oddkout train digits --method oko --out digits-model

    With several processes: torchrun --nproc-per-node 2 -m oddkout train digits --out digits-model
    """
    data = load_data(
        source,
        target=target,
        test=test,
        test_size=test_size,
        image_size=image_size,
        categorical=categorical or (),
        data_dir=data_dir,
    )
    asked_for = suited_to(data.class_sizes)
    if updates is not None:
        asked_for["updates"] = updates
    recipe = Recipe(
        model=model,
        examples=examples,
        learning_rate=learning_rate,
        dropout=dropout,
        shift=shift,
        flip=flip,
        crop=crop,
        compiled=compiled,
        **asked_for,
    )
    if (method == "best") != (runs is not None):
        raise ValueError(
            "--method best is the winner of a comparison: it goes together with --from RUNS"
        )
    if runs is not None:
        won = winning_config(runs, data=source)
        method, k, head, recipe = won.method, won.k, won.head, won.recipe
        # A method with a temperature of its own keeps it.
        folds = 0 if isinstance(won.how.temperature, float | int) else won.folds
    with processes() as is_first, training_progress(recipe.updates if is_first else 0) as progress:
        classifier, report = fit_classifier(
            data,
            method=method,
            k=k,
            head=head,
            recipe=recipe,
            folds=folds,
            validation_fraction=validation,
            seed=seed,
            checkpoint=out.with_name(f"{out.name}.checkpoint"),
            progress=progress,
        )
    if not is_first:
        return
    classifier.save(out)
    out.with_name(f"{out.name}.checkpoint").unlink(missing_ok=True)
    if is_json:
        print(json.dumps({"model": str(out)} | report.to_dict()))
    else:
        print(f"{report}\n\ntrained by {method}, written to {out}")
