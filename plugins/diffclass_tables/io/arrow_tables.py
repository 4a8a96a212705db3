"""Tables of columns, by ``pyarrow``: texts such as CSV, Parquet and Feather.

Labels and ids are read by `diffclass.names`: texts as they are written, such as "007", "1.10" and
"true", unless all are whole numbers. The index that pandas writes beside the columns of a frame is
ids, not features.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.names import WHOLE_NUMBER, is_mark, read_names
from diffclass.system.attributes import Attributes, say_unused
from diffclass.system.libraries import require
from diffclass.system.text_dialects import BLANKS, TextDialect, dialect_of, is_number
from diffclass.system.text_dialects import ENDINGS as TEXTS
from diffclass_tables.io.tables import (
    INDEX,
    INDEX_READ,
    ROW,
    Table,
    check_column,
    chosen_names,
    dates_as_text,
    in_words,
    is_index,
    unique_ids,
)

EXTRA = "tables"
ATTRIBUTES = Attributes(
    "Parquet and Feather: metadata of the file and its columns",
    honoured={"index_columns of pandas": "ids"},
)
_FORMATS = {".csv": "CSV", ".tsv": "TSV", ".parquet": "Parquet", ".feather": "Feather"}
_BLOCK = 2**20  # bytes of text that are read at once, if rows are not longer
_LONGEST = 2**16, 2**30  # of a cell, of a row: bytes
_UNNAMED = "__index_level_0__"  # what pandas calls an index in Parquet
_MISTYPED = 0.5  # share of numbers in a column of text from which on a word is a mistake


def read(
    path: Path,
    *,
    columns: str | None,
    id_column: str | None,
    has_features: bool = True,
    apart: Sequence[str] = (),
) -> Table:
    """Open a table of columns; those that are ``apart`` are features only where they are named."""
    stored = read_columns(path)
    names = stored.column_names
    if stored.num_rows == 0:
        raise DataError(f"{path}: holds no row of numbers")
    if id_column is not None:
        check_column(path, id_column, names)
    index = _index_of_pandas(stored)
    id_name = id_column or _usual_ids(stored, index)
    apart = [*apart, *(name for name in (id_name, index) if name is not None)]
    apart += filter(INDEX_READ.fullmatch, names)
    wanted = None if columns is None else chosen_names(path, names, columns, apart)
    found = _features(path, stored, wanted, apart) if has_features else []
    _warn_of_unused(path, stored, found)
    kept = {*found, id_name}
    left_out = tuple(name for name in names if name not in kept)
    ids = (
        np.arange(stored.num_rows)
        if id_name is None
        else unique_ids(path, id_name, as_written(path, stored, id_name, are_ids=True))
    )
    return Table(
        path=path,
        format=_FORMATS.get(path.suffix.lower(), "text"),
        n_rows=stored.num_rows,
        values=_values(path, stored, found) if found else None,
        features=in_words(found),
        id_name=ROW if id_name is None else id_name,
        ids=ids,
        column_names=tuple(names),
        read_column=lambda name: as_array(stored.column(name)),
        read_written=lambda name: as_written(path, stored, name),
        left_out=left_out,
    )


def read_columns(path: Path, *, as_text: Sequence[str] = ()) -> Any:
    """Return the ``pyarrow.Table`` of a file; an index of pandas without a name is "index".

    Of a text file only the columns ``as_text``, if any, as they stand there, also "NA".
    """
    ending = path.suffix.lower()
    if ending == ".parquet":
        stored = require("pyarrow.parquet", extra=EXTRA).read_table(path)
    elif ending == ".feather":
        stored = require("pyarrow.feather", extra=EXTRA).read_table(path)
        stored.validate(full=True)  # its buffers are those of the file
    else:
        stored = _read_text(path, as_text)
    names = stored.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two columns are called {twice!r}; rename one")
    unnamed = "" if ending in TEXTS else _UNNAMED
    if INDEX in names or unnamed not in (names[:1] if ending in TEXTS else names):
        return stored
    renamed = stored.rename_columns([INDEX if name == unnamed else name for name in names])
    return renamed.replace_schema_metadata(stored.schema.metadata)


def _read_text(path: Path, as_text: Sequence[str]) -> Any:
    arrow = require("pyarrow.csv", extra=EXTRA)
    dialect = dialect_of(path)
    is_blank = dialect.delimiter == BLANKS
    longest = min(_LONGEST[0] * dialect.n_columns, _LONGEST[1])
    names = dialect.names or [str(i + 1) for i in range(dialect.n_columns)]
    only = ["" if name == INDEX and INDEX not in names else name for name in as_text]
    stored = arrow.read_csv(
        _source(path, dialect),
        read_options=arrow.ReadOptions(
            column_names=names,
            skip_rows=0 if is_blank else dialect.n_skipped,
            skip_rows_after_names=int(dialect.names is not None),
            encoding="utf8" if is_blank else dialect.encoding,
            block_size=max(_BLOCK, min(longest, path.stat().st_size + 1)),
        ),
        parse_options=arrow.ParseOptions(
            delimiter="," if is_blank else dialect.delimiter, newlines_in_values=True
        ),
        convert_options=arrow.ConvertOptions(
            decimal_point=dialect.decimal_point,
            strings_can_be_null=not only,
            include_columns=only,
            column_types=dict.fromkeys(only, require("pyarrow").string()),
        ),
    )
    if only and dialect.pads:
        trim = require("pyarrow.compute", extra=EXTRA).utf8_ltrim_whitespace
        stored = require("pyarrow").table({name: trim(stored.column(name)) for name in only})
    if only and dialect.decimal_point == ",":
        stored = require("pyarrow").table({name: _with_point(stored.column(name)) for name in only})
    last = stored.column(-1)[-1].as_py() if stored.num_rows else None
    if isinstance(last, str) and "\n" in last and _n_quotes(path) % 2:
        row = stored.num_rows - 1
        raise DataError(f"{path}: a quote in row {row} is not closed and takes all that follows")
    return stored


def _source(path: Path, dialect: TextDialect) -> Path | io.BytesIO:
    """Return what Arrow reads: commas in place of blanks, and a line end after a line alone."""
    if dialect.delimiter == BLANKS:
        return _with_commas(path, dialect)
    with path.open("rb") as file:
        start = file.read(_BLOCK)
    if b"\n" in start or b"\r" in start or len(start) == _BLOCK:
        return path
    return io.BytesIO(start + "\n".encode(dialect.encoding))


def _with_commas(path: Path, dialect: TextDialect) -> io.BytesIO:
    """Return a table whose columns blanks stand between as one with commas."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(dialect.rows(path))
    return io.BytesIO(text.getvalue().encode())


