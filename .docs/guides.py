"""Guides: Markdown files that read well in the repository, turned into pages of the site.

Links lead to files of the repository; on the site they lead to the pages made of these: a guide's
page, the API page of a module or package, else a copy of the file itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from posixpath import normpath

from latex2mathml.converter import convert as latex_to_mathml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from names import relative
from pdoc.doc import Module
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

FORMULA = "formula-{}-of-this-page"


class GuideError(ValueError):
    """A guide that cannot be made into a page, or a site that cannot be written."""


@dataclass
class Guide:
    """One guide as a page.

    Attributes
    ----------
    path, page : str
        Of the Markdown file in the repository and of the page in the site.
    title : str
        In the list of guides.
    html : str
        Body of the page.
    contents : list of (str, str)
        Anchor and text of the sections.
    files : set of str
        Files of the repository that the page needs next to it.
    sections : list of (str, str, str)
        Anchor, title and text, without tables and code, of each section; for the search.
    names : list of (str, str)
        Anchor of the section and name, for each in backquotes and each that code imports.
    made : dict of str to bytes
        Files beside the page that are made with it, by their names.
    """

    path: str
    page: str
    title: str
    html: str = ""
    contents: list[tuple[str, str]] = field(default_factory=list)
    sections: list[tuple[str, str, str]] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    made: dict[str, bytes] = field(default_factory=dict)


def page_of(path: str) -> str:
    """Return the page of a Markdown file: the overview's is the site's first."""
    return "index.html" if path == "README.md" else str(PurePosixPath(path).with_suffix(".html"))


def read_guide(
    root: Path,
    path: str,
    title: str,
    modules: Mapping[str, Module],
    *,
    text: str | None = None,
    made: Mapping[str, bytes] | None = None,
) -> Guide:
    """Read the Markdown file `path` below `root` and make it a page.

    - `text`: in place of the file's own
    - `made`: files beside the page that it links to and that are not in the repository
    """
    guide = Guide(path=path, page=page_of(path), title=title, made=dict(made or {}))
    markdown = MarkdownIt("commonmark", {"highlight": highlighted}).enable("table")
    text = (root / path).read_text(encoding="utf-8") if text is None else text
    text, formulas = without_formulas(text) if "$$" in text else (text, [])
    tokens = markdown.parse(text)
    add_anchors(guide, tokens)
    guide.sections = sections_of(tokens)
    guide.names = list(names_in(tokens))
    for block in tokens:
        if block.type == "html_block":  # its links hold as they are: pages lie where guides do
            for link in re.findall(r'\bsrc(?:set)?="([^"]+)"', block.content):
                target(root, guide, link, modules)
    for token in (child for block in tokens for child in block.children or ()):
        if token.type == "link_open":
            token.attrs["href"] = target(root, guide, str(token.attrs["href"]), modules)
        elif token.type == "image":
            token.attrs["src"] = target(root, guide, str(token.attrs["src"]), modules)
        elif token.type == "text":  # numbers keep their spread on their line
            token.content = token.content.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
    guide.html = markdown.renderer.render(tokens, markdown.options, {})
    for number, formula in enumerate(formulas):
        guide.html = guide.html.replace(FORMULA.format(number), formula)
    return guide


def without_formulas(text: str) -> tuple[str, list[str]]:
    """Return a text with a mark in place of each $formula$ or $$formula$$, and these as MathML."""
    formulas: list[str] = []

    def marked(found: re.Match[str]) -> str:
        display = "block" if found[1] else "inline"
        formulas.append(latex_to_mathml(found[1] or found[2], display=display))
        return FORMULA.format(len(formulas) - 1)

    return re.sub(r"\$\$(.+?)\$\$|\$([^$\n`]+)\$", marked, text), formulas


def add_anchors(guide: Guide, tokens: list[Token]) -> None:
    """Give headings the anchors that GitHub gives them and list them as the guide's contents."""
    taken: dict[str, int] = {}
    for token, inline in pairwise(tokens):
        if token.type != "heading_open":
            continue
        text = "".join(child.content for child in inline.children or ())
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        taken[anchor] = taken.get(anchor, -1) + 1
        anchor += f"-{taken[anchor]}" if taken[anchor] else ""
        token.attrs["id"] = anchor
        if token.tag == "h2":
            guide.contents.append((anchor, text))


def sections_of(tokens: list[Token]) -> list[tuple[str, str, str]]:
    """Return anchor, title and text of each section, what stands in tables left out."""
    sections: list[tuple[str, str, list[str]]] = []
    is_table = False
    for before, token in pairwise(tokens):
        is_table = (is_table or before.type == "table_open") and before.type != "table_close"
        if token.type != "inline":
            continue
        text = "".join(child.content or " " for child in token.children or ())
        if before.type == "heading_open":
            sections.append((str(before.attrs["id"]), text, []))
        elif sections and not is_table:
            sections[-1][2].append(text)
    return [(anchor, title, " ".join(texts)) for anchor, title, texts in sections]


def names_in(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    """Yield section and name for each name, called or not, in backquotes or imported by code."""
    section = ""
    for token in tokens:
        section = str(token.attrs.get("id", section))
        if token.type == "fence" and token.info == "python":
            for node in ast.walk(ast.parse(token.content)):
                if isinstance(node, ast.ImportFrom):
                    yield from ((section, f"{node.module}.{one.name}") for one in node.names)
        for child in token.children or ():
            if child.type == "code_inline":
                yield section, child.content.partition("(")[0]


def target(root: Path, guide: Guide, link: str, modules: Mapping[str, Module]) -> str:
    """Return where on the site a guide's link leads; keep the file that it needs."""
    if re.match(r"[a-z]+:", link) or link.startswith("#") or link in guide.made:
        return link
    file, hash_sign, anchor = link.partition("#")
    path = normpath((PurePosixPath(guide.path).parent / file).as_posix())
    if path.startswith("..") or not (root / path).exists():
        raise GuideError(f"{guide.path} links to {link}: there is no such file")
    module = path.removeprefix("plugins/").removesuffix(".py").replace("/", ".")
    if module in modules:
        page = f"{module.replace('.', '/')}.html"
    elif path.endswith(".md"):
        page = page_of(path)
    elif (root / path).is_file():
        page = path
        guide.files.add(path)
    else:
        raise GuideError(f"{guide.path} links to the folder {link}: link to a file in it")
    return relative(page, guide.page) + hash_sign + anchor


def highlighted(code: str, language: str, attributes: str) -> str:
    """Return a block of code in colours; of no language as it is."""
    if not language:
        return ""
    lexer = get_lexer_by_name("bash" if language == "console" else language)
    formatter = HtmlFormatter(cssclass="pdoc-code codehilite")
    # what begins with <pre is taken as it is, without another <pre><code> around it
    return f"<pre hidden></pre>{highlight(code, lexer, formatter)}"
