"""How a table is written as text: its encoding, separators, decimal sign, and first line.

Programs write such tables in many ways, and the file does not say which. It is told from the first
lines: cells are separated by what gives all lines the same number of them; in ``.txt`` and
``.data`` that may be blanks, if a column of numbers results. The first line holds names where words
stand over numbers, or numbers over words, where an empty cell stands over a full column (the index
of pandas), or where its numbers are no row: 0, 1, 2, ... or an ascending list such as wavelengths.
It is a row of data where a word of it stands in its column again. A line "sep=;" above it, as
spreadsheets write, is obeyed if all lines have it. What was assumed against the usual is said; what
cannot be told is refused.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise, takewhile
from pathlib import Path

from diffclass.exceptions import DataError, warn_user

__all__ = [
    "BLANKS",
    "DELIMITERS",
    "ENDINGS",
    "TextDialect",
    "cells_of",
    "dialect_of",
    "is_number",
    "read_text",
    "table_in",
]

_USUAL = {".csv": ",", ".tsv": "\t"}
ENDINGS = (*_USUAL, ".txt", ".data")
BLANKS = " "  # any number of blanks and tabs
_WORDS = re.compile(r'"[^"]*"|\S+')
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_STATED = re.compile(r'"?sep=(.)"?\s*')
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
        `BLANKS` for any number of them.
    n_skipped : int
        Lines before the table that are empty, begin with "#", or state the delimiter.
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

    def rows(self, path: Path) -> Iterator[list[str]]:
        """Yield the cells of each line of the file that is so written; names first, if any."""
        lines = read_text(path).splitlines(keepends=True)[self.n_skipped :]
        return cells_of("".join(lines), self.delimiter)


def dialect_of(path: Path) -> TextDialect:
    r"""Tell how a text file is written, or raise `DataError` where that cannot be told.

    What was assumed is said in a warning, once for a file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "points.txt"
    ...     n = path.write_text("x   y\n1.5 2.0\n2.5 3.0\n")
    ...     found = dialect_of(path)
    >>> found.delimiter == BLANKS, found.names
    (True, ('x', 'y'))
    """
    facts = path.stat()
    return _detected(path, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=64)
def _detected(path: Path, _: int, __: int) -> TextDialect:
    body, before = table_in(read_text(path, most=_SAMPLE))
    if not body:
        raise DataError(f"{path}: holds no row of numbers")
    stated = next((found[1] for found in map(_STATED.fullmatch, before) if found), None)
    delimiter, rows = _cells(path, body, stated)
    _say_remarks(path, [line for line in before if line.startswith("#")], delimiter, len(rows[0]))
    if delimiter not in (stated, _USUAL.get(path.suffix.lower(), delimiter)):
        warn_user(f"{path}: columns are separated by {DELIMITERS[delimiter]}")
    pads = len(rows[0]) > 1 and all(cell[:1] == " " for row in rows for cell in row[1:])
    rows = [[cell.strip() for cell in row] for row in rows]
    point = _decimal_point(path, rows)
    is_named = _first_line_is_names(path, rows, point)
    names = tuple(rows[0]) if is_named else None
    encoding = "utf16" if _encoding(path) == "utf-16" else "utf8"
    return TextDialect(encoding, delimiter, point, len(before), names, len(rows[0]), pads)


def table_in(text: str) -> tuple[str, list[str]]:
    r"""Return a text without the lines above its table, and these.

    They are empty, begin with "#", or state the delimiter, as "sep=;".

    Examples
    --------
    >>> table_in("# made by hand\n\na,b\n1,2\n")
    ('a,b\n1,2\n', ['# made by hand\n', '\n'])
    """
    lines = text.splitlines(keepends=True)
    before = list(takewhile(_is_above, lines))
    return "".join(lines[len(before) :]), before


def _is_above(line: str) -> bool:
    return not line.strip() or line.startswith("#") or _STATED.fullmatch(line) is not None


def cells_of(text: str, delimiter: str) -> Iterator[list[str]]:
    r"""Yield the cells of each line of a text that is not empty; `BLANKS` are any number of them.

    Examples
    --------
    >>> list(cells_of(" 1.5   2\n\n 3 'a'\n", BLANKS))
    [['1.5', '2'], ['3', "'a'"]]
    """
    if delimiter != BLANKS:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return (cells for cells in rows if any(cell.strip() for cell in cells))
    lines = (_WORDS.findall(line) for line in text.splitlines())
    return ([cell.strip('"') for cell in cells] for cells in lines if cells)


def _say_remarks(path: Path, remarks: list[str], delimiter: str, n_columns: int) -> None:
    """Say that lines are left out, or refuse one that may be names or a row."""
    for line in remarks:
        if len(next(cells_of(line.lstrip("#"), delimiter), [])) == n_columns:
            raise DataError(
                f"{path}: begins with {line.strip()[:40]!r}; are these names, a row or a remark? "
                "Take the # away, or the line"
            )
    if remarks:
        what = "line that begins" if len(remarks) == 1 else "lines that begin"
        warn_user(f"{path}: {len(remarks)} {what} with # at the top, left out")


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        is_wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    return "utf-16" if is_wide else "utf-8-sig"


def read_text(path: Path, *, most: int | None = None, errors: str = "strict") -> str:
    r"""Return a text, in UTF-8 or UTF-16, or its first lines, of about ``most`` letters.

    Bytes that are no text are replaced with ``errors="replace"``, else a `DataError`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     n = path.write_text("a,b\n1,2\n", encoding="utf-16")
    ...     read_text(path), read_text(path, most=5)
    ('a,b\n1,2\n', 'a,b')
    """
    encoding = _encoding(path)
    with path.open("rb") as file:
        start = file.read(-1 if most is None else 4 * most)
        is_all = not file.read(1)
    try:
        text = start.decode(encoding, errors)
    except UnicodeDecodeError as error:
        if is_all or error.start < len(start) - 4:
            raise DataError(
                f"{path}: byte {error.start} is no text in UTF-8; save the file as UTF-8"
            ) from None
        text = start[: error.start].decode(encoding)
    if "\0" in text:
        raise DataError(f"{path}: holds zero bytes, which no text has; save the file as UTF-8")
    if most is not None and (not is_all or len(text) > most):
        text = text[: max(text.rfind("\n", 0, most), text.find("\n"), 0) or None]
    return text


def _cells(path: Path, text: str, stated: str | None) -> tuple[str, list[list[str]]]:
    """Return the delimiter, that stated if all lines have it, and the cells of the first rows."""
    if stated and min(map(len, rows := _parsed(text, stated)[0])) > 1:
        return stated, rows
    usual = _USUAL.get(path.suffix.lower())
    tables, errors = {}, {}
    for mark in DELIMITERS:
        tables[mark], errors[mark] = _parsed(text, mark)
    even = [mark for mark, rows in tables.items() if _width(rows) > 1]
    if usual is None:
        tables[BLANKS] = list(islice(cells_of(text, BLANKS), _MOST_LINES))
        even += [BLANKS] if _has_numbers(tables[BLANKS]) else []
    if len(even) > 1:
        even.sort(key=lambda mark: (-_share_of_numbers(tables[mark]), mark != usual))
    usual = usual or ","
    if not even and min(map(len, tables[usual])) == 1:
        even = [mark for mark in DELIMITERS if min(map(len, tables[mark])) > 1]
    if not even:
        _refuse_blanks(path, tables[usual])
    chosen = even[0] if even else usual
    if error := errors.get(chosen):
        raise DataError(f"{path}: cannot be read as a table ({error}); mend the file")
    return chosen, tables[chosen]


def _parsed(text: str, delimiter: str) -> tuple[list[list[str]], csv.Error | None]:
    """Return the cells of the first rows, or a single empty one and why there are none."""
    found = []
    try:
        for cells in islice(cells_of(text, delimiter), _MOST_LINES):
            found.append(cells)
    except csv.Error as error:  # a cell is too long: a whole row, without the delimiter
        return [[""]], error
    return found or [[""]], None


def _width(rows: list[list[str]]) -> int:
    widths = set(map(len, rows))
    return widths.pop() if len(widths) == 1 else 0


def _has_numbers(rows: list[list[str]]) -> bool:
    """Tell whether rows have as many cells each, and one column of numbers below the first row."""
    if _width(rows) < 2 or len(rows) < 2:
        return False
    return any(
        all(is_number(cell) or _DECIMAL_COMMA.fullmatch(cell) for cell in column)
        for column in zip(*rows[1:], strict=True)
    )


def _share_of_numbers(rows: list[list[str]]) -> float:
    """Return the share of letters that stand in cells of numbers."""
    cells = [cell.strip() for row in rows for cell in row]
    counted = sum(len(cell) for cell in cells if is_number(cell) or _DECIMAL_COMMA.fullmatch(cell))
    return counted / max(sum(map(len, cells)), 1)


def _refuse_blanks(path: Path, rows: list[list[str]]) -> None:
    """Refuse columns that blanks stand between, which would be one column of words."""
    parts = [" ".join(row).split() for row in rows]
    cells = [cell.strip('"') for row in parts for cell in row]
    if min(map(len, parts)) < 2 or 2 * sum(map(is_number, cells)) < len(cells):
        return
    if _width(parts):
        mend = "write commas between columns, or tabs in .tsv, or call the file .txt"
    elif _width(rows) == 1:
        mend = "give every line, also that of names, as many cells, and write commas between them"
    else:
        return  # the row that has more or fewer cells will be named
    raise DataError(f"{path}: begins with {rows[0][0][:40]!r}; {mend}")


def _decimal_point(path: Path, rows: list[list[str]]) -> str:
    cells = Counter(cell for row in rows for cell in row)
    thousands = next((cell for cell in cells if _THOUSANDS.fullmatch(cell)), None)
    if thousands is not None:
        raise DataError(f"{path}: {thousands!r} has marks of thousands; write numbers without them")
    with_comma = next((cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)), None)
    if with_comma is None:
        return "."
    with_point = next((cell for cell in cells if "." in cell and is_number(cell)), None)
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
    return cell in _MISSING or is_number(cell) or _DECIMAL_COMMA.fullmatch(cell) is not None


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
        return _warn_of_first_line(path, first, is_names=False)
    if (words and not numbers) or _stand_over_words(numbers, columns, point):
        return _warn_of_first_line(path, first, is_names=True)
    numbers = [j for j in numbers if all(_is_value(cell, point) for cell in columns[j])]
    listed = _are_a_list([first[j] for j in numbers], [columns[j] for j in numbers], point)
    if listed is None:
        raise DataError(
            f"{path}: begins with {_shown(first)}; are these names or a row? Begin the file with a "
            "line of names that are words"
        )
    if listed or words:
        return _warn_of_first_line(path, first, is_names=listed)
    return False


def _stand_over_numbers(words: list[int], columns: list[list[str]], point: str) -> bool:
    """Tell whether one of the words of the first line stands over a column of numbers."""
    return any(
        any(columns[j]) and all(_is_value(cell, point) for cell in columns[j]) for j in words
    )


def _stand_over_words(numbers: list[int], columns: list[list[str]], point: str) -> bool:
    """Tell whether one of the numbers of the first line stands over a column without any."""
    filled = [[cell for cell in columns[j] if cell not in _MISSING] for j in numbers]
    return any(
        len(column) >= _LEAST_ROWS and not any(_is_value(cell, point) for cell in column)
        for column in filled
    )


def _stands_over_an_index(first: list[str], columns: list[list[str]]) -> bool:
    return not first[0] and len(first) > 1 and all(columns[0])


def _are_a_list(cells: list[str], columns: list[list[str]], point: str) -> bool | None:
    """Tell whether the numbers of the first line are names; None where that cannot be told."""
    if not cells:
        return None
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
        is_far = len(rows) > _LEAST_ROWS and _are_far(values)
        if is_far or (len(cells) >= _LEAST_LISTED and not share):
            return True
        counts = counts or (len(cells) >= _LEAST_COUNTED and not share)
    return None if counts else False


def _is_ascending(row: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(row)) or all(a > b for a, b in pairwise(row))


def _are_far(values: list[list[float]]) -> bool:
    """Tell whether numbers lie beyond those below each of them, by more than their range."""
    import numpy as np  # not for the endings alone, which every --help asks for

    first, others = np.array(values[0]), np.array(values[1:])
    low, high = np.fmin.reduce(others), np.fmax.reduce(others)  # without NaN
    return bool((np.maximum(low - first, first - high) > high - low).all())


def _warn_of_first_line(path: Path, first: list[str], *, is_names: bool) -> bool:
    what = "names" if is_names else "a row of data, not as names"
    warn_user(f"{path}: the first line is taken as {what}: {_shown(first)}")
    return is_names


def _shown(cells: Sequence[str]) -> str:
    return ", ".join(cells[:_SHOWN]) + (", ..." if len(cells) > _SHOWN else "")


def _is_value(cell: str, point: str) -> bool:
    """Tell whether a cell is a number or a missing one."""
    return cell in _MISSING or is_number(cell.replace(point, ".") if point == "," else cell)


def _number(cell: str, point: str) -> float:
    return float("nan") if cell in _MISSING else float(cell.replace(point, "."))


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number as tables write them: of ASCII digits, and no "1_000"."""
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell
