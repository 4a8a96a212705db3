"""What a session's map depends on besides what is labelled and the steps."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeVar

from diffclass import StoppingRule, __version__
from diffclass.exceptions import DataError
from diffclass.jobs import sizes_as_text
from diffclass.relabel import KnownSizes, RelabelSession

KERNEL = "shared"

_Settings = TypeVar("_Settings", bound="SessionSettings")


@dataclass(frozen=True, kw_only=True)
class SessionSettings:
    """Settings of the graph and the diffusion; what a session is over adds its own."""

    of: ClassVar[str]  # what a session is over, as its header names it
    shown_only: ClassVar[frozenset[str]] = frozenset()  # those that no map depends on

    neighbors: int = 12
    label_mode: str = "auto"  # at the beginning; see `diffclass.relabel.RelabelSession`
    tau: int | str = "auto"  # at the beginning: steps, or the rule that chooses them
    max_time: int | None = None  # last time that the rules look at; None for the library's
    random_state: int = 0

    @classmethod
    def from_header(cls: type[_Settings], header: Mapping[str, Any]) -> _Settings:
        """Return the settings in a session file's header; `DataError` for another version's."""
        if _numbers(header.get("version")) > _numbers(__version__):
            raise DataError(
                f"the session was made by diffclass {header['version']}, newer than this one "
                f"({__version__}); install that version to go on with it"
            )
        if header.get("kernel") != KERNEL:
            raise DataError(
                f"the session was made with the kernel {header.get('kernel')!r}, which this "
                f"version of diffclass does not know ({KERNEL!r} only); use the version "
                f"{header.get('version')!r}"
            )
        of = header.get("of", SceneSettings.of)
        if of != cls.of:
            raise DataError(f"the session is one of a {of}, and what is given is a {cls.of}")
        try:
            settings = dict(header["settings"])
            if "seed" in settings:  # as the command's option is called
                settings["random_state"] = settings.pop("seed")
            return cls(**settings)
        except (KeyError, TypeError) as error:
            raise DataError(f"the session's header lacks its settings ({error})") from error

    @property
    def given_tau(self) -> int | None:
        """The diffusion time, None where a rule chooses it."""
        return None if isinstance(self.tau, str) else self.tau

    @property
    def rule(self) -> StoppingRule:
        """How the time is chosen, also later on where it is given at first."""
        by = self.tau if isinstance(self.tau, str) else "auto"
        return StoppingRule(by, max_time=self.max_time)

    def to_header(self) -> dict[str, Any]:
        """Return what the header of a session file says of them."""
        settings = asdict(self)
        settings["seed"] = settings.pop("random_state")
        return {"settings": settings, "kernel": KERNEL, "of": self.of}

    def classify_options(self, session: RelabelSession) -> list[str]:
        """Return the options with which ``diffclass classify`` makes the same map of the labels."""
        by_rule = session.tau_mode == "auto"
        named = {
            "neighbors": self.neighbors,
            "kernel": KERNEL,
            "label-mode": session.asked_label_mode if by_rule else session.label_mode,
            "class-sizes": sizes_text(session, session.counted_sizes),
            "tau": None if by_rule else session.tau,
            "max-time": self.max_time if by_rule else None,
            "seed": self.random_state,
        }
        given = self._of_features() | named
        lists = {
            name: value if isinstance(value, list) else [value] for name, value in given.items()
        }
        return [
            word
            for name, values in lists.items()
            for value in values
            if value is not None
            for word in (f"--{name}", str(value))
        ]

    def _of_features(self) -> dict[str, Any]:
        """Return the options that make the features, by name."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class SceneSettings(SessionSettings):
    """Settings of a session over a scene; for part and variable see `open_tiles`."""

    of: ClassVar[str] = "scene"

    features: str = "spectral"  # or "spatial"
    components: int | None = None  # None, for as many as classify takes, only until a scene is open
    variable: str | None = None
    bands: str | None = None
    mask: str | None = None
    roi: str | None = None

    @property
    def opening(self) -> dict[str, str | None]:
        """What `diffclass_hyperspectral.open_tiles` takes."""
        return {name: getattr(self, name) for name in ("variable", "bands", "mask", "roi")}

    def _of_features(self) -> dict[str, Any]:
        return {"features": self.features, "components": self.components, **self.opening}


@dataclass(frozen=True, kw_only=True)
class TableSettings(SessionSettings):
    """Settings of a session over a table; see `diffclass_tables.open_table` and `Rows`."""

    of: ClassVar[str] = "table"
    shown_only: ClassVar[frozenset[str]] = frozenset({"images", "text"})

    columns: str | None = None
    id_column: str | None = None
    metric: str | None = None
    dimensions: int | None = None
    apart: list[str] | None = None  # columns that are no features because they have labels
    images: str | None = None  # column of paths, or folder of images that are called as the ids
    text: str | None = None  # column of texts

    def _of_features(self) -> dict[str, Any]:
        return {
            "columns": self.columns,
            "id": self.id_column,
            "metric": self.metric,
            "dimensions": self.dimensions,
            "apart": self.apart,
        }


def sizes_text(session: RelabelSession, sizes: KnownSizes | None) -> str | None:
    """Return known sizes of classes as users write them, the classes by their present names."""
    if sizes is None or isinstance(sizes, str):
        return sizes
    names = {info.id: info.name for info in session.classes}
    return sizes_as_text([(size.class_id, size.written) for size in sizes], names)


def _numbers(version: Any) -> tuple[int, ...]:
    """Return the numbers of a version such as "1.2.0"; what is unreadable counts as newest."""
    found = re.match(r"\d+(\.\d+)*", version) if isinstance(version, str) else None
    return tuple(map(int, found.group().split("."))) if found else (sys.maxsize,)
