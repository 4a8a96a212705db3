"""Names of scenes and their outputs, together and on every system; the order of files by name."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

NAME = "{}"  # stands for the name of each scene


def is_for_each(output: str | os.PathLike[str]) -> bool:
    """Tell whether an output is one file for each scene."""
    return NAME in os.fspath(output)


def files_of(output: str | os.PathLike[str], scenes: Sequence[Path]) -> list[Path]:
    """Return the file of an output that belongs to each of some scenes, as `names_of` calls them.

    >>> [file.as_posix() for file in files_of("maps/{}.tif", [Path("left.img"), Path("right.img")])]
    ['maps/left.tif', 'maps/right.tif']
    """
    return [Path(os.fspath(output).replace(NAME, name)) for name in names_of(scenes)]


def names_of(files: Sequence[Path]) -> list[str]:
    """Return a name for each of some files which no other of them has, on no system.

    It is the file's stem. What is too alike gets its ending, its folder, its folder and ending, and
    so on; what is alike on some systems only, as two of which one has a capital, six digits of its
    path. Names that differ in capitals or in how letters are composed are alike.

    >>> names_of([Path("left.tif"), Path("right.tif")])
    ['left', 'right']
    >>> names_of([Path("north/a.tif"), Path("south/a.tif"), Path("b.tif"), Path("b.img")])
    ['north_a', 'south_a', 'b.tif', 'b.img']
    """
    choices = {file.absolute(): _ever_longer(file.absolute()) for file in files}
    chosen = dict.fromkeys(choices, 0)
    while True:
        alike: dict[str, list[Path]] = {}
        for file, names in choices.items():
            alike.setdefault(_folded(names[chosen[file]]), []).append(file)
        changed = False
        for file in (one for group in alike.values() if len(group) > 1 for one in group):
            if chosen[file] + 1 < len(choices[file]):
                chosen[file] += 1
                changed = True
        if not changed:
            return [choices[file.absolute()][chosen[file.absolute()]] for file in files]


def _ever_longer(file: Path) -> list[str]:
    """Return names of a file that tell ever more of where it is; the last one its whole path."""
    folders = [part for part in file.parent.parts if part[-1] not in ":/\\"]  # none is a root
    names = []
    for n in range(len(folders) + 1):
        above = folders[len(folders) - n :]
        names += ["_".join([*above, own]) for own in (file.stem, file.name)]
    return [*names, f"{file.stem}_{digits_of(str(file))}"]


def _folded(name: str) -> str:
    """Return what names have in common that some systems take for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def joint_name(scenes: Sequence[Path]) -> str:
    """Return what several scenes are called together; one has the name of its file.

    >>> joint_name([Path("left.tif"), Path("right.tif")])
    'left and 1 more'
    """
    first = scenes[0]
    return first.name if len(scenes) == 1 else f"{first.stem} and {len(scenes) - 1} more"


def in_natural_order(files: Iterable[Path]) -> list[Path]:
    """Return files by name as people order them: numbers by value, capitals as small letters.

    >>> [file.name for file in in_natural_order(map(Path, ["b10", "B2", "b1", "a3"]))]
    ['a3', 'b1', 'B2', 'b10']
    """

    def parts(file: Path) -> tuple[list[str | int], str]:
        pieces = re.split(r"(\d+)", file.name.lower())  # text and digits in turn
        return [int(p) if k % 2 else p for k, p in enumerate(pieces)], file.name

    return sorted(files, key=parts)


# What Windows refuses, and Linux in part; "{}" stands for names; half of a character is not text.
_REFUSED = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*{}\ud800-\udfff]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_MOST_BYTES = 180  # of 255, so that there is room for what is added


def safe_name(text: str) -> str:
    """Return a text as the beginning of a file's name that every system takes.

    Letters of all scripts stay, composed (NFC). Where something is replaced or cut, a few digits
    of the text's hash follow: two texts never give one name.

    >>> safe_name("Wälder 2024"), safe_name("森林")
    ('Wälder 2024', '森林')
    >>> safe_name("a/b"), safe_name("a:b")
    ('a_b_c14cdd', 'a_b_6783a3')
    """
    whole = unicodedata.normalize("NFC", text)
    safe = _REFUSED.sub("_", whole).strip(". ").lstrip("-. ")
    if _DEVICES.match(safe):
        safe = f"_{safe}"
    if safe and safe == whole and len(safe.encode()) <= _MOST_BYTES:
        return safe
    begin = safe.encode()[: _MOST_BYTES - 7].decode(errors="ignore")
    return f"{begin}_{digits_of(whole)}"


def digits_of(text: str) -> str:
    """Return six digits that differ where texts do."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:6]
