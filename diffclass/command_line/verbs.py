"""Commands that take inputs of several kinds, such as scenes and tables.

Each is one command with the options of all kinds. The kind that claims the input serves it, with
its own options: one that it has not is refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import Any

import click

from diffclass.command_line.inputs import InputKind, kind_of, kinds, service_at
from diffclass.command_line.option_groups import FIRST_TITLE, Command, Option

_INPUT = "input"


class Verb(Command):
    """A command that the kind of its input serves.

    ``services`` are the commands that serve some kinds, besides those that the kinds name
    themselves; ``without_input`` is the kind that serves where no input is named;
    ``reads_classes`` tells from the options' names whether the input holds classes.
    """

    def __init__(
        self,
        name: str,
        summary: str,
        *,
        services: Mapping[str, str] | None = None,
        without_input: str | None = None,
        reads_classes: Callable[[Collection[str]], bool] = lambda _: False,
    ):
        self._params: list[click.Parameter] = []
        self._places = dict(services or {})
        self._without_input = without_input
        self._reads_classes = reads_classes
        super().__init__(name, short_help=summary)

    @property
    def services(self) -> dict[InputKind, click.Command]:
        """The commands that serve each kind."""
        places = {
            kind: self._places.get(kind.name) or kind.services.get(self.name or "")
            for kind in kinds().values()
        }
        return {kind: service_at(place) for kind, place in places.items() if place is not None}

    @property
    def params(self) -> list[click.Parameter]:
        """The input, the options that all kinds have, and those of each kind."""
        if not self._params:
            self._params = _together(self.services, required=self._without_input is None)
        return self._params

    @params.setter
    def params(self, given: list[click.Parameter]) -> None:
        self._params = given

    @property
    def epilog(self) -> str:
        """An example of each kind."""
        return "\n".join(one.epilog or "" for one in self.services.values())

    @epilog.setter
    def epilog(self, given: str | None) -> None:
        """Examples are those of the kinds."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return the context of the command that serves the input; of its own without an input."""
        service = None
        if not extra.get("resilient_parsing"):  # as when options are completed
            with click.Context(self, info_name=info_name, parent=parent) as context:
                service = self._service_of(args, context)
        if service is None:
            return super().make_context(info_name, args, parent, **extra)
        kind, found = service
        return found.make_context(info_name, args, parent, obj=kind, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke the command that serves the input, whose context it is."""
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does with each kind."""
        for service in self.services.values():
            service.format_help_text(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write an example of each kind."""
        for service in self.services.values():
            service.format_epilog(ctx, formatter)

    def _service_of(
        self, args: Sequence[str], context: click.Context
    ) -> tuple[InputKind, click.Command] | None:
        """Return the kind of the input and what serves it, None where only help is asked for."""
        given, words, _ = self.make_parser(context).parse_args(list(args))
        named = given.pop(_INPUT, None)
        inputs = [*named] if isinstance(named, Sequence) else words
        services = self.services
        if not inputs:
            asked = (one.name for one in self.get_params(context) if one.is_eager)
            default = None if set(asked) & set(given) else self._without_input
            return next((one for one in services.items() if one[0].name == default), None)
        kind = kind_of(inputs[0], holds_classes=self._reads_classes(given))
        found = next((one for one in services.items() if one[0].name == kind.name), None)
        if found is None:
            others = " and ".join(one.plural for one in services)
            text = f"{inputs[0]} is a {kind.name}; {self.name} takes {others}"
            raise click.UsageError(text, context)
        own = {one.name for one in found[1].get_params(context)}
        for name in given:
            if name not in own:
                option = next(one.opts[-1] for one in self.params if one.name == name)
                others = " and ".join(
                    other.plural for other, one in services.items() if name in _names_of(one)
                )
                text = f"{option} is for {others}; {inputs[0]} is a {kind.name}"
                raise click.UsageError(text, context)
        return found


def _names_of(command: click.Command) -> set[str | None]:
    return {one.name for one in command.params}


def _together(
    services: Mapping[InputKind, click.Command], *, required: bool
) -> list[click.Parameter]:
    """Return an argument for the input, the options of all kinds, and those of single ones."""
    found: dict[str, dict[InputKind, Option]] = {}
    for kind, command in services.items():
        for one in command.params:
            if isinstance(one, Option):
                found.setdefault(one.opts[-1], {})[kind] = one
    of_all = [each for each in found.values() if len(each) == len(services)]
    others = [each for each in found.values() if len(each) < len(services)]
    metavar = " | ".join(map(_input_of, services.values()))
    return [
        click.Argument([_INPUT], nargs=-1, required=required, metavar=metavar),
        *(_as_one(each, of_all=True) for each in of_all),
        *(_as_one(each, of_all=False) for each in others),
    ]


def _input_of(command: click.Command) -> str:
    """Return the arguments of a command as its usage shows them."""
    context = click.Context(command)
    shown = [one.make_metavar(context) for one in command.params if isinstance(one, click.Argument)]
    return " ".join(shown)


def _as_one(each: Mapping[InputKind, Option], *, of_all: bool) -> Option:
    """Return an option of one or more kinds as it is shown where the kind is not known."""
    whole = copy(next(iter(each.values())))
    texts = {kind: one.help or "" for kind, one in each.items()}
    if len(set(texts.values())) > 1:
        whole.help = " ".join(f"Of {kind.plural}: {text}" for kind, text in texts.items())
    if not of_all:
        named = f"Of {' and '.join(kind.plural for kind in each)}"
        whole.title = named if whole.title == FIRST_TITLE else f"{named}: {whole.title}"
    return whole


anomaly = Verb("anomaly", "Score every pixel or row by how unlike the others it is.")
classify = Verb("classify", "Classify every pixel or row from a few labels.")
cluster = Verb("cluster", "Divide pixels or rows into clusters: classes without labels.")
embed = Verb("embed", "Write the diffusion coordinates of pixels or rows.")
evaluate = Verb(
    "evaluate", "Compare a class map, or classes of rows, with the truth.",
    reads_classes=lambda _: True,
)  # fmt: skip
info = Verb("info", "Show what a scene or a table holds.")
suggest = Verb(
    "suggest", "Suggest which pixels or rows to label next.",
    reads_classes=lambda given: "for_validation" in given,
)  # fmt: skip