def _with_point(column: Any) -> Any:
    """Return names with a decimal point where all are whole numbers with a comma, "2,0"."""
    compute = require("pyarrow.compute", extra=EXTRA)
    pattern = f"^ *({WHOLE_NUMBER}),0 *$"
    others = compute.invert(compute.match_substring_regex(column, pattern))
    if not all(map(is_mark, column.filter(others).unique().to_pylist())):
        return column
    return compute.replace_substring_regex(column, pattern, r"\1.0")


def _n_quotes(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b'"') for block in iter(lambda: file.read(_BLOCK), b""))


def _index_of_pandas(stored: Any) -> str | None:
    """Return the column that was the index of a frame, if there is one."""
    names = stored.column_names
    listed = (stored.schema.pandas_metadata or {}).get("index_columns", [])
    written = [INDEX if name == _UNNAMED else name for name in listed if isinstance(name, str)]
    if len(written) == 1 and written[0] in names:
        return str(written[0])
    return str(names[0]) if is_index(names[0]) else None


def _usual_ids(stored: Any, index: str | None) -> str | None:
    """Return the column that holds ids by its name, where each is there once if it is not "id"."""
    names = stored.column_names
    called = [name for name in names if name.lower() == "id"]
    others = [index] if index is not None else names[:1] if names[0] == ROW else []
    return next(iter(called + [name for name in others if _is_unique(stored.column(name))]), None)


def _warn_of_unused(path: Path, stored: Any, features: list[str]) -> None:
    """Tell what the metadata of the file, or of its features, says of values."""
    fields = [stored.schema, *(stored.schema.field(name) for name in features)]
    stated = {name: value for one in fields for name, value in (one.metadata or {}).items()}
    texts = {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for name, value in stated.items()
    }
    form = _FORMATS.get(path.suffix.lower(), "text")
    say_unused(path, form, ATTRIBUTES.unused(texts))


def _is_unique(column: Any) -> bool:
    return column.null_count == 0 and len(column.unique()) == len(column)


def as_array(column: Any) -> np.ndarray:
    """Return a column as an array; missing values are None among words, NaN among numbers."""
    arrow = require("pyarrow", extra=EXTRA)
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if arrow.types.is_integer(column.type) and column.null_count:
        return np.array(column.to_pylist(), dtype=object)  # numbers stay whole
    if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
        return np.array(column.to_pylist(), dtype=object)
    return dates_as_text(np.asarray(column.to_numpy()))


def as_written(path: Path, stored: Any, name: str, *, are_ids: bool = False) -> np.ndarray:
    """Return labels or ids as an array; of a text file as written, None for marks of no class."""
    column = stored.column(name)
    if path.suffix.lower() not in TEXTS:
        return as_array(column)
    column = read_columns(path, as_text=[name]).column(name).combine_chunks()
    if are_ids:
        return _written_ids(column)
    coded = column.dictionary_encode()
    with reading_names(path, name):
        names = read_names(coded.dictionary.to_pylist())
    found = np.array([*names, None], dtype=object)[coded.indices.fill_null(len(names)).to_numpy()]
    return found.astype(np.int64) if {type(value) for value in names} == {int} else found


