"""The protocol of the paper's tables: the hash of its section in ``docs/protocol.md``.

``python -m oddkout.paper.protocol`` prints the hash of the section as it stands.
"""

import re
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from oddkout.comparing.run import Run

SECTION = "The paper's tables (seeds 40 to 44)"

# The hash of the section that this code performs.
PROTOCOL = "072d683d563c"

PAGE = Path(__file__).parents[3] / "docs" / "protocol.md"


def section_hash(page: str) -> str:
    """Hash of the protocol's section of a page; line breaks and other spaces do not matter."""
    found = re.search(
        rf"^## {re.escape(SECTION)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE
    )
    if found is None:
        raise ValueError(f"the page of protocols must have a section {SECTION!r}; restore it")
    return blake2b(" ".join(found[1].split()).encode(), digest_size=6).hexdigest()


def checked_protocol() -> str:
    """The hash of the protocol; raise if the page of this clone has another one."""
    if PAGE.is_file() and (written := section_hash(PAGE.read_text())) != PROTOCOL:
        raise ValueError(
            f"docs/protocol.md must hold the protocol that this version performs ({PROTOCOL}), got "
            f"{written}; restore its section {SECTION!r}, or write a new section with new seeds"
        )
    return PROTOCOL


def one_protocol(runs: Iterable[Run]) -> str:
    """The protocol that all runs follow, or raise; empty if none has one."""
    counts: dict[str, int] = {}
    for run in runs:
        counts[run.protocol] = counts.get(run.protocol, 0) + 1
    if len(counts) > 1:
        listed = ", ".join(f"{name or 'none'} ({count} runs)" for name, count in counts.items())
        raise ValueError(
            f"runs of one table must follow one protocol, got {listed}; leave the runs of other "
            "protocols out"
        )
    return next(iter(counts), "")


if __name__ == "__main__":
    print(section_hash(PAGE.read_text()))
