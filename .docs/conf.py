"""The site: the guides as they stand in the repository, and the reference of every public name.

    python -m sphinx -W -c .docs .docs/pages site

Before Sphinx reads `pages`, the guides that these list are copied there with what they show, and
the gallery and a page for each public module are written by `templates`.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.request import urlopen

import nbformat
from docutils import nodes
from docutils.parsers.rst.states import Inliner
from jinja2 import Environment, FileSystemLoader
from latex2mathml.converter import convert as mathml
from numpydoc.xref import DEFAULT_LINKS
from PIL import Image
from pygments.lexers import BashLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ["PYTHONWARNINGS"] = "error::UserWarning"  # of the notebooks' kernels

from guides import ROOT, gather, pictures, prepare  # noqa: E402
from names import DOCUMENTED, PACKAGES, PLACES, is_code, relations  # noqa: E402

import diffclass  # noqa: E402

PAGES, CACHE = HERE / "pages", HERE / "cache"
TEXTS = gather(PAGES, ("index", "start", "guides", "tutorials", "results", "project"))
FIGURES = "experiments/results/figures.md"
NO_GUIDES = ("experiments/", "tests/", "CHANGELOG")
RELATIONS = relations({one: TEXTS[one] for one in TEXTS if not one.startswith(NO_GUIDES)})
TEMPLATES = Environment(loader=FileSystemLoader(HERE / "templates"), trim_blocks=True)


def write(page: str, template: str, **content: Any) -> None:
    """Write a page by a template."""
    (PAGES / page).write_text(TEMPLATES.get_template(template).render(content), "utf-8")


rows = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", TEXTS[FIGURES])  # a card is a link itself
told = dict(re.findall(r"^\|[^|]*\|[^|]*\| `(\w+\.\w+)` \| ([^|]+) \|", rows, re.MULTILINE))
write("gallery.md", "gallery.md", pictures=pictures(TEXTS), figures=FIGURES, told=told)
for module, members in DOCUMENTED.items():
    elsewhere = (PLACES[f"{module}.{name}"] for name in {*sys.modules[module].__all__} - {*members})
    code = [name for name, value in members.items() if is_code(value)]
    content = {"module": module, "members": members, "code": code, "packages": PACKAGES}
    write(f"reference/{module}.rst", "module.rst", elsewhere=sorted(elsewhere), **content)


project, author = "diffclass", "The diffclass developers"
version = release = diffclass.__version__
copyright = author
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_nb",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
]
include_patterns = ["*.md", "reference/*.rst", *TEXTS]
root_doc = "index"
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!diffclass).*")]
default_role = "code"
smartquotes = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 6
sources = sorted([*ROOT.glob("diffclass/**/*.py"), *ROOT.glob("plugins/diffclass_*/**/*.py")])
EXECUTED = CACHE / hashlib.sha256(b"".join(one.read_bytes() for one in sources)).hexdigest()[:16]
for outdated in {*CACHE.glob("?" * 16)} - {EXECUTED}:  # the outputs of notebooks by older code
    rmtree(outdated)
nb_execution_mode = "cache"
nb_execution_cache_path = str(EXECUTED)
nb_execution_in_temp = True
nb_execution_excludepatterns = os.environ.get("RUN_ELSEWHERE", "").split()
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

autosummary_generate = False
autodoc_default_options = {  # the requests of metadata that scikit-learn gives its estimators
    "exclude-members": ",".join(
        f"set_{one}_request" for one in ("fit", "predict", "score", "transform")
    )
}
autodoc_typehints = "none"  # docstrings say more: shapes and units
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"

SITES = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "sklearn": "https://scikit-learn.org/stable/",
}
intersphinx_mapping = {}
with suppress(OSError):  # without a network their names are no links
    urlopen(f"{SITES['numpy']}objects.inv", timeout=3).close()
    intersphinx_mapping = {name: (site, None) for name, site in SITES.items()}
numpydoc_xref_aliases = {one: PLACES[one] for one in PLACES if re.fullmatch(r"[A-Z]\w*", one)}
numpydoc_xref_aliases |= {} if intersphinx_mapping else {word: word for word in DEFAULT_LINKS}

html_theme = "pydata_sphinx_theme"
html_title = "diffclass"
html_static_path = [str(PAGES / "static")]
html_css_files = ["custom.css"]
html_copy_source = html_show_sourcelink = html_use_index = html_domain_indices = False
html_sidebars = {"index": []}
html_math_renderer = "mathml"
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}


class LinkNames(SphinxTransform):
    """Lead from names, in backquotes and in references, to where they are documented."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Go through a page."""
        for link in self.document.findall(addnodes.pending_xref):
            name = link["reftarget"]
            if link["refdomain"] == "py":
                here = f"{link.get('py:module')}.{name}"
                link["reftarget"] = PLACES.get(here) or PLACES.get(name, name)
        for node in [*self.document.findall(nodes.literal)]:
            name, around = node.astext().removesuffix("()"), [*described(node)]
            spoken = [*(f"{one}.{name}" for one in around), name]
            place = next((PLACES[one] for one in spoken if one in PLACES), None)
            if re.fullmatch(r"(diffclass\w*|numpy|scipy|sklearn)(\.[a-zA-Z]\w*)+", name):
                place = place or name  # Sphinx tells if there is no such name
            is_link = isinstance(node.parent, nodes.reference | addnodes.pending_xref)
            if place and place not in around and not is_link:
                link = addnodes.pending_xref(
                    "", node.deepcopy(), refdomain="py", reftype="obj", reftarget=place,
                    refdoc=self.env.docname, refexplicit=True, refwarn=True,
                )  # fmt: skip
                node.replace_self(link)


