"""What a release is made of: version, addresses, QGIS plugin, conda recipe, lowest versions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from jinja2 import Environment

import diffclass

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / ".ci"
pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists() or not SCRIPTS.exists(), reason="needs a clone, not an sdist"
)
URLS = {
    "Homepage": "https://diffclass.test",
    "Repository": "https://diffclass.test/git",
    "Issues": "https://diffclass.test/issues",
}
STATED = {"authors": [{"name": "A"}, {"name": "B", "email": "b@diffclass.test"}], "urls": URLS}


@pytest.fixture
def scripts(monkeypatch):
    """Import a script of .ci."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return import_module


@pytest.fixture
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_addresses_are_stated_or_missing(scripts):
    addresses = scripts("addresses")
    assert addresses.missing(STATED) == []
    assert addresses.addresses(STATED) == {
        "homepage": URLS["Homepage"],
        "repository": URLS["Repository"],
        "tracker": URLS["Issues"],
        "email": "b@diffclass.test",
    }
    made_up = STATED | {"urls": URLS | {"Issues": "https://diffclass.example.org/issues"}}
    assert addresses.missing(made_up) == ["Issues in [project.urls]"]
    assert addresses.missing({"authors": [{"name": "A", "email": "a@example.org"}]}) == [
        "Homepage in [project.urls]",
        "Repository in [project.urls]",
        "Issues in [project.urls]",
        "the email of an author",
    ]


def build(tmp_path, project_file, *more):
    command = [sys.executable, SCRIPTS / "build_qgis_plugin.py", "-o", tmp_path / "plugin.zip"]
    command += ["--project", project_file, *more]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def metadata_of(archive):
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        parser = ConfigParser(interpolation=None)
        parser.read_string(opened.read("diffclass_qgis/metadata.txt").decode())
        return parser["general"], set(opened.namelist())


def test_a_release_of_the_plugin_needs_all_addresses(tmp_path):
    incomplete = tmp_path / "pyproject.toml"
    incomplete.write_text('[project]\nversion = "1"\nauthors = [{ name = "A" }]\n')
    refused = build(tmp_path, incomplete, "--release")
    assert refused.returncode == 1
    assert "cannot be published without Homepage in [project.urls]" in refused.stderr
    assert list(tmp_path.iterdir()) == [incomplete]
    warned = build(tmp_path, incomplete)
    assert warned.returncode == 0
    assert "warning: the plugin cannot be published" in warned.stderr
    metadata, names = metadata_of(tmp_path / "plugin.zip")
    assert not {"email", "homepage", "repository", "tracker"} & set(metadata)
    assert {"diffclass_qgis/LICENSE", "diffclass_qgis/provider.py"} <= names


def test_the_addresses_come_into_the_plugin(tmp_path):
    complete = tmp_path / "pyproject.toml"
    lines = "".join(f'{name} = "{address}"\n' for name, address in URLS.items())
    complete.write_text(
        '[project]\nversion = "1"\nauthors = [{ name = "A", email = "a@diffclass.test" }]\n'
        f"[project.urls]\n{lines}"
    )
    done = build(tmp_path, complete, "--release")
    assert (done.returncode, done.stderr) == (0, "")
    metadata, _ = metadata_of(tmp_path / "plugin.zip")
    assert metadata["tracker"] == URLS["Issues"]
    assert metadata["email"] == "a@diffclass.test"


def test_one_command_sets_the_version_everywhere(scripts, tmp_path, monkeypatch):
    version = scripts("version")
    assert version.outdated() == []
    assert version.stated(*version.HOME) == diffclass.__version__
    holders = {version.CHANGELOG}
    for place in ("diffclass", "plugins/diffclass_qgis", ".ci"):
        (tmp_path / place).mkdir(parents=True)
    for file, _ in (version.HOME, *version.COPIES.items()):
        holders.add(file)
    for file in {*holders, SCRIPTS / "version.py"}:
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    ran = subprocess.run([sys.executable, tmp_path / ".ci/version.py", "7.0.1rc2"], check=True)
    assert ran.returncode == 0
    for file in holders:
        before = file.read_text("utf-8").splitlines()
        after = (tmp_path / file.relative_to(ROOT)).read_text("utf-8").splitlines()
        changed = [new for old, new in zip(before, after, strict=True) if old != new]
        assert len(changed) == 1, file
        assert "7.0.1rc2" in changed[0]


