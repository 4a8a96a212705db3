"""Build the site: the guides, and the API reference from the docstrings.

    python .docs/build.py -o site

The reference has a page for each package and each chapter (a package or module directly inside a
package) that lists public names in ``__all__``. Modules inside a chapter have no page: what a
chapter exports is documented on the chapter's page.

Whatever is wrong ends the build with a message and exit code 1: a warning, a link to a file that is
not there, an anchor or a name that does not exist. The pages load nothing from the network.
"""

from __future__ import annotations

import argparse
import html
import importlib
import io
import json
import pkgutil
import re
import shutil
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import markdown2
import pdoc.render
from check_links import broken_links
from guides import Guide, GuideError, read_guide
from names import Place, give_homes, link_names, page_of, places_of, relative
from notebooks import DRAWS, notebook_of, run, with_outputs
from pdoc.doc import Doc, Module
from pdoc.render_helpers import markdown_extensions, markdown_link_patterns
from PIL import Image
from pygments.formatters import HtmlFormatter
from relations import Relations, relations_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("diffclass", "diffclass_hyperspectral", "diffclass_relabel", "diffclass_tables")
MARKER = ".diffclass-site"
MOST_LINKS = 6  # in a row
PART = "\N{EN DASH} "  # before the titles of parts of a guide
GUIDES = {
    "README.md": "Overview",
    "diffclass/README.md": "The core",
    "diffclass/DECISIONS.md": "Decisions",
    "plugins/README.md": "Scenes and relabelling",
    "plugins/TABLES.md": "Tables",
    "guide/which.md": "Which one do I take?",
    "guide/how_long.md": "How long does it take?",
    "guide/how_it_works.md": "How it works",
    "guide/questions.md": "Questions",
    "guide/data.md": "Data",
    "guide/papers.md": "The papers, item by item",
    "guide/applications.md": "Applications that the papers name",
    "experiments/README.md": "Results",
    "experiments/results/accuracy.md": f"{PART}Accuracy",
    "experiments/results/options.md": f"{PART}What each part adds",
    "experiments/results/probabilities.md": f"{PART}Probabilities",
    "experiments/results/suggestions.md": f"{PART}Suggestions",
    "experiments/results/scenes.md": f"{PART}Scenes without labels",
    "experiments/results/speed.md": f"{PART}Speed",
    "experiments/results/scale.md": f"{PART}Scale",
    "experiments/results/page.md": f"{PART}Drawings of tables",
    "experiments/results/figures.md": f"{PART}Figures of the papers",
    "tests/README.md": "Tests",
    "CHANGELOG.md": "Changes",
}

TUTORIALS = {
    "digits": "Digits with ten labels",
    "scene": "A scene, from file to map",
    "page": "A session on the page",
    "embeddings": "Embeddings and tables",
    "diffusion_maps": "Diffusion maps",
    "bandwidth": "Bandwidth and dimension",
    "shaped_kernels": "Shaped kernels and warping",
    "clusters": "Clusters and anomalies",
    "beyond_memory": "Beyond memory",
    "parts": "Parts of your own",
}


def main() -> int:
    """Build the site and print the result; return the exit code."""
    parser = argparse.ArgumentParser(description="Build the site of guides and API reference.")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "site")
    output = parser.parse_args().output
    warnings.simplefilter("error")
    # a TypedDict made by a call has its fields nowhere in the source; the assumption is right
    warnings.filterwarnings("ignore", "Cannot determine where .* assuming current file")
    sys.path[:0] = [str(ROOT), str(ROOT / "plugins")]
    try:
        n_pages = build(output)
    except GuideError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    broken = broken_links(output)
    print(*broken, sep="\n", file=sys.stderr)
    print(f"{output}: {n_pages} pages, {len(broken)} broken links")
    return 1 if broken else 0


def build(output: Path) -> int:
    """Write all pages to the folder `output`, which is emptied before; return their number."""
    clear(output)
    modules = {name: Module.from_name(name) for name in public_modules()}
    homes = give_homes(modules)
    guides = [page_made_of(path, title, modules) for path, title in GUIDES.items()]
    tutorials = [
        page_made_of(f"guide/tutorials/{name}.md", title, modules)
        for name, title in TUTORIALS.items()
    ]
    places = places_of(modules, homes)
    relations = relations_of(modules, [*guides, *tutorials], places)
    configure(guides, tutorials, homes, relations)
    guides = [*guides, *tutorials]
    pages = {guide.page: rendered(guide) for guide in guides}
    for name, module in modules.items():
        pages[f"{name.replace('.', '/')}.html"] = pdoc.render.html_module(module, modules)
    write(output / "search.js", pdoc.render.search_index(modules))
    styles: dict[str, str] = {}
    for page, content in pages.items():
        write(output / page, with_shared_styles(link_names(content, page, places), page, styles))
    for style, name in styles.items():
        write(output / name, style)
    for guide in guides:
        for file in guide.files:
            copy(ROOT / file, output / file)
        for name, content in guide.made.items():
            (output / guide.page).with_name(name).write_bytes(content)
    for picture in output.rglob("*.png"):
        shrink(picture)
    return len(pages)


