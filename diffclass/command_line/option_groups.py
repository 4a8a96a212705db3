"""Options of commands: each is declared once, as a field of a frozen dataclass.

A dataclass is a group of options: ``title`` heads them in the help text, and a command gets their
values as one object. ``--help`` shows the usual options first and leaves out the hidden ones, which
``--help-all`` shows: rare ones and those that commands share.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Given:
...     title = "Counting"
...     to: int = option("Where to stop.", default=3)
>>> @command()
... @options(Given, "given")
... def count(given):
...     return list(range(given.to))
>>> count.main(["--to", "2"], standalone_mode=False)
[0, 1]
"""

from __future__ import annotations

import dataclasses
import numbers
import os
import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from diffclass.exceptions import ParameterError
from diffclass.options import SEED, Domain, Number, OneOf, Whole, YesNo
from diffclass.system.remote_paths import place_of

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LEAST = 10**6  # a smaller number alone is taken for one that lacks its unit
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class _File(click.Path):
    """The name of a file, or the address of one that is only read."""

    def coerce_path_result(self, value: str | os.PathLike[str]) -> Path:  # type: ignore[override]
        return place_of(value)


class OutputFile(_File):
    """The name of a file that a command writes."""


class _PictureFile(OutputFile):
    """The name of a PNG that a command draws."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, unless it ends otherwise."""
        if Path(value).suffix.lower() != ".png":
            name = Path(value).name
            raise click.UsageError(f"--picture is written as .png, not as {name}", ctx)
        return super().convert(value, param, ctx)


class FileOrWord(click.ParamType):
    """The name of a file that is read, or a word: a column, a box."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text."""
        return str(value)


class _Bytes(click.ParamType):
    """Bytes, as 8GB, 500MB or 2GiB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes, or say how to write them."""
        found = re.fullmatch(r"(\d+\.?\d*)\s*([KMGT]?)(i?)B?", str(value).strip(), re.IGNORECASE)
        unit = "" if found is None else found[2].upper()
        if found is None or not float(found[1]) or (not unit and float(found[1]) < _LEAST):
            self.fail(f"{value!r} is not a size; write 8GB, 500MB or 2GiB", param, ctx)
        return int(float(found[1]) * (_BINARY if found[3] and unit else _UNITS)[unit])


class _Checked(click.ParamType):
    """A type of `click` whose values are those of a domain."""

    of: Domain

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value, or say what it has to be."""
        found = super().convert(value, param, ctx)
        if not self.of.holds(found):
            self.fail(f"{value!r}; {self.of.in_words}", param, ctx)
        return found


class _WholeType(_Checked, click.IntRange):
    def __init__(self, of: Whole):
        super().__init__(of.least, of.most)
        self.of = of


class _NumberType(_Checked, click.FloatRange):
    def __init__(self, of: Number):
        has_end = of.is_open and of.most is not None
        super().__init__(of.least, of.most, min_open=of.is_open, max_open=has_end)
        self.of = of


class _WordType(_Checked, click.Choice):
    def __init__(self, of: OneOf):
        super().__init__(of.names)
        self.of = of


class _ListedType(_Checked):
    """Words that are known when a value is given: their list is too heavy to import for help."""

    name = "name"

    def __init__(self, of: OneOf):
        self.of: OneOf = of

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so."""
        return [CompletionItem(name) for name in self.of.names if name.startswith(incomplete)]


def _click_type(of: Domain) -> click.ParamType:
    """Return the type of an option whose values are those of a domain."""
    if isinstance(of, Whole):
        return _WholeType(of)
    if isinstance(of, Number):
        return _NumberType(of)
    if isinstance(of, OneOf):
        return _ListedType(of) if isinstance(of.words, str) else _WordType(of)
    return click.STRING


FILE = _File(path_type=Path)
FILE_OR_WORD = FileOrWord()
BYTES = _Bytes()
FIRST_TITLE = "Options"
_BY_TYPE: dict[str, dict[str, Any]] = {
    "bool": {"is_flag": True},
    "int": {"type": int},
    "float": {"type": float},
    "Path": {"type": FILE},
}


