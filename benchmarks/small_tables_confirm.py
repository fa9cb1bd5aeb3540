"""The estimator on 16 tables that no choice has used, as ``docs/protocol.md`` says.

``python benchmarks/small_tables_confirm.py`` fits what is missing in
``results/small-tables-confirm.jsonl``; ``--page`` prints the summary from these lines alone.
"""

import argparse

import small_tables
from lines import FOLDER, read
from small_tables_page import page
from table_data import CONFIRMATION

FILE = FOLDER / "small-tables-confirm.jsonl"
SEEDS = range(40, 45)


def summary() -> str:
    """What the protocol asks for, from the lines; then the ratios with clipped probabilities."""
    lines = read(FILE)
    clipped = page(lines, tables=CONFIRMATION, metric="nll clipped at 0.0001").splitlines()
    rows = {row.split(" | ")[0]: row.split(" | ")[1] for row in clipped if " | " in row}
    ratios = "; ".join(f"{name} {rows[f'| {name}']}" for name in ("stack", "forest", "ExtraTrees"))
    return (
        f"{page(lines, tables=CONFIRMATION)}\n\nNLL over that of the best peer, if probabilities "
        f"below 0.0001 count as that: {ratios}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="print the summary, fit nothing")
    if parser.parse_args().page:
        print(summary())
        return
    peers = list(small_tables.PEERS)
    small_tables.perform_all(FILE, tables=CONFIRMATION, peers=peers, seeds=SEEDS)


if __name__ == "__main__":
    main()