def page_made_of(path: str, title: str, modules: Mapping[str, Module]) -> Guide:
    """Make a guide a page; one that draws is run first."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if DRAWS not in text:
        return read_guide(ROOT, path, title, modules)
    notebook = notebook_of(text)
    run(notebook, path)
    text, made = with_outputs(notebook, path)
    return read_guide(ROOT, path, title, modules, text=text, made=made)


def clear(output: Path) -> None:
    """Remove an earlier site; any other folder with something in it is refused."""
    if output.is_file():
        raise GuideError(f"{output} is a file; give a folder with -o")
    if output.exists() and any(output.iterdir()):
        if not (output / MARKER).exists():
            raise GuideError(f"{output} is not empty and no site; give another folder with -o")
        shutil.rmtree(output)
    write(output / MARKER, "made by .docs/build.py, which replaces all of it\n")


def public_modules() -> list[str]:
    """Return the names of the packages and of their chapters that have an ``__all__``."""
    names = []
    for package in map(importlib.import_module, PACKAGES):
        load_names(package)
        names.append(package.__name__)
        for name in modules_in(package):
            chapter = importlib.import_module(name)
            if load_names(chapter):
                names.append(name)
            elif hasattr(chapter, "__path__"):  # a folder, whose modules are chapters
                inner = map(importlib.import_module, modules_in(chapter))
                names += [module.__name__ for module in inner if load_names(module)]
    return names


def modules_in(package: ModuleType) -> list[str]:
    """Return the names of the modules of a package, those that begin with _ left out."""
    found = pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    return [info.name for info in found if "._" not in info.name]


def load_names(module: ModuleType) -> bool:
    """Load the names that a module exports lazily; return whether it exports any."""
    exported = getattr(module, "__all__", ())
    for name in exported:
        setattr(module, name, getattr(module, name))
    return bool(exported)


def configure(
    guides: list[Guide],
    tutorials: list[Guide],
    homes: Mapping[Place, Place],
    relations: Relations,
) -> None:
    """Give pdoc our templates, and the templates what every page links to."""
    pdoc.render.configure(
        docformat="numpy",
        template_directory=Path(__file__).parent / "templates",
        show_source=False,  # half of the site's bytes, and a click away in the repository
    )
    dark_code_css = HtmlFormatter(style="github-dark").get_style_defs(".pdoc-code")
    pdoc.render.env.globals.update(
        guides=guides, tutorials=tutorials, packages=PACKAGES, dark_code_css=dark_code_css
    )
    pdoc.render.env.filters["to_html"] = docstring_html
    pdoc.render.env.filters["home"] = lambda place: homes.get(tuple(place), tuple(place))
    pdoc.render.env.filters["rows"] = lambda doc: rows_of(doc, relations)
    # the browser builds the index in a quarter of a second; built here it is three times as large
    sections = [section for guide in [*guides, *tutorials] for section in searched(guide)]
    pdoc.render.precompile_index = lambda documents, _: json.dumps([*documents, *sections])


def searched(guide: Guide) -> list[dict[str, str]]:
    """Return the sections of a guide as the search knows pages: by module and name in it."""
    page = guide.page.removesuffix(".html").replace("/", ".")
    return [
        {
            "fullname": f"{guide.title.removeprefix(PART)}: {title}",
            "modulename": page,
            "qualname": anchor,
            "kind": "guide",
            "doc": html.escape(text),
        }
        for anchor, title, text in guide.sections
    ]


def rows_of(doc: Doc, relations: Relations) -> list[tuple[str, list[tuple[str, str]], int]]:
    """Return what a name belongs with: headings, addresses and texts, and how many are left out."""
    page = page_of(doc.taken_from[0])
    found = relations.get(f"{page}#{doc.qualname}", {})
    return [
        (
            heading,
            [(relative(place, page), text) for place, text in links.items()][:MOST_LINKS],
            max(len(links) - MOST_LINKS, 0),
        )
        for heading, links in found.items()
    ]


def docstring_html(text: str) -> str:
    """Return a docstring's Markdown as HTML in which <chi, pi> is a product and no tag."""
    return markdown2.markdown(
        text,
        extras=markdown_extensions,
        link_patterns=markdown_link_patterns,
        safe_mode="escape",
    )


def rendered(guide: Guide) -> str:
    """Return the page of a guide."""
    template = pdoc.render.env.get_template("guide.html.jinja2")
    return template.render(guide=guide, depth=guide.page.count("/"))


def with_shared_styles(page: str, path: str, styles: dict[str, str]) -> str:
    """Return a page with links in place of its styles, which are added by their content."""

    def linked(found: re.Match[str]) -> str:
        name = styles.setdefault(found[1], f"style_{len(styles) + 1}.css")
        return f'<link rel="stylesheet" href="{relative(name, path)}">'

    return re.sub(r"<style>(.*?)</style>", linked, page, flags=re.DOTALL)


def shrink(picture: Path) -> None:
    """Write a picture with 256 colours, if it is smaller then."""
    with Image.open(picture) as image:
        few = image.convert("RGBA").quantize(256, Image.Quantize.FASTOCTREE, dither=0)
    small = io.BytesIO()
    few.save(small, format="PNG", optimize=True)
    if len(small.getvalue()) < picture.stat().st_size:
        picture.write_bytes(small.getvalue())


def without_indentation(page: str) -> str:
    """Return a page without that of its templates, a twelfth of its bytes; code keeps its own."""
    parts = re.split(r"(<pre.*?</pre>)", page, flags=re.DOTALL)
    parts[::2] = [re.sub(r"\n\s+", "\n", part) for part in parts[::2]]
    return "".join(parts)


def write(path: Path, text: str) -> None:
    """Write a page, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(without_indentation(text) if path.suffix == ".html" else text, encoding="utf-8")


def copy(source: Path, target: Path) -> None:
    """Copy a file that a guide shows or links to."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


if __name__ == "__main__":
    sys.exit(main())
