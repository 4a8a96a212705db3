"""The site: the guides as they stand in the repository, and the reference of every public name.

    python -m sphinx -W -c .docs .docs/pages site

Before Sphinx reads `pages`, `stage` puts there what is made of the repository: the guides that its
pages list with the pictures that they show, the tutorials as notebooks, the gallery, and a page for
each public module.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from threading import Thread
from typing import Any
from urllib.request import urlopen

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from latex2mathml.converter import convert as mathml
from numpydoc.xref import DEFAULT_LINKS
from PIL import Image
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT), str(ROOT / "plugins")]
# of the notebooks' kernels
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "plugins")])
os.environ["PYTHONWARNINGS"] = "error::UserWarning"

from names import explanations, read_names, relations_of  # noqa: E402
from stage import stage  # noqa: E402

import diffclass  # noqa: E402

logger = getLogger(__name__)
PAGES, CACHE = HERE / "pages", HERE / "cache"
NAMES = read_names()
TEXTS = stage(ROOT, PAGES, NAMES)
_RELATIONS = relations_of(NAMES)
_EXPLAINED = explanations(
    {
        path: text
        for path, text in TEXTS.items()
        if not path.startswith(("experiments/", "tests/", "CHANGELOG"))
    },
    NAMES,
)


def _code_identity() -> str:
    """Return what tells whether the outputs of notebooks still hold."""
    files = sorted(ROOT.glob("diffclass/**/*.py")) + sorted(ROOT.glob("plugins/**/*.py"))
    content = b"".join(file.read_bytes() for file in files if "node_modules" not in file.parts)
    return hashlib.sha256(content).hexdigest()[:16]


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
nb_execution_mode = "cache"
nb_execution_cache_path = str(CACHE / _code_identity())
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

_SITES = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "sklearn": "https://scikit-learn.org/stable/",
}


def _reachable() -> bool:
    """Return whether there is a network; nobody waits for it for more than three seconds."""
    found: list[object] = []

    def ask() -> None:
        with suppress(OSError):
            found.append(urlopen(f"{_SITES['numpy']}objects.inv", timeout=3).close())

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(3)
    return bool(found)


intersphinx_mapping = {name: (site, None) for name, site in _SITES.items()} if _reachable() else {}
intersphinx_timeout = 10
numpydoc_xref_aliases = {
    name: place for name, place in NAMES.places.items() if name[:1].isupper() and "." not in name
} | ({} if intersphinx_mapping else {word: word for word in DEFAULT_LINKS})

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


def _as_text(_: Any, match: re.Match[str], line: int) -> tuple[str, list[nodes.Node], str, list]:
    end = match.end("start") if match["start"] else match.end("whole")
    return match.string[:end], [], match.string[end:], []


# docstrings have absolute values and names such as tau_, and neither substitutions nor targets
Inliner.dispatch |= {"|": _as_text, "_": _as_text, "__": _as_text}


class LinkNames(SphinxTransform):
    """Make names in backquotes links; one of diffclass that does not exist is told."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Go through a page."""
        for node in [*self.document.findall(nodes.literal)]:
            name, around = node.astext().removesuffix("()"), _described(node)
            if isinstance(node.parent, nodes.reference | addnodes.pending_xref):
                continue
            spoken = [*(f"{one}.{name}" for one in around), name]
            place = next((NAMES.places[one] for one in spoken if one in NAMES.places), None)
            if place is None and re.fullmatch(r"diffclass\w*(\.[a-zA-Z]\w*)+", name):
                logger.warning("no such name: %s", name, location=node)
            if re.fullmatch(r"(numpy|scipy|sklearn)(\.\w+)+", name):
                place = name
            if place is not None and place not in around:
                link = addnodes.pending_xref(
                    "", node.deepcopy(), refdomain="py", reftype="obj", reftarget=place,
                    refdoc=self.env.docname, refexplicit=True, refwarn=True,
                )  # fmt: skip
                node.replace_self(link)


def _described(node: nodes.Node | None) -> list[str]:
    """Return the names of the method, the class and the module that a node describes."""
    found = []
    while node is not None:
        if isinstance(node, addnodes.desc):
            found += node[0].get("ids", [])[:1]
        node = node.parent
    return found


def add_relations(app: Sphinx, what: str, name: str, *rest: Any) -> None:
    """Say at the end of a docstring what returns and takes a class, and what explains it."""
    if what == "module":
        return
    lines = rest[-1]
    rows = [
        f":{heading}: {_few([f':py:obj:`{one} <{one}>`' for one in places])}"
        for heading, places in _RELATIONS.get(name, {}).items()
    ]
    if guides := _EXPLAINED.get(name):
        links = [f":doc:`/{path.removesuffix('.md')}`" for path in guides]
        rows.append(f":Explained in: {_few(links)}")
    lines += ["", *rows, ""] if rows else []


def _few(links: list[str], most: int = 6) -> str:
    more = f" and {len(links) - most} more" if len(links) > most else ""
    return ", ".join(links[:most]) + more


def find_name(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement
) -> nodes.reference | None:
    """Lead from a name of a package to the chapter that documents it."""
    place = NAMES.places.get(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or place in (None, node["reftarget"]):
        return None
    domain = env.domains.python_domain
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", place, node, content)


def write_formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers show without a script."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    translator.body.append(mathml(node.astext(), display=display))
    raise nodes.SkipNode


def place_notebooks(app: Sphinx) -> None:
    """Have what notebooks draw kept beside their cache, and drop the caches of older code."""
    for cache in CACHE.glob("?" * 16):
        if cache.name != _code_identity():
            rmtree(cache, ignore_errors=True)
    app.env.mystnb_config = app.env.mystnb_config.copy(output_folder=str(CACHE / "notebooks"))


def finish(app: Sphinx, error: Exception | None) -> None:
    """See that each page is there, and leave out what no reader needs.

    A page that cannot be written in a process of its own is not told by Sphinx.
    """
    if error or app.builder.name != "html":
        return
    for name in app.env.found_docs:
        if not Path(app.builder.get_output_path(name)).exists():
            raise ExtensionError(f"{name} was not written; -j 1 shows why")
    for file in [*app.outdir.rglob("*.map"), *app.outdir.rglob("webpack-macros.html")]:
        file.unlink()
    for file in app.outdir.rglob("*.ipynb"):
        notebook = json.loads(file.read_text("utf-8"))
        cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
        for number, cell in enumerate(cells, 1):
            cell["execution_count"] = number  # the cache has none
            cell["outputs"] = [one for one in cell["outputs"] if not is_picture(one)]
        file.write_text(json.dumps(notebook, indent=1), "utf-8")
    for file in app.outdir.rglob("*.png"):
        shrink(file)


def is_picture(output: dict[str, Any]) -> bool:
    """Return whether an output of a notebook is a picture, which the page shows."""
    return "image/png" in output.get("data", {})


def shrink(picture: Path) -> None:
    """Write a picture with 256 colours, if it is smaller then."""
    with Image.open(picture) as image:
        few = image.convert("RGBA").quantize(256, Image.Quantize.FASTOCTREE, dither=0)
    small = io.BytesIO()
    few.save(small, format="PNG", optimize=True)
    if len(small.getvalue()) < picture.stat().st_size:
        picture.write_bytes(small.getvalue())


def setup(app: Sphinx) -> None:
    """Add what no extension does."""
    app.add_transform(LinkNames)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.connect("autodoc-process-docstring", add_relations, priority=900)
    app.connect("missing-reference", find_name)
    app.connect("builder-inited", place_notebooks, priority=900)
    app.connect("build-finished", finish)
