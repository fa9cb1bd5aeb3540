"""``oddkout train``: fit, calibrate, evaluate and save one classifier."""

import json
import shutil
from pathlib import Path
from typing import Annotated, Literal

import typer

from oddkout.cli.prior import PriorOption, prior_value
from oddkout.cli.progress import training_progress
from oddkout.cli.promises import promise_lines
from oddkout.cli.ranks import processes
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
    TEST_SIZE,
    CategoricalOption,
    DataDirOption,
    DistributionOption,
    GroupOption,
    ImageSizeOption,
    JsonOption,
    NumericOption,
    RareBelowOption,
    SourceArgument,
    TargetOption,
    TestOption,
    TestSizeOption,
    TextOption,
    TrainExamplesOption,
)
from oddkout.cli.terminal import printable
from oddkout.comparing.winner import fit_winner
from oddkout.data.categories import RARE_BELOW
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.fit import fit
from oddkout.fitting.folder import refuse_other_content


def train_classifier(
    source: SourceArgument,
    out: Annotated[Path, typer.Option(help="Folder for the classifier.")],
    method: Annotated[
        str, typer.Option(help="One of oddkout methods; or best, together with --from.")
    ] = "oko",
    runs: Annotated[
        Path | None,
        typer.Option("--from", help="Folder of oddkout compare, for --method best."),
    ] = None,
    k: Annotated[int | None, typer.Option(help="Number of odd classes in a set.")] = None,
    head: Annotated[
        bool | None,
        typer.Option(
            "--head/--no-head", help="Train an odd-class head; by default for oko with k = 1 only."
        ),
    ] = None,
    learning_rates: LearningRatesOption = DEFAULT_RATES,
    choose: ChooseOption = "",
    folds: FoldsOption = None,
    members: MembersCliOption = "folds",
    calibrate: Annotated[
        Literal["folds", "temperature", "none"],
        typer.Option(
            help="folds: fit temperature and strength of prior adjustment out of fold; "
            "temperature: the temperature alone; none: neither."
        ),
    ] = "folds",
    prior: PriorOption = None,
    model: ModelOption = None,
    updates: UpdatesOption = None,
    examples: ExamplesOption = None,
    dropout: DropoutOption = None,
    bfloat16: Bfloat16Option = None,
    shift: Annotated[
        int | None, typer.Option(help="Images: largest random shift in pixels.")
    ] = None,
    flip: Annotated[
        bool | None, typer.Option("--flip/--no-flip", help="Images: mirror at random.")
    ] = None,
    crop: Annotated[
        float | None, typer.Option(help="Images: largest share of each side to cut off at random.")
    ] = None,
    compiled: Annotated[
        bool | None,
        typer.Option(
            "--compile/--no-compile",
            help="Compile the network; by default if the run is long enough.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of all randomness, including the test split.")
    ] = 0,
    distribution: DistributionOption = None,
    train_examples: TrainExamplesOption = None,
    target: TargetOption = None,
    test: TestOption = None,
    test_size: TestSizeOption = TEST_SIZE,
    image_size: ImageSizeOption = None,
    categorical: CategoricalOption = None,
    text: TextOption = None,
    numeric: NumericOption = None,
    rare_below: RareBelowOption = RARE_BELOW,
    group: GroupOption = None,
    data_dir: DataDirOption = None,
    is_json: JsonOption = False,
) -> None:
    """Train a classifier, evaluate it on the test part, and save it.

    Example: oddkout train digits --method oko --out digits-model

    With several processes: torchrun --nproc-per-node 2 -m oddkout train digits --out digits-model
    """
    if (method == "best") != (runs is not None):
        raise ValueError("--method best and --from RUNS must be given together")
    recipe = given(
        model=model, updates=updates, examples=examples, dropout=dropout, shift=shift, flip=flip,
        crop=crop, compiled=compiled, mixed_precision=bfloat16,
    )  # fmt: skip
    refuse_other_content(out)  # before the training, not after it
    folder = out.resolve()
    checkpoint = folder.with_name(f"{folder.name}.checkpoints")
    with processes() as is_first, training_progress(is_first) as progress:
        if runs is not None:
            _refuse_with_best(
                {name: value for name, value in recipe.items() if name != "model"}
                | given(k=k, head=head, distribution=distribution, train_examples=train_examples)
                | given(test=test, image_size=image_size, data_dir=data_dir)
                | {
                    name: columns
                    for name, columns in (
                        ("categorical", categorical),
                        ("text", text),
                        ("numeric", numeric),
                    )
                    if columns
                }
                | ({"rare_below": rare_below} if rare_below != RARE_BELOW else {})
                | given(group=group)
                | ({"learning_rates": learning_rates} if learning_rates != DEFAULT_RATES else {})
                | given(folds=folds, prior=prior)
                | ({"choose": choose} if choose else {})
                | ({"members": members} if members != "folds" else {})
                | ({"calibrate": calibrate} if calibrate != "folds" else {})
                | ({"test_size": test_size} if test_size != TEST_SIZE else {})
            )
            classifier = fit_winner(
                runs, source, target=target, model=model, seed=seed, checkpoint=checkpoint,
                progress=progress,
            )  # fmt: skip
        else:
            classifier = fit(
                source,
                method=method,
                k=k,
                head=head,
                recipe=recipe,
                learning_rates=numbers(learning_rates, option="--learning-rates"),
                choose=listed(choose),
                folds=folds,
                members=members,
                calibrate=calibrate,
                prior=prior_value(prior),
                seed=seed,
                checkpoint=checkpoint,
                progress=progress,
                **given(distribution=distribution, train_examples=train_examples),
                target=target,
                test=test,
                test_size=test_size,
                image_size=image_size,
                categorical=categorical or (),
                text=text or (),
                numeric=numeric or (),
                rare_below=rare_below,
                group=group,
                data_dir=data_dir,
            )
    if not is_first:
        return
    classifier.save(out)
    shutil.rmtree(checkpoint, ignore_errors=True)
    print(json.dumps(_record(classifier, out)) if is_json else printable(_summary(classifier, out)))


