"""Find what is broken in a folder of HTML pages: links, anchors, pictures, pictures without words.

Only what is in the folder is looked at: addresses in the network are left alone, but a page that
would load something from there counts as broken too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

_FEWEST = 10  # letters of the words for a picture
_LOADING = {"img": "src", "script": "src", "link": "href", "source": "srcset", "iframe": "src"}


@dataclass
class _Page(HTMLParser):
    """What a page links to, loads and offers as anchors, and its pictures without words."""

    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    unspoken: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        if tag == "a" and "href" in attributes:
            self.links.add(attributes["href"])
        elif attributes.get(_LOADING.get(tag, "")):
            self.loaded.add(attributes[_LOADING[tag]])
        if tag == "img" and len(attributes.get("alt", "")) < _FEWEST:
            self.unspoken.add(attributes["src"])


def broken_links(folder: Path) -> list[str]:
    """Return one line for each broken link, picture or name in the pages below `folder`."""
    pages = {path: _read(path) for path in sorted(folder.rglob("*.html"))}
    broken = []
    for path, page in pages.items():
        here = path.relative_to(folder)
        broken += [f"{here}: {name}: no words for it" for name in sorted(page.unspoken)]
        for link in sorted(page.links | page.loaded):
            fault = _fault(path, link, pages, loaded=link in page.loaded)
            broken += [f"{here}: {link}: {fault}"] if fault else []
    return broken


def _fault(path: Path, link: str, pages: dict[Path, _Page], *, loaded: bool) -> str:
    """Return what is wrong with a link of the page at `path`; nothing if it is right."""
    if link.startswith("data:"):
        return ""
    if re.match(r"[a-z]+:|//", link):
        return "loaded from the network" if loaded else ""
    file, _, anchor = re.sub(r"\?.*", "", unquote(link)).partition("#")
    target = (path.parent / file).resolve() if file else path
    if not target.is_file():
        return "no such file"
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return ""


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page