def test_no_other_file_states_the_version(scripts):
    version = scripts("version")
    known = {str(file.relative_to(ROOT)) for file in (version.HOME[0], *version.COPIES)}
    words = ["git", "grep", "-lIwF", diffclass.__version__, "--", ".", ":!experiments/**/*.json"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {*found.split()} - {"CHANGELOG.md"} == known


@pytest.mark.parametrize("wrong", ["7", "v7.0.1", "7.0.1-dev", "seven"])
def test_a_version_of_another_form_is_refused(wrong):
    ran = subprocess.run(
        [sys.executable, SCRIPTS / "version.py", wrong], capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert f"{wrong} is no version" in ran.stderr


def test_packages_in_the_script_of_the_page_are_found(scripts, tmp_path):
    release_check = scripts("release_check")
    (tmp_path / "deep").mkdir()
    (tmp_path / "own.ts").write_text(
        'import { a } from "./a";\nexport const b = "text";\nexport { c } from "../c";\n'
    )
    assert release_check.bundled(tmp_path) == []
    (tmp_path / "deep" / "foreign.ts").write_text(
        'import {\n  html,\n} from "lit-html";\nimport "@a/b";\nexport * from \'d3\';\n'
    )
    assert release_check.bundled(tmp_path) == ["@a/b", "d3", "lit-html"]


@pytest.mark.skipif(sys.platform == "win32", reason="the made-up programs are shell scripts")
def test_the_lowest_python_and_previews(scripts, tmp_path):
    environments = scripts("fresh_environments")
    assert environments.lowest_python(">=3.11") == (3, 11)
    own = sys.version_info[:2]
    preview = tmp_path / "python"
    preview.write_text("#!/bin/sh\necho 3 99 beta\n")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 127\n")
    for program in (preview, broken):
        program.chmod(0o755)
    names = [str(preview), str(broken), sys.executable]
    assert environments.programs(names, own) == {own: sys.executable}
    assert environments.programs(names, (own[0], own[1] + 1)) == {}


def test_lowest_versions_are_of_all_extras_of_users(scripts, project):
    lowest = list(scripts("fresh_environments").lowest_versions())
    optional = project["optional-dependencies"]
    assert all("==" in one and "[" not in one for one in lowest)
    names = {one.partition("==")[0] for one in lowest}
    for extra in set(optional) - {"all", "docs", "dev"}:
        own = (one.partition(">=")[0] for one in optional[extra] if "[" not in one)
        assert set(own) <= names, extra


def test_the_conda_recipe_is_that_of_the_package(project):
    template = (ROOT / ".conda" / "meta.yaml").read_text(encoding="utf-8")
    data = {"project": project | {"urls": URLS}}

    def find(file, pattern, **_):  # as conda-build does
        return re.search(pattern, (ROOT / ".conda" / file).read_text(encoding="utf-8"))

    text = (
        Environment()
        .from_string(template)
        .render(load_file_data=lambda *_, **__: data, load_file_regex=find)
    )
    recipe = yaml.safe_load(text)
    assert recipe["package"] == {"name": "diffclass", "version": diffclass.__version__}
    assert recipe["about"]["home"] == URLS["Homepage"]
    starts = dict(line.split(" = ") for line in recipe["build"]["entry_points"])
    assert starts == project["scripts"]
    for wanted in (project["dependencies"], project["optional-dependencies"]["maps"]):
        assert set(wanted) <= set(recipe["requirements"]["run"])
    assert not [one for one in recipe["requirements"]["run"] if "[" in one]


def test_the_workflow_refuses_before_it_builds():
    workflow = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text("utf-8"))
    runs = [step.get("run", "") for step in workflow["jobs"]["build"]["steps"]]
    assert runs.index("python .ci/addresses.py") < runs.index("make release-check")
    assert "make qgis-plugin RELEASE=--release" in runs
