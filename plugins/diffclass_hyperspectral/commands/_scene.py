"""Options that say which part of a scene is read: for every command that reads one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from diffclass.command_line import option


@dataclass(frozen=True)
class ScenePart:
    """Which part of a scene is read."""

    title = "Part of the scene"
    bands: str | None = option(
        "Bands to work with, by number from 1 or by wavelength: 1-50,60 or "
        "450-1300,1500-1750nm. By default all that the file calls good.",
    )
    mask: Path | None = option(
        "Leave out the pixels where this image is not 0, or inside these shapes."
    )
    roi: str | None = option(
        "Work only inside these shapes, where this image is not 0, or in the box "
        "LEFT,BOTTOM,RIGHT,TOP of the scene's map coordinates.",
    )
    variable: str | None = option(
        "Array to take from a .mat or HDF5 scene with several.", hidden=True
    )

    @property
    def opening(self) -> dict[str, Any]:
        """The options as `open_scene` takes them."""
        return asdict(self)

    @property
    def files(self) -> list[Path]:
        """The files that they name, which no output may replace."""
        named = [self.mask, self.roi]
        return [Path(path) for path in named if path is not None and Path(path).exists()]

    @property
    def words(self) -> dict[str, str | None]:
        """The options as texts that name the same files from every folder."""
        files = {str(path): str(path.absolute()) for path in self.files}
        texts = {name: value and str(value) for name, value in self.opening.items()}
        of_files = {name: files.get(texts[name] or "", texts[name]) for name in ("mask", "roi")}
        return texts | of_files
