"""The site builds without a warning, its links lead somewhere, and what is broken is found."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .broken_links import broken_links
from .test_guides import NOTEBOOK, TUTORIALS

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".docs"
PACKAGES = ("diffclass", "diffclass_hyperspectral", "diffclass_relabel", "diffclass_tables")
LARGEST = 12_000_000  # bytes


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the site, built as `make docs` does, but for the tutorials that `test_guides` runs."""
    folder = tmp_path_factory.mktemp("docs")
    others = [str(path.relative_to(ROOT)) for path in TUTORIALS if path != NOTEBOOK]
    command = [
        sys.executable, "-m", "sphinx", "-q", "-E", "-W", "-c", TOOLS,
        "-D", "suppress_warnings=myst-nb.lexer",
        "-d", folder / "doctrees", TOOLS / "pages", folder / "site",
    ]  # fmt: skip
    done = subprocess.run(
        [*map(str, command)],
        env=os.environ | {"RUN_ELSEWHERE": " ".join(others)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def read(site, page):
    return (site / page).read_text("utf-8")


def test_every_link_and_picture_is_there_and_nothing_is_loaded_from_the_network(site):
    assert broken_links(site) == []


def test_the_makefile_builds_the_site_in_the_same_way():
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\ndocs:")[1].split("\n\n")[0]
    assert "-m sphinx -q -E -W -c .docs -d .docs/cache/doctrees .docs/pages site" in recipe


def test_every_guide_is_a_page_with_the_anchors_of_the_repository(site):
    pages = "".join(page.read_text("utf-8") for page in (TOOLS / "pages").glob("*.md"))
    listed = re.findall(r"^(?:.+<)?/(\S+?)>?$", pages, flags=re.MULTILINE)
    guides = [f"{guide}.md" for guide in listed]
    told = {*ROOT.glob("guide/**/*.md"), *ROOT.glob("experiments/results/*.md")}
    told |= {ROOT / name for name in ("README.md", "CHANGELOG.md", "diffclass/DECISIONS.md")}
    assert {str(path.relative_to(ROOT)) for path in told} <= set(guides)
    for guide in guides:
        assert (site / guide).with_suffix(".html").exists()
    assert 'id="what-to-label-next"' in read(site, "plugins/README.html")


def test_the_first_page_has_three_doors(site):
    page = read(site, "index.html")
    doors = re.findall(r'class="[^"]*sd-stretched-link[^"]*" href="([^"]+)"', page)
    assert doors == [f"guide/tutorials/{name}.html" for name in ("digits", "scene", "page")]


def test_the_gallery_has_every_figure_with_the_command_that_makes_it(site):
    page = read(site, "gallery.html")
    text = re.sub("<.+?>", "", page)
    for paper in ("coifman_2005", "socher_2008", "delaporte_2008", "shan_2022"):
        pictures = {*(ROOT / "experiments" / paper).glob("figure_*.png")}
        made = {*re.findall(rf"python -m experiments\.{paper}\.(figure_\d+)", text)}
        assert made == {picture.stem for picture in pictures}
    modules = re.findall(r"python -m (experiments\.[\w.]+)", text)
    assert len(modules) > 40
    assert all(importlib.util.find_spec(module) for module in modules)
    addresses = re.findall(r'class="[^"]*sd-stretched-link[^"]*" href="([^"]+)"', page)
    assert len(addresses) == page.count("sd-card-img-top") == len(modules) + 1  # `diffclass demo`


def test_names_are_documented_in_their_chapters(site):
    address = "reference/diffclass.classifier.html#diffclass.classifier.DiffusionClassifier"
    assert f'href="{address}"' in read(site, "README.html")
    classifier = read(site, "reference/diffclass.classifier.html")
    assert 'id="diffclass.classifier.DiffusionClassifier.fit"' in classifier
    assert 'id="diffclass.classifier.DiffusionClassifier.set_fit_request"' not in classifier
    # a method that is named in the text of another one is that of its class
    proba = classifier.split('id="diffclass.classifier.DiffusionClassifier.predict_proba"')[1]
    assert re.search(r'As in <a [^>]*href="#[\w.]+DiffusionClassifier\.predict"', proba)


def test_the_reference_shows_public_names_alone(site):
    pages = [page for page in (site / "reference").glob("*.html") if page.stem != "commands"]
    assert len(pages) > 40
    for page in pages:
        module = page.stem
        assert importlib.import_module(module).__all__, module
        assert module.count(".") <= 1 or module.startswith("diffclass.system."), module
        assert "._" not in module


def test_names_lead_to_what_they_belong_with(site):
    def rows(page, name):
        content = read(site, f"reference/diffclass.{page}.html")
        section = content.split(f'id="diffclass.{page}.{name}"')[1].split('<dt class="sig')[0]
        found = re.findall(
            r'<dt class="field-\w+">([\w ]+)<span class="colon">:</span></dt>\s*'
            r'<dd class="field-\w+">(.*?)</dd>',
            section,
            flags=re.DOTALL,
        )
        return {
            heading: [
                (address, re.sub("<.+?>", "", text))
                for address, text in re.findall(r'<a [^>]*?href="([^"]+)"[^>]*>(.+?)</a>', links)
            ]
            for heading, links in found
        }

    returned = [address for address, _ in rows("acquisition", "Suggestions")["Returned by"]]
    assert returned == [
        "#diffclass.acquisition.suggest",
        "diffclass.relabel.html#diffclass.relabel.RelabelSession.suggest",
    ]
    operator = rows("operators", "MarkovOperator")
    assert operator["Returned by"][0][1].endswith("markov_operator")
    assert len(operator["Taken by"]) == 6  # of many
    addresses = [address for links in operator.values() for address, _ in links]
    assert not any("MarkovOperator" in address for address in addresses)
    explained = {title for _, title in rows("classifier", "DiffusionClassifier")["Explained in"]}
    assert "The core" in explained
    assert not explained & {"Summary", "Accuracy", "Changes", "Tests, contributing"}


def test_every_command_has_its_options_in_the_reference(site):
    from diffclass.command_line.main import diffclass

    page = html.unescape(re.sub("<.+?>", "", read(site, "reference/commands.html")))
    for name in diffclass.list_commands(None):
        command = diffclass.get_command(None, name)
        assert f"diffclass {name} [OPTIONS]" in page
        for option in command.params:
            assert option.hidden if getattr(option, "hidden", False) else option.opts[-1] in page


def test_the_site_is_small(site):
    assert sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) <= LARGEST


def test_tutorials_have_their_output_and_notebooks(site):
    assert len(TUTORIALS) == 10
    for source in TUTORIALS:
        page = read(site, f"guide/tutorials/{source.stem}.html")
        (address,) = re.findall(rf'href="([^"]+/{source.stem}\.ipynb)"', page)
        notebook = site / "guide" / "tutorials" / address
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
        assert not any("image/png" in str(cell["outputs"]) for cell in code)
        drawn = re.findall(r"^# figure: (.+)$", source.read_text("utf-8"), flags=re.MULTILINE)
        shown = re.findall(r'<img alt="([^"]+)"', page)
        assert drawn
        assert source != NOTEBOOK or {html.unescape(words) for words in shown} >= {*drawn}


def test_a_picture_of_two_themes_follows_that_of_the_site(site):
    page = read(site, "guide/which.html")
    shown = re.findall(r'<img alt="[^"]+" class="([^"]+)" src="[^"]+/(\w+)\.svg"', page)
    assert shown == [
        ("only-dark narrow", "tall_dark"), ("only-light narrow", "tall_light"),
        ("only-dark wide", "wide_dark"), ("only-light wide", "wide_light"),
    ]  # fmt: skip
    assert "<picture>" not in page


def test_the_search_finds_sections_of_guides(site):
    index = read(site, "searchindex.js")
    found = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    ((document, anchor),) = found["alltitles"]["Why this time?"]
    assert found["docnames"][document] == "guide/questions"
    assert anchor == "why-this-time"
    assert document in found["terms"]["stop"]


def test_formulas_are_rendered_without_a_script(site):
    page = read(site, "guide/how_it_works.html")
    assert page.count("<math") > 15
    text = re.sub(r"<script.*?</script>|<pre.*?</pre>", "", page, flags=re.DOTALL)
    assert "$" not in text


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="other.html">b</a>', ""),
        ('<a href="other.html#here">b</a>', ""),
        ('<a href="https://example.org">b</a>', ""),
        ('<img src="there.png" alt="a square that is red">', ""),
        ('<img src="there.png">', "there.png: no words"),
        ('<a href="missing.html">b</a>', "missing.html: no such file"),
        ('<img src="missing.png" alt="a square that is red">', "missing.png: no such file"),
        ('<source srcset="missing.png">', "missing.png: no such file"),
        ('<a href="other.html#gone">b</a>', "other.html#gone: no such anchor"),
        ('<a href="#gone">b</a>', "#gone: no such anchor"),
        ('<script src="https://example.org/a.js"></script>', "loaded from the network"),
    ],
)
def test_what_is_broken_is_found(tmp_path, page, fault):
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "other.html").write_text('<p id="here">a</p>')
    (tmp_path / "there.png").write_text("")
    found = broken_links(tmp_path)
    assert len(found) == bool(fault)
    assert fault in "".join(found)
