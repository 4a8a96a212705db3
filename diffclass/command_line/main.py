"""The ``diffclass`` command: a group of its own commands and of those that other packages add.

Exit codes: 0 done; 2 wrong usage; 3 unreadable or inconsistent data; 4 finished, but a stated bound
was missed; 130 interrupted; 1 any other error.
"""

from __future__ import annotations

import difflib
import gc
import itertools
import json
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from diffclass.command_line.console import (
    DATA,
    INTERRUPTED,
    OTHER_ERROR,
    USAGE,
    CommonOptions,
    Messages,
    messages,
    use_messages,
)
from diffclass.command_line.option_groups import RunOptions, help_records
from diffclass.exceptions import (
    ClusterError,
    DataError,
    DiffclassError,
    ExtensionError,
    ParameterError,
    serving_a_command,
)
from diffclass.system.extensions import (
    COMMANDS,
    QGIS,
    extension_names,
    load_extension,
    own_points,
)

_OBJECTS_BETWEEN_COLLECTIONS = 20_000


class CommandGroup(click.Group):
    """Commands found by entry point; a command's module is imported when it is called or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all installed commands."""
        return sorted({*own_points(COMMANDS), *extension_names(COMMANDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, or None if no command of that name is installed.

        A command of another package that cannot be loaded is replaced by one that says why.
        """
        own = own_points(COMMANDS)
        try:
            added = load_extension(COMMANDS, cmd_name, own=own)
            if added is not None and not isinstance(added, click.Command):
                raise ExtensionError(f"{cmd_name!r} ({COMMANDS}) is no command of click")
        except ExtensionError as error:
            return _failing(cmd_name, error)
        return own[cmd_name].load() if cmd_name in own else added

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the program's options, the commands, and the options that all commands share."""
        super().format_options(ctx, formatter)
        shared = {
            "Options of every command, after its name": CommonOptions,
            "Options of most commands": RunOptions,
        }
        for title, kind in shared.items():
            with formatter.section(title):
                formatter.write_dl(help_records(kind, ctx))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; suggest similar names for a mistyped one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            alike = difflib.get_close_matches(args[0], self.list_commands(ctx), 2)
            if not alike:
                raise
            text = f"{error.message} Did you mean {' or '.join(alike)}?"
            raise click.UsageError(text, ctx) from error


def _failing(name: str, error: ExtensionError) -> click.Command:
    """Return a command that takes any arguments and raises an error."""

    @click.command(
        name,
        short_help=str(error),
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def fail() -> None:
        raise error

    return fail


def _print_algorithms(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    algorithms = []
    for name in extension_names(QGIS):
        try:
            algorithms.append(load_extension(QGIS, name))
        except ExtensionError as error:
            messages().warn(str(error))
    click.echo(json.dumps(algorithms))
    context.exit()


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from diffclass.command_line.doctor import version_line

        click.echo(version_line())
        context.exit()


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Examples: diffclass demo; diffclass classify scene.tif --labels labels.gpkg -o map.tif",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the versions of diffclass and of what it computes with.",
)
@click.option(
    "--qgis-algorithms",
    is_flag=True,
    is_eager=True,
    hidden=True,
    expose_value=False,
    callback=_print_algorithms,
    help="Print the descriptions of algorithms that other packages add to QGIS, as JSON.",
)
def diffclass() -> None:
    """Classify many points from few labels by diffusing the labels over a graph."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; errors are one line on standard error."""
    # imported objects stay to the end; collecting them took a tenth of a short command
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command line on arguments without the program's name; return its exit code."""
    use_messages(Messages(as_json=_wants_json_lines(arguments)))
    if not _is_somewhere():
        messages().fail("the folder of this shell was removed; change into another one", DATA)
        return DATA
    with warnings.catch_warnings(), serving_a_command():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _say_warning
        try:
            return int(diffclass.main(list(arguments), "diffclass", standalone_mode=False) or 0)
        except click.exceptions.Exit as end:
            return end.exit_code
        except (click.Abort, KeyboardInterrupt):
            messages().fail("interrupted; nothing was left half-written", INTERRUPTED)
            return INTERRUPTED
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            return error.exit_code
        except click.ClickException as error:
            _explain_usage(error)
            return error.exit_code
        except Exception as error:
            if "--traceback" in arguments:
                raise
            return _explained(error)


def _is_somewhere() -> bool:
    """Return whether the working directory exists, against which names are read."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _wants_json_lines(arguments: Sequence[str]) -> bool:
    """Return whether errors are written as JSON, read from the arguments before they are parsed."""
    pairs = itertools.pairwise(arguments)
    return "--progress=json" in arguments or ("--progress", "json") in pairs


def _explain_usage(error: click.ClickException) -> None:
    """Write the usage, an example that works, and what is wrong with the call."""
    text = " ".join(error.format_message().split())
    if messages().as_json:
        messages().fail(text, error.exit_code)
        return
    context = getattr(error, "ctx", None)
    if context is not None:
        example = context.command.epilog
        lines = [context.get_usage(), *([example] if example else [])]
        lines.append(f"Try '{context.command_path} --help' for help.")
        click.echo("\n".join(lines) + "\n", err=True)
    click.echo(f"Error: {text}", err=True)


def _explained(error: Exception) -> int:
    text = " ".join(str(error).split())
    if isinstance(error, ParameterError):
        code = USAGE
    elif isinstance(error, DataError | ClusterError | OSError):
        code = DATA
    else:
        kind = "" if isinstance(error, DiffclassError) else f"{type(error).__name__}: "
        text, code = f"{kind}{text} (--traceback shows where)", OTHER_ERROR
    messages().fail(text, code)
    return code


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    messages().warn(" ".join(str(message).split()))