def _refuse_with_best(options: dict[str, object]) -> None:
    """Raise if an option was given that the comparison determines."""
    if options:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise ValueError(
            f"--method best trains the winner as it was compared, got {names}; leave them out, or "
            "name the method"
        )


def _record(classifier: Classifier, out: Path) -> dict[str, object]:
    """The result as JSON."""
    report = {} if classifier.evaluation is None else classifier.evaluation.to_dict()
    return {
        "model": str(out),
        "method": classifier.method,
        "learning_rate": classifier.details["settings"].get("learning_rate"),
        "temperature": classifier.temperature,
        "strength": classifier.mixture.strength,
        "weights": {view.method: view.weight for view in classifier.mixture.views},
        "members": classifier.members,
        "updates": classifier.details.get("stopped", {}).get("updates"),
        "prior": dict(zip(classifier.classes, classifier.prior, strict=True)),
        "folds": classifier.details["folds"],
        "decisions": classifier.details["decisions"],
        "won": classifier.details.get("won"),
    } | report


def _summary(classifier: Classifier, out: Path) -> str:
    """The result as text."""
    lines = [] if classifier.evaluation is None else [str(classifier.evaluation), ""]
    if decisions := promise_lines(classifier.details["decisions"]):
        lines += [*decisions, ""]
    if won := classifier.details.get("won"):
        lines.append(f"{classifier.method} won the comparison by the {won['by']}")
    lines += classifier.details["notes"]
    count = classifier.members
    training = ""
    if "stopped" in classifier.details:
        training = (
            f", {count} network{'s' if count > 1 else ''}, "
            f"{classifier.details['stopped']['updates']} updates, learning rate "
            f"{classifier.details['settings']['learning_rate']:g}"
        )
    if len(classifier.mixture.views) > 1:
        shares = [f"{view.method} {view.weight:.2f}" for view in classifier.mixture.views]
        lines.append(f"weights of the methods: {', '.join(shares)}")
    lines.append(
        f"{classifier.method}{training}, temperature {classifier.temperature:.3g}, prior "
        f"adjustment {classifier.mixture.strength:.3g}; {classifier.details['prior']}"
    )
    return "\n".join([*lines, f"wrote {out}"])
