"""Find what is broken in a folder of HTML pages: links, anchors, pictures, names of the API.

Only what is in the folder is looked at: addresses in the network are left alone, but a page that
would load something from there counts as broken too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

_NAME = re.compile(r"diffclass\w*(\.[a-zA-Z]\w*)+(\(\))?")
_LOADING = {"img": "src", "script": "src", "link": "href", "source": "srcset", "iframe": "src"}


@dataclass
class _Page(HTMLParser):
    """What a page links to, loads, names and offers as anchors."""

    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self._open = [*self._open[-1:], tag]
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        if tag == "a" and "href" in attributes:
            self.links.add(attributes["href"])
        elif attributes.get(_LOADING.get(tag, "")):
            self.loaded.add(attributes[_LOADING[tag]])

    def handle_endtag(self, tag: str) -> None:
        self._open = []

    def handle_data(self, data: str) -> None:
        linked = self._open[:1] == ["a"]
        if self._open[-1:] == ["code"] and not linked and _NAME.fullmatch(data):
            self.names.add(data)


def broken_links(folder: Path) -> list[str]:
    """Return one line for each broken link, picture or name in the pages below `folder`."""
    pages = {path: _read(path) for path in sorted(folder.rglob("*.html"))}
    broken = []
    for path, page in pages.items():
        here = path.relative_to(folder)
        broken += [f"{here}: no such name: {name}" for name in sorted(page.names)]
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
    file, _, anchor = unquote(link).partition("#")
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
