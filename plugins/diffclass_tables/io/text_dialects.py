"""How a table is written as text: its encoding, separators, decimal sign, and first line.

Programs write such tables in many ways, and the file does not say which. It is told from the first
lines: cells are separated by what gives all lines the same number of them. The first line holds
names where words stand over numbers, where an empty cell stands over a full column (the index of
pandas), or where its numbers are no row: 0, 1, 2, ... or an ascending list such as wavelengths. It
is a row of data where a word of it stands in its column again. What was assumed against the usual
is said; what cannot be told is refused.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError, warn_user

_USUAL = {".csv": ",", ".tsv": "\t"}
ENDINGS = tuple(_USUAL)
_CANDIDATES = {",": "commas", ";": "semicolons", "\t": "tabs"}
_SAMPLE = 2**20  # letters
_MOST_LINES = 1000
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+|[+-]?\d{1,3}(?:,\d{3})+\.\d+")
_MISSING = frozenset(("", "NA", "N/A", "n/a", "null", "NULL", "<NA>"))  # besides "nan"
_HEADS = frozenset(
    ("id", "row", "index", "class", "label", "category", "target", "class_name", "y", "source",
     "target", "weight", "name", "file")
)  # fmt: skip
_MOST_ASCENDING = 0.2  # share of the rows of a table whose first line is a list
_LEAST_LISTED = 6  # numbers in ascending order by chance: one in 720
_LEAST_COUNTED = 4  # 0, 1, 2, 3
_LEAST_ROWS = 5  # to tell how numbers of a column are written
_SHOWN = 6


@dataclass(frozen=True)
class TextDialect:
    """How one file is written.

    Attributes
    ----------
    encoding : str
    delimiter, decimal_point : str
    n_skipped : int
        Lines before the table that are empty or begin with "#".
    names : tuple of str or None
        As they stand in the first line, without blanks around them; None where it is data.
    n_columns : int
    pads : bool
        Whether a blank follows each delimiter.
    """

    encoding: str
    delimiter: str
    decimal_point: str
    n_skipped: int
    names: tuple[str, ...] | None
    n_columns: int
    pads: bool


def dialect_of(path: Path) -> TextDialect:
    """Tell how a text file is written, or raise `DataError` where that cannot be told.

    Warns
    -----
    UserWarning
        Once for a file, of what was assumed.
    """
    facts = path.stat()
    return _told(path, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=64)
def _told(path: Path, _: int, __: int) -> TextDialect:
    text, encoding = _sample(path)
    lines = text.splitlines(keepends=True)
    before = list(takewhile(lambda line: not line.strip() or line.startswith("#"), lines))
    body = "".join(lines[len(before) :])
    if not body:
        raise DataError(f"{path}: holds no row of numbers")
    delimiter, rows = _cells(path, body)
    _say_remarks(path, [line for line in before if line.strip()], delimiter, len(rows[0]))
    if delimiter != _USUAL[path.suffix.lower()]:
        warn_user(f"{path}: columns are separated by {_CANDIDATES[delimiter]}")
    pads = len(rows[0]) > 1 and all(cell[:1] == " " for row in rows for cell in row[1:])
    rows = [[cell.strip() for cell in row] for row in rows]
    point = _decimal_point(path, rows)
    is_named = _first_line_is_names(path, rows, point)
    names = tuple(rows[0]) if is_named else None
    return TextDialect(encoding, delimiter, point, len(before), names, len(rows[0]), pads)


def _say_remarks(path: Path, remarks: list[str], delimiter: str, n_columns: int) -> None:
    """Say that lines are left out, or refuse one that may be names or a row."""
    for line in remarks:
        if len(next(csv.reader([line], delimiter=delimiter))) == n_columns:
            raise DataError(
                f"{path}: begins with {line.strip()[:40]!r}; are these names, a row or a remark? "
                "Take the # away, or the line"
            )
    if remarks:
        what = "line that begins" if len(remarks) == 1 else "lines that begin"
        warn_user(f"{path}: {len(remarks)} {what} with # at the top, left out")


def _sample(path: Path) -> tuple[str, str]:
    """Return the first lines of a file, and its encoding."""
    with path.open("rb") as file:
        start = file.read(4 * _SAMPLE)
        is_all = not file.read(1)
    encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = start.decode(encoding)
    except UnicodeDecodeError as error:
        if is_all or error.start < len(start) - 4:
            raise DataError(
                f"{path}: byte {error.start} is no text in UTF-8; save the file as UTF-8"
            ) from None
        text = start[: error.start].decode(encoding)
    if "\0" in text:
        raise DataError(f"{path}: holds zero bytes, which no text has; save the file as UTF-8")
    if not is_all or len(text) > _SAMPLE:
        text = text[: max(text.rfind("\n", 0, _SAMPLE), text.find("\n"), 0) or None]
    return text, "utf8" if encoding == "utf-8-sig" else "utf16"


def _cells(path: Path, text: str) -> tuple[str, list[list[str]]]:
    """Return the delimiter, and the cells of the first rows."""
    usual = _USUAL[path.suffix.lower()]
    tables = {mark: _parsed(path, text, mark) for mark in _CANDIDATES}
    even = [mark for mark, rows in tables.items() if _width(rows) > 1]
    if usual in even and len(even) > 1:
        even.sort(key=lambda mark: (-_share_of_numbers(tables[mark]), mark != usual))
    if not even and min(map(len, tables[usual])) == 1:
        even = [mark for mark, rows in tables.items() if min(map(len, rows)) > 1]
    if not even:
        _refuse_blanks(path, tables[usual])
    chosen = even[0] if even else usual
    return chosen, tables[chosen]


def _parsed(path: Path, text: str, delimiter: str) -> list[list[str]]:
    found = []
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if any(cell.strip() for cell in cells):
                found.append(cells)
            if len(found) == _MOST_LINES:
                break
    except csv.Error as error:  # a cell of a whole row, by a delimiter that it does not have
        if delimiter == _USUAL[path.suffix.lower()]:
            raise DataError(f"{path}: cannot be read as a table ({error}); mend the file") from None
        return [[""]]
    return found or [[""]]


def _width(rows: list[list[str]]) -> int:
    widths = set(map(len, rows))
    return widths.pop() if len(widths) == 1 else 0


def _share_of_numbers(rows: list[list[str]]) -> float:
    """Return the share of letters that stand in cells of numbers."""
    cells = [cell.strip() for row in rows for cell in row]
    counted = sum(len(cell) for cell in cells if _is_number(cell) or _DECIMAL_COMMA.fullmatch(cell))
    return counted / max(sum(map(len, cells)), 1)


def _refuse_blanks(path: Path, rows: list[list[str]]) -> None:
    """Refuse columns that blanks stand between, which would be one column of words."""
    parts = [" ".join(row).split() for row in rows]
    cells = [cell for row in parts for cell in row]
    if _width(parts) > 1 and 2 * sum(map(_is_number, cells)) >= len(cells):
        raise DataError(
            f"{path}: begins with {rows[0][0][:40]!r}; write commas between columns, or tabs in "
            ".tsv"
        )


def _decimal_point(path: Path, rows: list[list[str]]) -> str:
    cells = Counter(cell for row in rows for cell in row)
    thousands = next((cell for cell in cells if _THOUSANDS.fullmatch(cell)), None)
    if thousands is not None:
        raise DataError(f"{path}: {thousands!r} has marks of thousands; write numbers without them")
    with_comma = next((cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)), None)
    if with_comma is None:
        return "."
    with_point = next((cell for cell in cells if "." in cell and _is_number(cell)), None)
    columns = [column for column in zip(*rows[1:] or rows, strict=False) if any(column)]
    if not any(all(_is_comma_number(cell) for cell in column) for column in columns):
        return "."
    if with_point is not None:
        raise DataError(
            f"{path}: has numbers such as {with_comma!r} and such as {with_point!r}; write all "
            "with a point"
        )
    warn_user(f"{path}: numbers have decimal commas, such as {with_comma}")
    return ","


def _is_comma_number(cell: str) -> bool:
    return cell in _MISSING or _is_number(cell) or _DECIMAL_COMMA.fullmatch(cell) is not None


def _first_line_is_names(path: Path, rows: list[list[str]], point: str) -> bool:
    first, others = rows[0], rows[1:]
    columns = [[row[j] for row in others if j < len(row)] for j in range(len(first))]
    words = [j for j, cell in enumerate(first) if not _is_value(cell, point)]
    numbers = [j for j, cell in enumerate(first) if _is_value(cell, point) and cell]
    if not others:
        return bool(words)
    if len(set(first)) < len(first) and numbers:
        return bool(words) and _stand_over_numbers(words, columns, point)
    if _stand_over_numbers(words, columns, point) or _stands_over_an_index(first, columns):
        return True
    if words and any(first[j].lower() in _HEADS for j in words):
        return True
    if any(first[j] in columns[j] for j in words):
        return _said(path, first, is_names=False)
    if words and not numbers:
        return _said(path, first, is_names=True)
    listed = _are_a_list([first[j] for j in numbers], [columns[j] for j in numbers], point)
    if listed is None:
        raise DataError(
            f"{path}: begins with {_shown(first)}; are these names or a row? Begin the file with a "
            "line of names that are words"
        )
    if listed or words:
        return _said(path, first, is_names=listed)
    return False


def _stand_over_numbers(words: list[int], columns: list[list[str]], point: str) -> bool:
    """Tell whether one of the words of the first line stands over a column of numbers."""
    return any(
        any(columns[j]) and all(_is_value(cell, point) for cell in columns[j]) for j in words
    )


def _stands_over_an_index(first: list[str], columns: list[list[str]]) -> bool:
    return not first[0] and len(first) > 1 and all(columns[0])


def _are_a_list(cells: list[str], columns: list[list[str]], point: str) -> bool | None:
    """Tell whether the numbers of the first line are names; None where that cannot be told."""
    if all(cell.isdecimal() for cell in cells) and all(
        len(column) >= _LEAST_ROWS and all(point in cell or "e" in cell for cell in column if cell)
        for column in columns
    ):
        return True  # whole numbers over numbers that are not
    counts = cells == [str(i) for i in range(len(cells))] and len(cells) > 1
    if counts and len(cells) >= _LEAST_COUNTED:
        return True
    rows = [cells, *zip(*columns, strict=False)]
    values = [[_number(cell, point) for cell in row] for row in rows]
    ascends = [_is_ascending(row) for row in values]
    share = sum(ascends[1:]) / max(len(ascends) - 1, 1)
    if len(cells) > 1 and ascends[0] and share < _MOST_ASCENDING:
        is_far = len(rows) > _LEAST_ROWS and _are_far(values[0], np.array(values[1:]))
        if is_far or (len(cells) >= _LEAST_LISTED and not share):
            return True
        counts = counts or (len(cells) >= _LEAST_COUNTED and not share)
    return None if counts else False


def _is_ascending(row: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(row)) or all(a > b for a, b in pairwise(row))


def _are_far(first: list[float], others: np.ndarray) -> bool:
    """Tell whether numbers lie beyond those below each of them, by more than their range."""
    low, high = np.fmin.reduce(others), np.fmax.reduce(others)  # without NaN
    return bool((np.maximum(low - first, np.array(first) - high) > high - low).all())


def _said(path: Path, first: list[str], *, is_names: bool) -> bool:
    what = "names" if is_names else "a row of data, not as names"
    warn_user(f"{path}: the first line is taken as {what}: {_shown(first)}")
    return is_names


def _shown(cells: Sequence[str]) -> str:
    return ", ".join(cells[:_SHOWN]) + (", ..." if len(cells) > _SHOWN else "")


def _is_value(cell: str, point: str) -> bool:
    """Tell whether a cell is a number or a missing one."""
    return cell in _MISSING or _is_number(cell.replace(point, ".") if point == "," else cell)


def _number(cell: str, point: str) -> float:
    return float("nan") if cell in _MISSING else float(cell.replace(point, "."))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
