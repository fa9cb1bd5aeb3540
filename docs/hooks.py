"""What the site does with pages that are also read in the repository."""

import re
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[1]
_SOURCE = re.compile(r"\[([^\]]*)\]\(\.\./src/(oddkout/[\w/]+)\.py\)")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")
_IMAGES = {".png", ".svg"}


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Point links to source files at the reference, and add the results to their page."""
    if page.file.src_path == "results.md" and (ROOT / "RESULTS.md").exists():
        markdown = f"{markdown}\n{included((ROOT / 'RESULTS.md').read_text(), config, files)}"
    return _SOURCE.sub(_in_reference, markdown)


def _in_reference(link: re.Match[str]) -> str:
    """A link to the module in the reference; its words alone if the reference leaves it out."""
    words, module = link[1], link[2].replace("/", ".")
    pages = (path.read_text() for path in ROOT.glob("docs/api/*.md"))
    has_module = any(f"::: {module}\n" in page for page in pages)
    return f"[{words}][{module}]" if has_module else words


def included(text: str, config: Any, files: Any) -> str:
    """A page from the top of the repository, with links that work inside the site."""
    from mkdocs.structure.files import File

    def moved(link: re.Match[str]) -> str:
        mark, words, target = link.groups()
        path = PurePosixPath(target.partition("#")[0])
        if path.parts[:1] == ("docs",) and files.get_file_from_path(str(path.relative_to("docs"))):
            return f"{mark}[{words}]({target.removeprefix('docs/')})"
        if path.suffix in _IMAGES and (ROOT / path).is_file():
            if not files.get_file_from_path(str(path)):
                shown = File.generated(config, str(path), abs_src_path=str(ROOT / path))
                files.append(shown)
            return f"{mark}[{words}]({target})"
        return words  # the target is in the repository but not on the site

    return _LINK.sub(moved, re.sub(r"^# .*\n", "", text, count=1))
