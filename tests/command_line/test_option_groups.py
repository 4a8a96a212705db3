"""What help texts show of a command's options, and in which order."""

from __future__ import annotations

import re
from dataclasses import dataclass

import click
import pytest

from diffclass.command_line import command, common_options, option, options
from diffclass.command_line import main as cli
from diffclass.system.extensions import COMMANDS, own_points

TEN = (
    "--labels", "--holdout", "--labels-per-class", "--output", "--probability", "--margin",
    "--report", "--save", "--model", "--features",
)  # fmt: skip


@pytest.fixture
def helped(capsys):
    """Return what a call prints as help."""

    def printed(*words):
        assert cli.run(list(words)) == 0
        return capsys.readouterr().out

    return printed


def shown(text):
    """Return the last names of the options that a help text lists, in its order."""
    _, _, listed = text.partition("Options:")
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", listed, re.MULTILINE)


def test_classify_shows_thirty_options_the_usual_ten_first(helped):
    text = helped("classify", "scene.tif", "--help")
    assert len(shown(text)) <= 30
    assert sorted(shown(text)[:10]) == sorted(TEN)
    titles = re.findall(r"^(\w.*):$", text, re.MULTILINE)
    assert titles[0] == "Options"
    assert len(titles) > 4


@pytest.mark.parametrize("name", sorted(own_points(COMMANDS)))
def test_help_all_shows_every_option_once(helped, name):
    params = cli.diffclass.get_command(None, name).params
    every = [one.opts[-1] for one in params if isinstance(one, click.Option)]
    text = helped(name, "--help-all")
    assert "Example: " in text
    assert sorted(shown(text)) == sorted([*every, "--help-all", "--help"])
    hidden = set(every) - set(shown(helped(name, "--help")))
    assert {"--json", "--threads", "--progress", "--quiet", "--traceback"} <= hidden


def test_the_program_shows_what_commands_share(helped):
    assert {"--json", "--threads", "--seed", "--force"} <= set(shown(helped("--help")))


def test_hidden_options_are_accepted(capsys):
    assert cli.run(["info", "nothing.img", "--quiet", "--threads", "1"]) == 3
    assert "nothing.img" in capsys.readouterr().err


def test_values_come_as_one_object_for_each_group():
    @dataclass(frozen=True)
    class Walk:
        title = "Walk"
        steps: int = option(default=3)
        is_lazy: bool = option(names=("--lazy",))

    @command()
    @click.argument("name")
    @options(Walk, "walk")
    @common_options
    def walking(name, *, walk, console):
        return name, walk, console.quiet

    found = walking.main(["far", "--lazy", "-q"], standalone_mode=False)
    assert found == ("far", Walk(3, True), True)
