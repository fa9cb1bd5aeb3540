"""``oddkout methods``: every method in a sentence, with its publication."""

import json

from oddkout.cli.source import JsonOption
from oddkout.fitting.methods import DEFAULT_METHODS, METHODS, TABLE_METHODS


def methods(is_json: JsonOption = False) -> None:
    """List the methods that compare and train know.

    Defaults of compare are marked: * on all data, + on tables only, - on images only.

    Example: oddkout methods
    """
    if is_json:
        rows = {
            name: {
                "summary": method.summary,
                "source": method.source,
                "balance": method.balance.kind,
                "is_default": name in DEFAULT_METHODS,
                "is_default_for_tables": name in TABLE_METHODS,
            }
            for name, method in METHODS.items()
        }
        print(json.dumps(rows, indent=2))
        return
    for name, method in METHODS.items():
        source = f" ({method.source})" if method.source else ""
        print(f"{_mark(name)} {name:<15}{method.summary}{source}")


def _mark(name: str) -> str:
    """Whether a method is a default of ``compare``, and for what."""
    is_default, is_table_default = name in DEFAULT_METHODS, name in TABLE_METHODS
    if is_default and is_table_default:
        return "*"
    return "+" if is_table_default else "-" if is_default else " "
