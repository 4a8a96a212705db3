"""Tables of digits, with the pictures that they are of, and sessions over them."""

from __future__ import annotations

from contextlib import ExitStack, closing

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from diffclass_relabel.session import open_editor


@pytest.fixture(scope="session")
def digits():
    """Features (600, 64) and classes of digits; three rows have a missing value."""
    found = load_digits()
    X, truth = found.data[:600].astype(np.float32), found.target[:600]
    X[[5, 100, 333], 7] = np.nan
    return X, truth


@pytest.fixture(scope="session")
def table_folder(tmp_path_factory, digits):
    """A folder with digits.npy and, for each row, images/NUMBER.png."""
    folder = tmp_path_factory.mktemp("digits")
    X, _ = digits
    np.save(folder / "digits.npy", X)
    (folder / "images").mkdir()
    for row, values in enumerate(load_digits().images[: len(X)]):
        small = Image.fromarray((255 - 15 * values).astype(np.uint8))
        small.resize((40, 32)).save(folder / "images" / f"{row}.png")
    return folder


@pytest.fixture
def open_rows(table_folder, tmp_path):
    """Open a session over the digits, or another table."""
    with ExitStack() as opened:

        def made(name="session.jsonl", table=None, **options):
            table = table_folder / "digits.npy" if table is None else table
            return opened.enter_context(closing(open_editor(table, tmp_path / name, **options)))

        yield made


@pytest.fixture
def answer():
    """Label rows of a session with names of classes, each as a stroke of its own."""

    def answered(editor, rows, names):
        workspace = editor.workspace
        known = {info.name: info.id for info in editor.session.classes}
        for row, name in zip(rows, map(str, names), strict=True):
            if name not in known:
                editor.apply({"op": "add_class", "name": name})
                known[name] = editor.session.classes[-1].id
            point = int(np.flatnonzero(workspace.row_numbers == row)[0])
            pixel = int(workspace.pixels[point])
            editor.apply({"op": "stroke", "class": known[name], "pixels": [pixel, 1]})

    return answered