class Option(click.Option):
    """An option of `click` with the title of its group in the help text.

    ``recorded``: whether a recipe holds it, as all options on which the result depends.
    """

    def __init__(self, *args: Any, title: str, recorded: bool = True, **settings: Any):
        super().__init__(*args, **settings)
        self.title = title
        self.recorded = recorded


class Command(click.Command):
    """A command whose help text shows its options in groups."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, ``--help-all`` and ``--help``."""
        *own, for_help = super().get_params(ctx)
        return [*own, _HELP_ALL, for_help]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usual options, then each group below its title."""
        groups: dict[str, list[tuple[str, str]]] = {FIRST_TITLE: []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx) if isinstance(one, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(one, "title", FIRST_TITLE), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _print_all(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        whole = copy(context.command)
        whole.params = [_shown(one) for one in whole.params]
        click.echo(whole.get_help(context))
        context.exit()


def _shown(parameter: click.Parameter) -> click.Parameter:
    found = copy(parameter)
    if isinstance(found, click.Option):
        found.hidden = False
    return found


_HELP_ALL = Option(
    ["--help-all"],
    title=FIRST_TITLE,
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_all,
    help="Show all options, the rare ones and those that commands share too.",
)


def command(**settings: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function, as `click.command` does."""
    return click.command(cls=Command, **settings)


def option(
    help: str = "",
    *,
    short: str | None = None,
    names: tuple[str, ...] = (),
    usual: bool = False,
    hidden: bool = False,
    of: Domain | None = None,
    **settings: Any,
) -> Any:
    """Return the field of a dataclass that declares an option with a help text.

    The field ``max_time`` is the option ``--max-time``, unless ``names`` gives others; ``short`` is
    a second name of one letter. Fields of type bool are flags, those of type Path files. Other
    values are those of the domain ``of``; ``settings`` are those of `click.Option`. A ``usual``
    option is shown before all groups, a ``hidden`` one only by ``--help-all``; ``recorded`` as for
    `Option`.
    """
    if of is not None and not isinstance(of, YesNo):
        settings["type"] = _click_type(of)
    return field(
        metadata={
            "names": names or (short,) * (short is not None),
            "is_named": bool(names),
            "usual": usual,
            "settings": {"help": help, "hidden": hidden, **settings},
        }
    )


def output_option(help: str, **settings: Any) -> Any:
    """Return the field for an option that names a file to write; `settings` are `option`'s."""
    return option(help, type=OutputFile(path_type=Path), **settings)


def picture_option(help: str) -> Any:
    """Return the field for ``--picture``."""
    return option(help, type=_PictureFile(path_type=Path))


def variable_option(file: str) -> Any:
    """Return the field for what is taken from a file of classes that holds several things."""
    return option(f"Array or column of the classes in a {file} with several.", hidden=True)


def report_option(**settings: Any) -> Any:
    """Return the field for ``--report``."""
    text = "Report as JSON: everything that is known, and what diffclass rerun needs."
    return output_option(text, **settings)


def overwrite_option() -> Any:
    """Return the field for ``--overwrite``."""
    return option("Replace outputs that exist.", recorded=False)


def seed_option() -> Any:
    """Return the field for ``--seed``."""
    return option(
        "Seeds every random choice; the same seed gives the same result.",
        names=("--seed",),
        hidden=True,
        of=SEED,
        default=0,
    )


def force_option() -> Any:
    """Return the field for ``--force``."""
    return option(
        "Start also if far more memory will be needed than is free.", hidden=True, recorded=False
    )


@dataclass(frozen=True)
class RunOptions:
    """Options of commands that compute for long and write files."""

    title = "Run"
    random_state: int = seed_option()
    force: bool = force_option()
    overwrite: bool = overwrite_option()


