"""CSV files read, and Markdown tables written: what the tables of the experiments are made of."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
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


def write_rows(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows with the columns of the first; numbers keep four digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _shortened(value) for name, value in row.items()} for row in rows)


def _shortened(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(str(cell) for cell in cells)} |" for cells in lines]
