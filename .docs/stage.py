"""What Sphinx reads: guides, tutorials and pages of the reference, made from the repository.

Guides read well in the repository, and links between them lead to files there. Python of a guide
with a cell that draws is run as a notebook; such a cell says in its last line what there is to see,
as in ``# figure: the two moons and their classes``.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from names import PACKAGES, Names, is_code

DEMO = Path("experiments/coifman_2005/tissue.png")
FIGURES = "experiments/results/figures.md"
GALLERY = """\
# Gallery

The scenes, and the figures of the papers, each with the command that makes it. A card leads to the
page that explains its picture.

"""
COMMANDS = """\
Commands
========

.. click:: diffclass.command_line.main:diffclass
   :prog: diffclass
   :nested: full
"""
DRAWS = "\n# figure: "
_CELL = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r'(?:\]\(|src(?:set)?=")([^")#:]+)')
_PICTURE = re.compile(r"(?:<p>\n)?<picture>\n(.*?)</picture>\n(?:</p>\n)?", re.DOTALL)
_LISTED = re.compile(r"^(?:.+<)?/(\S+?)>?$", re.MULTILINE)  # in a toctree
_SHOWN = re.compile(r"!\[(.+?)\]\((.+?)\)")
_FIGURE = re.compile(r"^\|[^|]*\|[^|]*\| `(\w+\.\w+)` \| ([^|]+) \|", re.MULTILINE)
_NOTEBOOK = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n"


def stage(root: Path, pages: Path, names: Names) -> dict[str, str]:
    """Put all pages into the folder `pages`; return the texts of the guides by their paths."""
    texts = {}
    for page in ("index", "start", "guides", "tutorials", "results", "project"):
        text = (pages / f"{page}.md").read_text("utf-8")
        copy_shown(root, root, text, pages)
        guides = [f"{guide}.md" for guide in _LISTED.findall(text)]
        texts |= {guide: stage_guide(root, guide, pages) for guide in guides}
    write(pages / "gallery.md", gallery(root, texts))
    stage_reference(names, pages / "reference")
    return texts


def gallery(root: Path, texts: Mapping[str, str]) -> str:
    """Return a page of cards: the pictures of experiments, each with the command that makes it."""
    rows = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", texts[FIGURES])  # a card is a link itself
    told, cards, seen = dict(_FIGURE.findall(rows)), {}, set()
    for guide, text in texts.items():
        for words, link in _SHOWN.findall(text):
            file = (root / guide).parent.joinpath(link).resolve().relative_to(root)
            if file in seen or file.parts[0] != "experiments":
                continue
            seen.add(file)
            part = words.partition(", ")[0] if guide == FIGURES else "Scenes and measurements"
            made = _maker(root, file)
            what = told.get(made.removeprefix("python -m experiments."), "")
            cards.setdefault(part, []).append(
                f":::{{grid-item-card}} {words}\n:img-top: {file}\n:img-alt: {words}\n"
                f":link: /{guide.removesuffix('.md')}\n:link-type: doc\n\n{what}\n\n"
                f"`{made}`\n:::\n"
            )
    parts = (
        f"## {part}\n\n::::{{grid}} 1 1 2 2\n:gutter: 3\n\n{''.join(these)}::::\n"
        for part, these in cards.items()
    )
    return GALLERY + "\n".join(parts)


def _maker(root: Path, picture: Path) -> str:
    """Return the command of a picture: of the module of its name, or of one that names the file."""
    if picture == DEMO:
        return "diffclass demo"
    modules = sorted((root / picture.parent).glob("*.py"))
    named = [one for one in modules if one.stem == picture.stem]
    named += [one for one in modules if picture.name in one.read_text("utf-8")]
    return f"python -m experiments.{picture.parent.name}.{named[0].stem}"


def write(path: Path, text: str) -> None:
    """Write a page whose text has changed: Sphinx reads anew what is new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def stage_guide(root: Path, path: str, pages: Path) -> str:
    """Put a guide and what it shows into the folder `pages`; return its text."""
    text = source = (root / path).read_text("utf-8")
    copy_shown(root, (root / path).parent, text, pages)
    text = text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
    text = re.sub("^```console$", "```bash", text, flags=re.MULTILINE)
    text = _PICTURE.sub(_picture, text)
    if DRAWS in text:
        name = Path(path).stem
        text = _NOTEBOOK + _CELL.sub(_cell, text)
        note = f"{{nb-download}}`Download this page as a notebook <{name}.ipynb>`"
        text = re.sub(r"^(# .+\n)", rf"\1\n{note}\n", text, count=1, flags=re.MULTILINE)
    write(pages / path, text)
    return source


def copy_shown(root: Path, folder: Path, text: str, pages: Path) -> None:
    """Copy the files that a text shows or links to, by names that hold in a folder."""
    for link in _FILE.findall(text):
        file = folder / link
        if file.is_file() and file.suffix != ".md":
            target = pages / file.resolve().relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)


def _picture(found: re.Match[str]) -> str:
    """Return the variants of a picture as images; the theme is not always that of the system."""
    sources = re.findall(r'<source media="(.+?)" srcset="(.+?)">', found[1])
    [(wide, alternative)] = re.findall(r'<img src="(.+?)" alt="(.+?)">', found[1])
    return "\n".join(
        f"```{{image}} {file}\n:alt: {alternative}\n"
        f":class: {'only-dark' if 'dark' in media else 'only-light'} "
        f"{'narrow' if 'max-width' in media else 'wide'}\n```"
        for media, file in [*sources, ("", wide)]
    )


def _cell(found: re.Match[str]) -> str:
    code, _, shown = found[1].rstrip().partition(DRAWS)
    options = f"---\nmystnb:\n  image:\n    alt: '{shown.replace(chr(39), chr(39) * 2)}'\n---\n"
    return f"```{{code-cell}} python\n{options if shown else ''}{code}\n```"


def stage_reference(names: Names, folder: Path) -> None:
    """Write a page for each public module, and one for the commands."""
    write(folder / "commands.rst", COMMANDS)
    for module, members in names.documented.items():
        inner = [one for one in names.documented if one.startswith(f"{module}.")]
        short = module if module in PACKAGES else module.partition(".")[2]
        lines = [short, "=" * len(short), "", f".. automodule:: {module}"]
        documented = [name for name, value in members.items() if is_code(value)]
        if documented:
            lines.append(f"   :members: {', '.join(documented)}")
        lines += ["", f".. py:currentmodule:: {module}"]
        for name in sorted(members.keys() - {*documented, "__version__"}):
            lines += ["", f".. py:data:: {name}", *_value(members[name])]
        elsewhere = _elsewhere(names, module)
        if elsewhere:
            lines += [
                "",
                ".. currentmodule:: None",
                "",
                ".. autosummary::",
                "   :nosignatures:",
                "",
                *(f"   ~{one}" for one in elsewhere),
            ]
        if inner and module in PACKAGES:
            lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {one}" for one in inner)]
        write(folder / f"{module}.rst", "\n".join(lines) + "\n")


def _elsewhere(names: Names, module: str) -> list[str]:
    """Return the places of what a module exports and another one documents."""
    places = {f"{module}.{name}": names.places.get(f"{module}.{name}") for name in
              __import__(module, fromlist=["__all__"]).__all__}  # fmt: skip
    return sorted(place for name, place in places.items() if place and place != name)


def _value(constant: object) -> list[str]:
    text = repr(constant)
    return [f"   :value: {text}"] if len(text) < 100 and " at 0x" not in text else []
