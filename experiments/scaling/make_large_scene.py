"""A synthetic scene larger than memory, made a few rows at a time.

    python -m experiments.scaling.make_large_scene FOLDER [--side 3200] [--labels-per-class 10]

Square, 100 bands, 16 classes, int16, 2 GB with 3,200 rows: the model of
`experiments.datasets.make_hyperspectral_scene` on the fields of `million`. The smooth changes
within classes and of the light are drawn at every fifth pixel and interpolated, and a class changes
from field to field, not from one connected region to the next. FOLDER gets scene.img and scene.hdr
(ENVI, reflectance x 10,000), truth.npy (uint8) and labels.npy, which has a few pixels of each class
and 0 elsewhere. The file does not depend on how many rows are made at a time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

from diffclass.system.output import replacing
from experiments.datasets.field_scene import abundance, add_correlated_noise, reflectances
from experiments.scaling.million import (
    LABELS_PER_CLASS,
    N_BANDS,
    N_CLASSES,
    cells,
    class_of,
    n_fields,
)

SCALE = 10_000
VALUES_AT_ONCE = 2**23
_SPACING = 5  # pixels between those at which smooth fields are drawn
_BLUR = 2  # pixels that the instrument's blur reaches
_CHANGE, _LIGHT = 15.0, 25.0  # pixels: correlation lengths

_HEADER = """ENVI
description = {{synthetic scene, seed {seed}}}
samples = {side}
lines = {side}
bands = {bands}
header offset = 0
file type = ENVI Standard
data type = 2
interleave = bip
byte order = 0
reflectance scale factor = {scale}
wavelength units = Nanometers
wavelength = {{{wavelengths}}}
"""


@dataclass(frozen=True)
class LargeScene:
    """Rows of a scene on demand.

    Attributes
    ----------
    side : int
        Rows and columns.
    noise : float
        Standard deviation, in units of reflectance.
    seed : int
    """

    side: int
    noise: float = 0.02
    seed: int = 0

    def blocks(self) -> Iterator[range]:
        """Yield the rows that are made at a time."""
        step = max(1, VALUES_AT_ONCE // (self.side * N_BANDS))
        return (range(r, min(r + step, self.side)) for r in range(0, self.side, step))

    def truth(self, rows: range) -> np.ndarray:
        """Return the classes of some rows, uint8 of shape (n_rows, side)."""
        return class_of(cells(self.side, rows, self.seed))

    def stored(self, rows: range) -> np.ndarray:
        """Return some rows as the file has them, int16 of shape (n_rows, side, bands)."""
        around = range(max(0, rows.start - _BLUR), min(self.side, rows.stop + _BLUR))
        fields = cells(self.side, around, self.seed)
        inner = slice(rows.start - around.start, rows.stop - around.start)
        classes, offsets = class_of(fields), self._offsets[fields[inner]]
        changes, light = self._smooth_fields(rows)
        weights = np.empty((2 * N_CLASSES, len(rows), self.side), dtype=np.float32)
        for i in range(N_CLASSES):
            weights[2 * i] = abundance(classes, i + 1)[inner] * light
            weights[2 * i + 1] = weights[2 * i] * (changes[i] + offsets)
        cube = np.tensordot(weights, self._basis, axes=(0, 0))
        for row, line in zip(rows, cube, strict=True):
            add_correlated_noise(line[None], self.noise, self._rng("noise", row))
        return np.clip(np.rint(cube * SCALE), 0, np.iinfo(np.int16).max).astype("<i2")

    def _rng(self, purpose: str, number: int = 0) -> np.random.Generator:
        return np.random.default_rng([self.seed, number, *purpose.encode()])

    @cached_property
    def _basis(self) -> np.ndarray:
        return reflectances(0, N_CLASSES, n_bands=N_BANDS, rng=self._rng("spectra"))

    @cached_property
    def _offsets(self) -> np.ndarray:
        drawn = self._rng("offsets").standard_normal(n_fields(self.side), dtype=np.float32)
        return np.float32(0.7) * drawn

    @cached_property
    def _coarse(self) -> np.ndarray:
        """Changes of the classes, and of the light, at every fifth pixel."""
        n = -(-self.side // _SPACING) + 1
        out = self._rng("smooth").standard_normal((N_CLASSES + 1, n, n), dtype=np.float32)
        for field, scale in zip(out, [_CHANGE] * N_CLASSES + [_LIGHT], strict=True):
            field[:] = gaussian_filter(field, scale / _SPACING)
            field -= field.mean()
            field /= max(float(field.std()), 1e-12)
        return out

    def _smooth_fields(self, rows: range) -> tuple[np.ndarray, np.ndarray]:
        lines = _interpolated(self._coarse, np.arange(rows.start, rows.stop), axis=1)
        fine = _interpolated(lines, np.arange(self.side), axis=2)
        return fine[:-1], 1 + np.float32(0.04) * fine[-1]


def _interpolated(coarse: np.ndarray, places: np.ndarray, *, axis: int) -> np.ndarray:
    """Interpolate linearly between every fifth pixel."""
    low, shift = np.divmod(places, _SPACING)
    share = (
        (shift / _SPACING).astype(np.float32).reshape([-1 if a == axis else 1 for a in (0, 1, 2)])
    )
    return coarse.take(low, axis) * (1 - share) + coarse.take(low + 1, axis) * share


def sparse_labels(truth: np.ndarray, labels_per_class: int, *, seed: int = 0) -> np.ndarray:
    """Return the classes of a few pixels of each class, 0 elsewhere; uint8 as ``truth``."""
    rng = np.random.default_rng(seed)
    out = np.zeros(truth.size, dtype=np.uint8)
    for i in np.unique(truth):
        members = np.flatnonzero(truth.ravel() == i)
        out[rng.choice(members, min(labels_per_class, len(members)), replace=False)] = i
    return out.reshape(truth.shape)


def write_scene(folder: Path, scene: LargeScene, *, labels_per_class: int) -> None:
    """Write scene.img, scene.hdr, truth.npy and labels.npy into a folder."""
    truth = np.empty((scene.side, scene.side), dtype=np.uint8)
    with replacing(folder / "scene.img", overwrite=True) as temporary, temporary.open("wb") as out:
        for rows in scene.blocks():
            truth[rows.start : rows.stop] = scene.truth(rows)
            scene.stored(rows).tofile(out)
    wavelengths = ", ".join(f"{w:.1f}" for w in np.linspace(400, 2500, N_BANDS))
    (folder / "scene.hdr").write_text(
        _HEADER.format(
            seed=scene.seed, side=scene.side, bands=N_BANDS, scale=SCALE, wavelengths=wavelengths
        )
    )
    np.save(folder / "truth.npy", truth)
    np.save(folder / "labels.npy", sparse_labels(truth, labels_per_class, seed=scene.seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--side", type=int, default=3200)
    parser.add_argument("--labels-per-class", type=int, default=2 * LABELS_PER_CLASS)
    parser.add_argument("--noise", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    start = time.perf_counter()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    scene = LargeScene(arguments.side, arguments.noise, arguments.seed)
    write_scene(arguments.folder, scene, labels_per_class=arguments.labels_per_class)
    size = (arguments.folder / "scene.img").stat().st_size
    print(f"{size / 1e9:.2f} GB in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
