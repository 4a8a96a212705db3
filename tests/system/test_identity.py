"""Hashes of content: what counts and what does not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from diffclass.system import identity
from diffclass.system.identity import content_hash, differences, file_hash, sources


def drawn(dtype: str, shape: list[int], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, size=shape).astype(dtype)


ARRAYS = st.builds(
    drawn,
    st.sampled_from(["f4", "f8", "i2", "u1", "?"]),
    st.lists(st.integers(0, 4), max_size=3),
    st.integers(0, 5),
)


@given(ARRAYS, st.integers(1, 64))
def test_layout_byte_order_and_pieces_do_not_count(values, at_once):
    known, whole = content_hash(values), identity._AT_ONCE
    assert content_hash(np.array(values, order="F")) == known
    assert content_hash(values.astype(values.dtype.newbyteorder(">"))) == known
    try:
        identity._AT_ONCE = at_once
        assert content_hash(values) == known
    finally:
        identity._AT_ONCE = whole


@given(ARRAYS, ARRAYS)
def test_values_shape_and_type_count(first, second):
    same = first.dtype == second.dtype and first.shape == second.shape
    same = same and first.tobytes() == second.tobytes()
    assert (content_hash(first) == content_hash(second)) == same
    assert content_hash(first, second) != content_hash(second, first) or same


def test_sparse_arrays_files_and_pieces(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    rows = sp.csr_array(X)
    assert content_hash(rows) == content_hash(rows.copy()) != content_hash(sp.csr_array(X[::-1]))
    np.save(tmp_path / "x.npy", X)
    assert content_hash(np.load(tmp_path / "x.npy", mmap_mode="r")) == content_hash(X)
    assert content_hash(iter([X[:1], X[1:]])) == content_hash(iter([X]))
    assert file_hash(tmp_path / "x.npy") != content_hash(X)
    with pytest.raises(TypeError):
        content_hash(np.array(["a", None], dtype=object))


def test_sources_are_those_of_all_files(tmp_path):
    (tmp_path / "a.py").write_text("1")
    first = sources(tmp_path)
    (tmp_path / "a.py").write_text("2")
    assert sources(tmp_path) == first  # of this process
    sources.cache_clear()
    assert sources(tmp_path) != first


def test_differences_are_in_words():
    assert differences({"a": 1}, {"a": 1}) == []
    assert differences({"a": 1}, {"b": None, "c": 2}) == ["a (1, now None)", "c (None, now 2)"]