def options(kind: type, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that a dataclass declares to a command, as its argument ``name``."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_group(*args: Any, **given: Any) -> Any:
            values = {one: given.pop(one) for one in names_of(kind)}
            return function(*args, **given, **{name: kind(**values)})

        found = list(getattr(function, "__click_params__", []))
        with_group.__click_params__ = found + _made(kind)[::-1]  # type: ignore[attr-defined]
        return with_group

    return decorate


def _made(kind: type) -> list[Option]:
    """Return the options that a dataclass declares."""
    title = getattr(kind, "title", FIRST_TITLE)
    return [_option(one, title) for one in dataclasses.fields(kind)]


def _option(one: dataclasses.Field[Any], title: str) -> Option:
    facts, settings = one.metadata, dict(one.metadata["settings"])
    names = [*facts["names"], one.name]
    if not facts["is_named"]:
        names.insert(-1, "--" + one.name.replace("_", "-"))
    named = one.type if isinstance(one.type, str) else getattr(one.type, "__name__", str(one.type))
    of_type = _BY_TYPE.get(named.partition(" |")[0], {})
    if "type" not in settings:
        settings = of_type | settings
    settings.setdefault("show_default", "default" in settings)
    if isinstance(settings.get("type"), _ListedType):
        settings["metavar"] = one.name.rpartition("_")[2].upper()
    return Option(names, title=FIRST_TITLE if facts["usual"] else title, **settings)


def taken(kind: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that come from Python as a command would take them from its options.

    ``kind`` is the dataclass that declares these; other names and None are left out.
    `ParameterError` for a value that the command would refuse.
    """
    declared = {one.name: one for one in _made(kind)}
    return {
        name: _value_of(declared[name], value)
        for name, value in given.items()
        if name in declared and value is not None
    }


def _value_of(declared: Option, value: Any) -> Any:
    name = f"{declared.name} = {value!r}"
    if not declared.multiple:
        return _one_value(declared, value, name)
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ParameterError(f"{name}; it has to be a list, also of one")
    return [_one_value(declared, each, name) for each in value]


def _one_value(declared: Option, value: Any, name: str) -> Any:
    """Return a value as the type of an option converts it, unless that makes another value."""
    word = os.fspath(value) if isinstance(value, os.PathLike) else value
    wrong = ParameterError(f"{name}; it has to be of type {declared.type.name}")
    if isinstance(word, bool) != declared.is_flag or not isinstance(word, str | numbers.Number):
        raise wrong
    try:
        found = declared.type.convert(word, declared, None)
    except click.BadParameter as error:
        raise ParameterError(f"{name}; {error.message}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise wrong from error
    if not isinstance(word, str) and found != word:
        raise wrong
    return found


def help_records(kind: type, context: click.Context) -> list[tuple[str, str]]:
    """Return what a help text says of the options that a dataclass declares, hidden ones too."""
    shown = [_shown(one) for one in _made(kind)]
    return [record for one in shown if (record := one.get_help_record(context)) is not None]


def names_of(*kinds: type) -> tuple[str, ...]:
    """Return the names of the options that dataclasses declare."""
    return tuple(one.name for kind in kinds for one in dataclasses.fields(kind))


def files_read() -> list[Path]:
    """Return the files that the running command is to read; no output may replace them."""
    context = click.get_current_context()
    return [
        Path(value) if isinstance(value, str) else value
        for kind, value in _given(context)
        if (isinstance(kind, _File) and not isinstance(kind, OutputFile))
        or (isinstance(kind, FileOrWord) and Path(value).exists())
    ]


def files_written() -> list[Path]:
    """Return the files that the running command is to write."""
    given = _given(click.get_current_context())
    return [value for kind, value in given if isinstance(kind, OutputFile)]


def _given(context: click.Context) -> list[tuple[click.ParamType, Any]]:
    """Return the values that a command was given, each with its type."""
    return [
        (one.type, value)
        for one in context.command.params
        for given in [context.params.get(one.name or "")]
        for value in (given if isinstance(given, tuple) else (given,))
        if value is not None
    ]


def refuse_without_effect(names: Iterable[str], because: str) -> None:
    """Raise `UsageError`, with the reason, if an option was given, and not as its default."""
    context = click.get_current_context()
    given = [
        parameter.opts[-1]
        for parameter in context.command.params
        if parameter.name in set(names)
        and context.get_parameter_source(parameter.name or "") == ParameterSource.COMMANDLINE
        # a recipe spells defaults out
        and context.params[parameter.name or ""] != parameter.get_default(context)
    ]
    if given:
        verb = "has" if len(given) == 1 else "have"
        raise click.UsageError(f"{', '.join(given)} {verb} no effect {because}")
