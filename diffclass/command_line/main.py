"""The ``diffclass`` command: a group of the commands with an entry point "diffclass.commands".

Exit codes: 0 done; 2 wrong usage; 3 unreadable or inconsistent data; 4 finished, but a stated bound
was missed; 130 interrupted; 1 any other error.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Any

import click

from diffclass import __version__
from diffclass.command_line.console import DATA, INTERRUPTED, OTHER_ERROR, USAGE
from diffclass.exceptions import DataError, DiffclassError, ParameterError

_OBJECTS_BETWEEN_COLLECTIONS = 20_000


class CommandGroup(click.Group):
    """Commands found by entry point; a command's module is imported when it is called or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all installed commands."""
        return sorted(point.name for point in entry_points(group="diffclass.commands"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, or None if no command of that name is installed."""
        for point in entry_points(group="diffclass.commands", name=cmd_name):
            return point.load()
        return None


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="diffclass")
def diffclass() -> None:
    """Classify many points from few labels by diffusing the labels over a graph."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; errors are one line on standard error."""
    # what a command imports stays to its end, and a tenth of a short one went into looking at it
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str
        Without the program's name. With ``--traceback`` among them errors are not caught.

    Returns
    -------
    int
        See the module.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _say_warning
        try:
            return int(diffclass.main(list(arguments), "diffclass", standalone_mode=False) or 0)
        except click.exceptions.Exit as end:
            return end.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("interrupted; nothing was left half-written", err=True)
            return INTERRUPTED
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except Exception as error:
            if "--traceback" in arguments:
                raise
            return _explained(error)


def _explained(error: Exception) -> int:
    text = " ".join(str(error).split())
    if isinstance(error, ParameterError):
        click.echo(f"error: {text}", err=True)
        return USAGE
    if isinstance(error, DataError | OSError):
        click.echo(f"error: {text}", err=True)
        return DATA
    kind = "" if isinstance(error, DiffclassError) else f"{type(error).__name__}: "
    click.echo(f"error: {kind}{text} (--traceback shows where)", err=True)
    return OTHER_ERROR


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {' '.join(str(message).split())}", err=True)
