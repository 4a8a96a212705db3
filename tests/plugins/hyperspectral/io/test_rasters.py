"""Cubes that stay in their files are read when asked, as the arrays that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.rasters import BlockArray


def make_blocks(path, step):
    cube = np.arange(11 * 3 * 4).reshape(11, 3, 4)
    asked = []

    def read_rows(start, stop):
        asked.append((start, stop))
        return cube[start:stop]

    blocks = BlockArray(cube.shape, cube.dtype, read_rows=read_rows, path=path, step=step)
    return cube, asked, blocks


@pytest.mark.parametrize("step", [1, 4, 50])
def test_blocks_are_the_array(tmp_path, step):
    cube, asked, blocks = make_blocks(tmp_path, step)
    assert (blocks.shape, blocks.ndim, blocks.size, len(blocks)) == (cube.shape, 3, cube.size, 11)
    assert asked == []
    few = blocks[..., np.array([True, False, False, True])][..., [1, 0]]
    assert (few.shape, asked) == ((11, 3, 2), [])
    for start in range(12):
        for stop in range(start, 12):
            np.testing.assert_array_equal(blocks[start:stop], cube[start:stop])
            np.testing.assert_array_equal(few[start:stop], cube[start:stop][..., [3, 0]])
    np.testing.assert_array_equal(blocks[2:5, 1], cube[2:5, 1])
    np.testing.assert_array_equal(blocks[-1], cube[-1])
    np.testing.assert_array_equal(blocks[::2], cube[::2])
    np.testing.assert_array_equal(np.asarray(blocks, dtype=float), cube)


def test_a_piece_is_read_once(tmp_path):
    _, asked, blocks = make_blocks(tmp_path, 4)
    for row in range(11):
        blocks[row : row + 1]
    assert asked == [(0, 4), (4, 8), (8, 11)]


def test_a_block_that_is_cut_short(tmp_path):
    blocks = BlockArray((4, 2, 1), "f4", read_rows=lambda *_: np.zeros((1, 2, 1)), path=tmp_path)
    with pytest.raises(DataError, match="damaged"):
        blocks[0:4]
