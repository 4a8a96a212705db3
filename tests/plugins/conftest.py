"""The commands as a user runs them in a folder."""

from __future__ import annotations

import json

import pytest

from diffclass.command_line.main import run
from diffclass.exceptions import DataError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def works(capsys):
    """Run a command that has to succeed, and return what it prints as JSON."""

    def worked(*arguments, code=0):
        assert run([*map(str, arguments), "--json"]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out, parse_constant=_refuse)

    return worked


@pytest.fixture
def fails(folder, capsys):
    """Run a command that has to fail: one line, the right code, nothing written."""

    def failed(*arguments, code, says=()):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        capsys.readouterr()  # of what went before
        got = run([*map(str, arguments), "-q"])
        said = capsys.readouterr()
        assert got == code, said.err
        assert said.out == ""
        line = said.err.strip().splitlines()[-1]
        assert line.lower().startswith("error: ")
        assert "Traceback" not in said.err
        for word in [says] if isinstance(says, str) else says:
            assert word in line
        after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert after == before

    return failed


def _refuse(constant):
    raise AssertionError(f"{constant} in a report")


@pytest.fixture
def said_of():
    """Return a function that says what a writer says where no file may exceed a limit."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def said(limit, write, path, *arguments, **options):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            write(path, *arguments, **options)
        except DataError as error:
            return str(error)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        return ""

    return said
