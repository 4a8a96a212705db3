"""CSV files read, and Markdown tables written: what the tables of the experiments are made of."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
Row = dict[str, str]


def read_rows(name: str) -> list[Row]:
    """Return the rows of a CSV file, its name relative to this folder, by column."""
    with (HERE / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_numbers(name: str) -> dict[str, float]:
    """Return what a file of the columns quantity and value holds."""
    return {row["quantity"]: float(row["value"]) for row in read_rows(name)}


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows with the columns of the first; numbers keep four digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _shortened(value) for name, value in row.items()} for row in rows)


def replace_rows(
    path: Path, rows: Sequence[Mapping[str, object]], key: str, place: Callable[[str], int]
) -> list[Row]:
    """Put rows into a file, instead of those with the same value of a column; return all.

    ``place`` orders the values of the column.
    """
    new = [{name: str(_shortened(value)) for name, value in row.items()} for row in rows]
    old = read_rows(str(path)) if path.exists() else []
    replaced = {row[key] for row in new}
    kept = [row for row in old if row[key] not in replaced] + new
    kept.sort(key=lambda row: place(row[key]))
    write_rows(path, kept)
    return kept


def _shortened(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(str(cell) for cell in cells)} |" for cells in lines]
