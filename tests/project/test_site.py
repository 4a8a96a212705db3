"""The site builds without a warning, its links lead somewhere, and what is broken is found."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".docs"


def build(output):
    # the docstrings are read, not run: nothing needs to be compiled
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(
        [sys.executable, str(TOOLS / "build.py"), "-o", str(output)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_names_are_documented_in_their_chapters(site):
    overview = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="diffclass/classifier.html#DiffusionClassifier"' in overview
    classifier = (site / "diffclass" / "classifier.html").read_text(encoding="utf-8")
    assert 'id="DiffusionClassifier.fit"' in classifier
    assert 'href="../index.html"' in classifier


def test_names_lead_to_what_they_belong_with(site):
    def rows(page, name):
        content = (site / "diffclass" / page).read_text("utf-8")
        section = content.split(f'<section id="{name}">')[1].split("<section")[0]
        found = re.findall(r"<dt>(.+?)</dt>\s*<dd>(.*?)</dd>", section, flags=re.DOTALL)
        return {
            heading: re.findall(r'<a href="([^"]+)">([^<]+)</a>', links) for heading, links in found
        }

    assert rows("acquisition.html", "Suggestions") == {
        "Returned by": [
            ("acquisition.html#suggest", "suggest"),
            ("relabel.html#RelabelSession.suggest", "RelabelSession.suggest"),
        ]
    }
    operator = rows("operators.html", "MarkovOperator")
    assert operator["Returned by"][0] == ("graph.html#markov_operator", "markov_operator")
    assert len(operator["Taken by"]) == 6  # of many
    addresses = [address for links in operator.values() for address, _ in links]
    assert not any("#MarkovOperator" in address for address in addresses)
    explained = {
        title for _, title in rows("classifier.html", "DiffusionClassifier")["Explained in"]
    }
    assert "The core" in explained
    assert not explained & {"Results", "Accuracy", "Changes", "Tests"}
    # users put their operations into it themselves
    assert "Returned by" not in rows("relabel.html", "SetTau")


def test_names_of_a_guide_are_those_in_backquotes_and_imports(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    guides = importlib.import_module("guides")
    text = (
        "# A\n\n`one` and two\n\n## B\n\n| `three(x).four` |\n|---|\n\n"
        "```python\nfrom a.b import five, six\n```\n"
    )
    tokens = guides.MarkdownIt("commonmark").enable("table").parse(text)
    guides.add_anchors(guides.Guide("a.md", "a.html", "A"), tokens)
    names = [("a", "one"), ("b", "three"), ("b", "a.b.five"), ("b", "a.b.six")]
    assert list(guides.names_in(tokens)) == names


def test_the_site_is_small(site):
    assert sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) <= 10_000_000


def test_tutorials_have_their_output_and_notebooks(site):
    sources = sorted((ROOT / "guide" / "tutorials").glob("*.md"))
    assert len(sources) == 10
    for source in sources:
        page = (site / "guide" / "tutorials" / f"{source.stem}.html").read_text("utf-8")
        notebook = site / "guide" / "tutorials" / f"{source.stem}.ipynb"
        assert f'href="{notebook.name}"' in page
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
        pictures = re.findall(rf'<img src="({source.stem}_\d+\.png)" alt="([^"]+)"', page)
        assert pictures, source
        for name, alternative in pictures:
            assert (notebook.with_name(name)).read_bytes()[:4] == b"\x89PNG"
            assert len(alternative) > 20


def test_the_search_finds_sections_of_guides(site):
    script = (site / "search.js").read_text("utf-8")
    found, _ = json.JSONDecoder().raw_decode(script, script.index('[{"fullname"'))
    sections = {(one["modulename"], one.get("qualname")): one for one in found}
    why = sections["guide.questions", "why-this-time"]
    assert "stopping time" in why["doc"]
    assert "tau_" in why["doc"]
    assert (site / "guide" / "questions.html").exists()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import matplotlib.pyplot as plt\nplt.plot([1, 2]);", "does not say what"),
        ("print(1)", ""),
    ],
)
def test_tutorials_that_fail_are_told(code, says, monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    notebooks = importlib.import_module("notebooks")
    notebook = notebooks.notebook_of(f"# A\n\ntext\n\n```python\n{code}\n```\n\nend\n")
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "markdown"]
    if not says:
        notebooks.run(notebook, "a.md")
        text, made = notebooks.with_outputs(notebook, "a.md")
        assert "```text\n1\n```" in text
        assert [*made] == ["a.ipynb"]
        return

    def made():
        notebooks.run(notebook, "a.md")
        notebooks.with_outputs(notebook, "a.md")

    with pytest.raises(importlib.import_module("guides").GuideError, match=says):
        made()


def test_the_reference_shows_public_names_alone(site):
    plugins = ("diffclass_hyperspectral", "diffclass_relabel", "diffclass_tables")
    for package in ("diffclass", *plugins):
        for page in (site / package).rglob("*.html"):
            if (ROOT / page.relative_to(site)).with_suffix(".md").exists():
                continue  # a guide
            module = ".".join(page.relative_to(site).with_suffix("").parts)
            assert importlib.import_module(module).__all__, module
            assert module.count(".") == 1 or module.startswith("diffclass.system."), module
            assert "._" not in module


def test_a_folder_of_other_files_is_not_emptied(tmp_path):
    kept = tmp_path / "results.txt"
    kept.write_text("a week's work")
    done = build(tmp_path)
    assert done.returncode == 1
    assert "give another folder" in done.stderr
    assert kept.read_text() == "a week's work"


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="other.html">b</a>', ""),
        ('<a href="other.html#here">b</a>', ""),
        ('<a href="https://example.org">b</a>', ""),
        ('<code><a href="other.html">diffclass.classifier</a></code>', ""),
        ('<a href="missing.html">b</a>', "missing.html: no such file"),
        ('<img src="missing.png">', "missing.png: no such file"),
        ('<source srcset="missing.png">', "missing.png: no such file"),
        ('<a href="other.html#gone">b</a>', "other.html#gone: no such anchor"),
        ('<a href="#gone">b</a>', "#gone: no such anchor"),
        ('<script src="https://example.org/a.js"></script>', "loaded from the network"),
        ("<code>diffclass.Spectrum</code>", "no such name: diffclass.Spectrum"),
    ],
)
def test_what_is_broken_is_found(tmp_path, monkeypatch, page, fault):
    monkeypatch.syspath_prepend(TOOLS)
    from check_links import broken_links

    (tmp_path / "page.html").write_text(page)
    (tmp_path / "other.html").write_text('<p id="here">a</p>')
    found = broken_links(tmp_path)
    assert len(found) == bool(fault)
    assert fault in "".join(found)


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("other/README.md#part", "other/README.html#part"),
        ("diffclass/classifier.py", "diffclass/classifier.html"),
        ("table.csv", "table.csv"),
        ("#part", "#part"),
        ("missing.md", None),
        ("other", None),
    ],
)
def test_links_of_a_guide_lead_to_pages(tmp_path, monkeypatch, link, found):
    monkeypatch.syspath_prepend(TOOLS)
    import guides
    from pdoc.doc import Module

    (tmp_path / "other").mkdir()
    (tmp_path / "diffclass").mkdir()
    for file in ("other/README.md", "diffclass/classifier.py", "table.csv"):
        (tmp_path / file).write_text("")
    (tmp_path / "README.md").write_text(f"# A guide\n\n## Part\n\n[b]({link})\n")
    modules = {"diffclass.classifier": Module.from_name("diffclass.classifier")}
    if found is None:
        with pytest.raises(guides.GuideError, match=link):
            guides.read_guide(tmp_path, "README.md", "Overview", modules)
        return
    guide = guides.read_guide(tmp_path, "README.md", "Overview", modules)
    assert f'href="{found}"' in guide.html
    assert guide.contents == [("part", "Part")]
    assert guide.files == ({link} if link == "table.csv" else set())


def test_pictures_in_html_are_copied_with_their_guide(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import guides

    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "tall.svg").write_text("")
    picture = '<picture>\n<source srcset="tall.svg">\n<img src="wide.svg">\n</picture>\n'
    (tmp_path / "a" / "b.md").write_text(picture)
    with pytest.raises(guides.GuideError, match=r"wide\.svg"):
        guides.read_guide(tmp_path, "a/b.md", "B", {})
    (tmp_path / "a" / "wide.svg").write_text("")
    guide = guides.read_guide(tmp_path, "a/b.md", "B", {})
    assert guide.files == {"a/tall.svg", "a/wide.svg"}
    assert picture in guide.html


def test_formulas_are_rendered_without_a_script(site):
    page = (site / "guide" / "how_it_works.html").read_text("utf-8")
    assert page.count("<math") > 15
    assert "$" not in re.sub(r"<script.*?</script>|<pre.*?</pre>", "", page, flags=re.DOTALL)
