"""Guides: they read well in the repository, and get what Sphinx needs besides while it reads them.

A guide with a cell that draws becomes a notebook. Such a cell says in its last line what there is
to see, as in ``# figure: the two moons and their classes``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from shutil import copy2

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
_LISTED = re.compile(r"^(?:.+<)?/(\S+?)>?$", re.MULTILINE)  # in a toctree
_NOTEBOOK = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n"


def gather(pages: Path, names: Iterable[str]) -> dict[str, str]:
    """Copy the guides that pages list, and what these and those show; return the guides' texts."""
    own = "".join((pages / f"{name}.md").read_text("utf-8") for name in names)
    texts = {f"{one}.md": (ROOT / f"{one}.md").read_text("utf-8") for one in _LISTED.findall(own)}
    for guide, text in [("index.md", own), *texts.items()]:
        links = re.findall(r'(?:\]\(|src(?:set)?=")([^")#:]+)', text)
        for file in [ROOT / guide, *((ROOT / guide).parent / link for link in links)]:
            if file.is_file():
                copy = pages / file.resolve().relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy2(file, copy)
    return texts


def pictures(texts: Mapping[str, str]) -> Iterator[tuple[str, str, Path, str]]:
    """Yield the pictures of experiments: the guide, the words, the file, and what makes it."""
    seen = set()
    for guide, text in texts.items():
        for words, link in re.findall(r"!\[(.+?)\]\((.+?)\)", text):
            file = (ROOT / guide).parent.joinpath(link).resolve()
            if file.is_relative_to(ROOT / "experiments") and file not in seen:
                seen.add(file)
                yield guide, words, file.relative_to(ROOT), _maker(file)


def _maker(picture: Path) -> str:
    """Return the command of a picture: of the module of its name, or of one that names the file."""
    modules = sorted(picture.parent.glob("*.py"), key=lambda one: one.stem != picture.stem)
    for one in modules:
        if one.stem == picture.stem or picture.name in one.read_text("utf-8"):
            return f"python -m experiments.{picture.parent.name}.{one.stem}"
    return "diffclass demo"


def prepare(_: Sphinx, name: str, source: list[str]) -> None:
    """Put into a guide what Sphinx needs besides."""
    text = source[0].replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
    text = re.sub("<p>\n<picture>\n(.+?)</picture>\n</p>\n", _variants, text, flags=re.DOTALL)
    if "\n# figure: " in text:
        text = re.sub("^```python\n(.+?)^```$", _cell, text, flags=re.DOTALL | re.MULTILINE)
        note = f"{{nb-download}}`Download this page as a notebook <{Path(name).name}.ipynb>`"
        title, _, rest = text.partition("\n")
        text = f"{_NOTEBOOK}{title}\n\n{note}\n{rest}"
    source[0] = text


def _cell(found: re.Match[str]) -> str:
    code, _, shown = found[1].rstrip().partition("\n# figure: ")
    options = f"---\nmystnb:\n  image:\n    alt: {json.dumps(shown)}\n---\n" if shown else ""
    return f"```{{code-cell}} python\n{options}{code}\n```"


def _variants(found: re.Match[str]) -> str:
    """Return the variants of a picture as images; the theme is not always that of the system."""
    [words] = re.findall('alt="(.+?)"', found[1])
    return "".join(
        f"```{{image}} {file}\n:alt: {words}\n"
        f":class: {'only-dark' if 'dark' in media else 'only-light'} "
        f"{'narrow' if 'max-width' in media else 'wide'}\n```\n"
        for media, file in re.findall('<(?:source media="(.+?)" srcset|img src)="(.+?)"', found[1])
    )
