"""Tutorials: Markdown guides whose Python runs as a notebook, with what it prints and draws.

Blocks of Python are cells, all between them is text. The pages show the output of each cell; the
notebook with its output can be downloaded. A cell that draws says in its last line what there is to
see, as in ``# figure: the two moons and their classes``.
"""

from __future__ import annotations

import base64
import copy
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from guides import GuideError
from markdown_it import MarkdownIt
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

LONGEST = 120  # seconds that a cell may take
DRAWS = "# figure: "
_FIGURE = re.compile(rf"{DRAWS}(.+)\s*\Z")


def notebook_of(text: str) -> nbformat.NotebookNode:
    """Return the notebook of a tutorial."""
    lines, cells, done = text.splitlines(keepends=True), [], 0
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "fence" and token.info.strip() == "python" and token.level == 0:
            before, last = "".join(lines[done : token.map[0]]).strip(), token.map[1]
            cells += [nbformat.v4.new_markdown_cell(before)] if before else []
            cells.append(nbformat.v4.new_code_cell(token.content.strip()))
            done = last
    rest = "".join(lines[done:]).strip()
    cells += [nbformat.v4.new_markdown_cell(rest)] if rest else []
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # else of chance
    return nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


def run(notebook: nbformat.NotebookNode, path: str) -> None:
    """Run the cells in a folder of their own, which is gone afterwards; outputs stay in them.

    - `GuideError` where a cell fails
    """
    environment = {name: v for name, v in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    root = Path(__file__).resolve().parent.parent
    environment["PYTHONPATH"] = os.pathsep.join([str(root), str(root / "plugins")])
    environment["PYTHONWARNINGS"] = "error::UserWarning"
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=LONGEST,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            raise GuideError(f"{path}: {error}") from error


def with_outputs(notebook: nbformat.NotebookNode, path: str) -> tuple[str, dict[str, bytes]]:
    """Return the Markdown of a tutorial with its outputs, and the files that it shows.

    - `path`: of the tutorial, in the repository
    """
    name = Path(path).stem
    files = {f"{name}.ipynb": nbformat.writes(without_pictures(notebook)).encode()}
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        said = "".join(_texts(cell))
        if said.strip():
            parts.append(f"```text\n{said.rstrip()}\n```")
        for picture in _pictures(cell):
            found = _FIGURE.search(cell.source)
            if found is None:
                raise GuideError(f"{path}: a cell draws and does not say what, in a last line "
                                 "# figure: ...")  # fmt: skip
            file = f"{name}_{sum(key.endswith('.png') for key in files) + 1}.png"
            files[file] = picture
            parts.append(f"![{found.group(1)}]({file})")
    title, _, rest = "\n\n".join(parts).partition("\n")
    note = f"[Download this page as a notebook]({name}.ipynb)"
    return f"{title}\n\n{note}\n{rest}\n", files


def without_pictures(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook with what its cells print alone; the page shows the pictures."""
    small = copy.deepcopy(notebook)
    for cell in small.cells:
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if not _pictures({"outputs": [one]})]
    return small


def _texts(cell: nbformat.NotebookNode) -> list[str]:
    """Return what a cell prints, and its last value where it is no picture."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stdout":
            texts.append(output.text)
        elif output.output_type == "execute_result" and "image/png" not in output.data:
            texts.append(output.data["text/plain"] + "\n")
    return texts


def _pictures(cell: Any) -> list[bytes]:
    data = (output.get("data", {}).get("image/png") for output in cell["outputs"])
    return [base64.b64decode(picture) for picture in data if picture]
