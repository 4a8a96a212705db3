"""Options that would have no effect are refused: who gives one expects something of it."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.core import ParameterSource


def refuse_without_effect(names: Iterable[str], because: str) -> None:
    """Raise `UsageError` if one of these options was given, other than its default.

    Parameters
    ----------
    names : iterable of str
        Of the running command's parameters.
    because : str
        Why they have no effect.
    """
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
