"""Operators cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import markov_operator
from diffclass.blocks import BlockOperator, OperatorBlock, Scratch


@pytest.fixture
def operator():
    return markov_operator(np.random.default_rng(0).normal(size=(90, 3)), n_neighbors=6)


def test_blocks_hold_the_rows_of_the_operator(operator, tmp_path):
    scratch = Scratch(tmp_path)
    starts = (0, 20, 21, 90)
    cut = BlockOperator.from_operator(operator, starts, scratch)
    dense = operator.affinity.toarray()
    for b in range(cut.n_blocks):
        block = OperatorBlock.load(cut, b)
        places = np.concatenate([np.arange(starts[b], starts[b + 1]), block.ghosts])
        found = np.zeros((len(block), 90), dtype=dense.dtype)
        found[:, places] = block.affinity.toarray()
        assert np.array_equal(found, dense[starts[b] : starts[b + 1]])
        assert np.array_equal(block.degrees, operator.degrees[starts[b] : starts[b + 1]])
