"""``oddkout methods``: every method in a sentence, with its publication."""

import json

from oddkout.cli.source import JsonOption
from oddkout.fitting.methods import DEFAULT_METHODS, METHODS


def methods(is_json: JsonOption = False) -> None:
    """List the methods that compare and train know; a star marks the default of compare.

    Example: oddkout methods
    """
    if is_json:
        rows = {
            name: {
                "summary": method.summary,
                "source": method.source,
                "balance": method.balance.kind,
                "is_default": name in DEFAULT_METHODS,
            }
            for name, method in METHODS.items()
        }
        print(json.dumps(rows, indent=2))
        return
    for name, method in METHODS.items():
        mark = "*" if name in DEFAULT_METHODS else " "
        source = f" ({method.source})" if method.source else ""
        print(f"{mark} {name:<15}{method.summary}{source}")