def described(node: nodes.Node) -> Iterator[str]:
    """Yield the names of the method and of the class that a node describes."""
    while node := node.parent:
        if isinstance(node, addnodes.desc):
            yield from node[0].get("ids", [])[:1]


def add_relations(app: Sphinx, what: str, name: str, *rest: Any) -> None:
    """Say at the end of a docstring what returns, takes and explains a name."""
    lines = rest[-1]
    rows = []
    for heading, links in RELATIONS.get(name, {}).items():
        more = f" and {len(links) - 6} more" if len(links) > 6 else ""
        rows.append(f":{heading}: {', '.join(links[:6])}{more}")
    lines += ["", *rows, ""]


def _as_text(_: Any, match: re.Match[str], line: int) -> tuple[str, list[nodes.Node], str, list]:
    end = match.end("start") if match["start"] else match.end("whole")
    return match.string[:end], [], match.string[end:], []


# docstrings have absolute values and names such as tau_, and neither substitutions nor targets
Inliner.dispatch |= {"|": _as_text, "_": _as_text, "__": _as_text}


def write_formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers show without a script."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    translator.body.append(mathml(node.astext(), display=display))
    raise nodes.SkipNode


def place_notebooks(app: Sphinx) -> None:
    """Have what notebooks draw kept beside their cache."""
    app.env.mystnb_config = app.env.mystnb_config.copy(output_folder=str(CACHE / "notebooks"))


def finish(app: Sphinx, error: Exception | None) -> None:
    """See that each page is there, and leave out what no reader needs."""
    if error:
        return
    for name in app.env.found_docs:  # Sphinx does not tell if a process that writes has failed
        if not Path(app.builder.get_output_path(name)).exists():
            raise ExtensionError(f"{name} was not written; -j 1 shows why")
    for file in [*app.outdir.rglob("*.map"), *app.outdir.rglob("webpack-macros.html")]:
        file.unlink()
    for file in app.outdir.rglob("*.png"):
        with Image.open(file) as image:
            image.convert("RGBA").quantize(256).save(file, optimize=True)
    for file in app.outdir.rglob("*.ipynb"):
        notebook = nbformat.read(file, 4)
        cells = [one for one in notebook.cells if one.cell_type == "code"]
        for number, one in enumerate(cells, 1):
            one.execution_count = number  # the cache has none
            one.outputs = [out for out in one.outputs if "image/png" not in out.get("data", {})]
        nbformat.write(notebook, file)


def setup(app: Sphinx) -> None:
    """Add what no extension does."""
    app.add_lexer("console", BashLexer)  # commands are typed without a prompt
    app.add_transform(LinkNames)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.connect("builder-inited", place_notebooks, priority=900)
    app.connect("source-read", prepare)
    app.connect("autodoc-process-docstring", add_relations, priority=900)
    app.connect("build-finished", finish)
