"""``oddkout reproduce``: the tables, figures and claims of the paper."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from oddkout.cli.execution import AddressOption, ExecutorOption, ProcessesOption, executor_named
from oddkout.cli.progress import grid_progress
from oddkout.cli.recipe import listed
from oddkout.cli.source import JsonOption
from oddkout.comparing.config import RunConfig
from oddkout.comparing.grid import jobs_of
from oddkout.paper.choosing import perform_choice
from oddkout.paper.claims import judged
from oddkout.paper.cost import estimated_seconds
from oddkout.paper.evidence import Evidence
from oddkout.paper.ledger import claims_document, verdict_counts
from oddkout.paper.lines import CommittedStore, merge_lines, read_lines
from oddkout.paper.presets import PRESETS, PROTOCOL_GRID, Preset, preset_named
from oddkout.paper.reproduce import planned, reproduce
from oddkout.paper.reproduction import reproduction_json, write_reproduction
from oddkout.paper.results import write_results
from oddkout.paper.settings import DISTRIBUTIONS, TITLES, setting_of
from oddkout.paper.variants import VARIANTS, variant_of


def reproduce_paper(
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"Grid of runs: {', '.join(PRESETS)}. By default smoke; with --results and "
            "--report or --claims, the whole protocol."
        ),
    ] = None,
    datasets: Annotated[
        str, typer.Option(help=f"Comma-separated data sets: {', '.join(TITLES)}.")
    ] = "",
    distributions: Annotated[
        str,
        typer.Option(help=f"Comma-separated class distributions: {', '.join(DISTRIBUTIONS)}."),
    ] = "",
    sizes: Annotated[str, typer.Option(help="Comma-separated numbers of examples per class.")] = "",
    methods: Annotated[
        str, typer.Option(help=f"Comma-separated methods: {', '.join(VARIANTS)}.")
    ] = "",
    seeds: Annotated[int | None, typer.Option(help="Number of seeds.")] = None,
    updates: Annotated[
        int | None, typer.Option(help="Number of updates, instead of that of the preset.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the runs and the report.")] = Path("runs"),
    results: Annotated[
        Path | None,
        typer.Option(
            help="Folder of committed runs, one line each. Runs found there are not performed "
            "again, new runs are added, and RESULTS.md and docs/results next to it are rewritten."
        ),
    ] = None,
    is_only_missing: Annotated[
        bool,
        typer.Option(
            "--only-missing/--everything",
            help="Whether to skip runs found in RESULTS; runs found in OUT are always skipped.",
        ),
    ] = True,
    is_dry: Annotated[
        bool, typer.Option("--dry-run", help="Print the runs and their estimated cost.")
    ] = False,
    is_report: Annotated[
        bool, typer.Option("--report", help="Report the stored runs; perform none.")
    ] = False,
    is_claims: Annotated[
        bool, typer.Option("--claims", help="Print the ledger of claims; perform no runs.")
    ] = False,
    executor: ExecutorOption = "local",
    address: AddressOption = None,
    processes: ProcessesOption = None,
    is_json: JsonOption = False,
) -> int:
    """Reproduce the paper: its tables and figures, and whether its claims hold.

    Example: oddkout reproduce --preset paper --out runs/paper --results results

    Run the same command again to resume. The exit code is 1 if a run failed.
    """
    if preset is None:
        preset = "protocol" if results is not None and (is_report or is_claims) else "smoke"
    grid = (
        PROTOCOL_GRID
        if preset == "protocol"
        else preset_named(
            preset,
            datasets=listed(datasets),
            distributions=listed(distributions),
            sizes=[_whole(size) for size in listed(sizes)],
            variants=listed(methods),
            seeds=seeds,
            updates=updates,
        )
    )
    is_stored = is_report or is_claims
    if results is not None and not results.is_dir() and (is_stored or results.exists()):
        raise ValueError(f"--results must be a folder of committed runs, got {results}")
    is_known = results is not None and (is_only_missing or is_stored)
    lines = read_lines(results) if results is not None and is_known else []
    compared = read_lines(results, kind="choices") if results is not None and is_known else []
    store = CommittedStore(out, lines)
    choices_store = CommittedStore(out / "choices", compared)
    if is_dry:
        return _print_plan(grid, store, choices_store, is_json=is_json)
    if not is_stored:
        where: dict[str, Any] = {"address": address, "processes": processes, "folder": out}
        with grid_progress() as progress:
            reproduce(
                grid,
                store,
                choices_store=choices_store,
                executor=executor_named(executor, **where),
                chooser=executor_named(executor, **where, perform=perform_choice),
                progress=progress,
            )
    evidence = Evidence(store.all_runs(), grid)
    if is_claims:
        ledger = judged(evidence)
        if is_json:
            print(json.dumps([item.to_dict() for item in ledger]))
        else:
            print(claims_document(ledger).markdown(), end="")
        return 0
    folder = out / f"reproduction-{grid.name}"
    absent = write_reproduction(evidence, folder)
    if results is not None:
        merge_lines(results, [*evidence.trained, *evidence.failed])
        merge_lines(results, choices_store.all_runs(), kind="choices")
        write_results(results)
    if is_json:
        print(json.dumps(reproduction_json(evidence)))
    else:
        print(f"{len(evidence.trained)} runs, {len(evidence.failed)} failed: {folder}/results.md")
        print(f"claims: {verdict_counts(judged(evidence))}")
        for name, reason in absent.items():
            print(f"figure {name} is missing: {reason}")
        if results is not None:
            print(f"wrote {results.parent / 'RESULTS.md'} and docs/results, from {results}")
    return 1 if evidence.failed else 0


def _print_plan(
    grid: Preset, store: CommittedStore, choices_store: CommittedStore, *, is_json: bool
) -> int:
    """Print the runs of a grid, their number, and the estimated cost of the missing ones."""
    choosing, configs = planned(grid)
    missing = choices_store.missing(choosing), _missing(grid, store, configs)
    hours = [estimated_seconds(own) / 3600 for own in missing]
    if is_json:
        plan: dict[str, Any] = {
            "preset": grid.name,
            "runs": [config.to_dict() | {"id": config.id} for config in configs],
            "choices": len(choosing),
            "missing": len(missing[1]),
            "cpu_hours": sum(hours),
        }
        print(json.dumps(plan))
        return 0
    rows = Counter(
        f"{setting_of(config)}: {variant_of(config)}, {config.updates} updates of "
        f"{config.examples} examples" + (f", {config.folds} folds" if config.folds else "")
        for config in (*choosing, *configs)
    )
    for row, count in rows.items():
        print(f"{count:4d} x {row}")
    if choosing:
        print(
            f"{len(choosing)} fits for the choices, {len(missing[0])} of them missing, which take "
            f"about {hours[0]:.2f} CPU-hours; which ones they are depends on what is chosen"
        )
    print(
        f"{len(configs)} runs of {len(jobs_of(configs))} trainings, {len(missing[1])} of them "
        f"missing, which take about {hours[1]:.2f} CPU-hours, estimated by a short measurement on "
        "this machine"
    )
    return 0


def _missing(grid: Preset, store: CommittedStore, configs: list[RunConfig]) -> list[RunConfig]:
    """The configs without a run, whatever was chosen for them."""
    known = Evidence(store.all_runs(), grid)
    done = {
        (setting_of(run.config), variant_of(run.config), run.config.seed)
        for run in (*known.trained, *known.failed)
    }
    return [
        config
        for config in configs
        if (setting_of(config), variant_of(config), config.seed) not in done
    ]


def _whole(text: str) -> int:
    """A whole number, or raise."""
    if not text.isdigit():
        raise ValueError(f"--sizes must be whole numbers separated by commas, got {text!r}")
    return int(text)