def _written_ids(column: Any) -> np.ndarray:
    """Return ids as whole numbers if all are written as such, else as texts, None for none."""
    arrow = require("pyarrow", extra=EXTRA)
    compute = require("pyarrow.compute", extra=EXTRA)
    column = compute.if_else(compute.equal(column, ""), None, column)
    pattern = f"^ *({WHOLE_NUMBER}) *$"
    if compute.all(compute.match_substring_regex(column, pattern)).as_py() is False:
        return as_array(column)
    return as_array(compute.replace_substring_regex(column, pattern, r"\1").cast(arrow.int64()))


@contextmanager
def reading_names(path: Path, column: str) -> Iterator[None]:
    """Say in errors about names in which column of which file they stand."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{path}, column {column!r}: {error}") from None


def _features(path: Path, stored: Any, wanted: list[str] | None, apart: Sequence[str]) -> list[str]:
    kinds = {name: _kind(stored.schema.field(name).type) for name in stored.column_names}
    if wanted is not None:
        for name in wanted:
            if kinds[name] == "words":
                raise DataError(f"{path}: {name!r} holds words, no numbers; leave it out")
        chosen = [name for name in wanted if kinds[name] == "vectors"]
        if chosen and len(wanted) > 1:
            raise ParameterError(
                f"{path}: {chosen[0]!r} holds vectors and stands alone; name one of "
                f"{in_words(wanted)}"
            )
        return wanted
    kinds = {name: kind for name, kind in kinds.items() if name not in apart}
    vectors = [name for name, kind in kinds.items() if kind == "vectors"]
    if len(vectors) > 1:
        raise ParameterError(f"{path}: which vectors? --columns {' or '.join(vectors)}")
    if vectors:
        return vectors
    for name, kind in kinds.items():
        if kind == "words":
            _refuse_mistyped(path, name, stored.column(name))
    filled = [name for name in kinds if stored.column(name).null_count < stored.num_rows]
    return [name for name in filled if kinds[name] == "numbers"]


def _kind(of: Any) -> str:
    types = require("pyarrow", extra=EXTRA).types
    if types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of):
        return "vectors" if _kind(of.value_type) == "numbers" else "words"
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return "numbers" if any(is_one(of) for is_one in kinds) else "words"


def _values(path: Path, stored: Any, names: list[str]) -> np.ndarray:
    if len(names) == 1 and _kind(stored.schema.field(names[0]).type) == "vectors":
        return _vectors(path, names[0], stored.column(names[0]))
    columns = (stored.column(name).cast("float64", safe=False) for name in names)
    return np.column_stack([np.asarray(column.to_numpy()) for column in columns])


def _vectors(path: Path, name: str, column: Any) -> np.ndarray:
    """Return a column of vectors as (rows, numbers); rows without one are NaN."""
    compute = require("pyarrow.compute", extra=EXTRA)
    lengths = compute.list_value_length(column).to_numpy()
    there = ~np.isnan(lengths.astype(float))
    sizes, counts = np.unique(lengths[there], return_counts=True)
    if not sizes.any():
        raise DataError(f"{path}: {name!r} holds no vector")
    if len(sizes) > 1:
        usual = sizes[counts.argmax()]
        odd = int(np.flatnonzero(there & (lengths != usual))[0])
        raise DataError(
            f"{path}: vectors of {name!r} have different lengths ({int(usual)} numbers, but "
            f"{lengths[odd]:g} in row {odd}); give rows of one length"
        )
    # of each chunk: together they may be longer than 32-bit offsets reach
    flat = [compute.list_flatten(part).to_numpy(zero_copy_only=False) for part in column.chunks]
    numbers = flat[0] if len(flat) == 1 else np.concatenate(flat)
    numbers = numbers.reshape(-1, int(sizes[0]))
    if there.all():
        return numbers
    kind = numbers.dtype if numbers.dtype.kind == "f" else np.result_type(numbers, np.float32)
    values = np.full((len(there), numbers.shape[1]), np.nan, dtype=kind)
    values[there] = numbers
    return values


def _refuse_mistyped(path: Path, name: str, column: Any) -> None:
    """Refuse a column of numbers that a word among them has made one of words."""
    cells = [cell for cell in column.to_pylist() if isinstance(cell, str) and cell.strip()]
    numeric = [is_number(cell) for cell in cells]
    if not cells or not _MISTYPED <= np.mean(numeric) < 1:
        return
    wrong = next(cell for cell, is_one in zip(cells, numeric, strict=True) if not is_one)
    row = column.to_pylist().index(wrong)
    raise DataError(
        f"{path}: {wrong!r} in row {row} is no number as the others of column {name!r} are; mend "
        "it, or name the features with --columns"
    )
