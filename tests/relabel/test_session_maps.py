"""Refined maps that a session keeps: the newest, and classes of more of them."""

from __future__ import annotations

import pytest

from diffclass.relabel import session_maps
from diffclass.relabel.edits import next_state
from diffclass.relabel.session_maps import ClassMap, RefinedMaps
from diffclass.relabel.state import State

N = 100


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize(("n_bytes", "n_ids"), [(2**26, 32), (7 * N, 7), (N - 1, 1)])
def test_only_the_newest_are_kept(most, n_bytes, n_ids, monkeypatch):
    monkeypatch.setattr(session_maps, "_MOST_ID_BYTES", n_bytes)
    kept, nothing = RefinedMaps(most), State.without_labels(N)
    states = [next_state(nothing, {"op": "tau", "tau": tau}) for tau in range(1, 41)]
    maps = [ClassMap(None, N, state.tau, is_refined=True) for state in states]
    for state, refined in zip(states, maps, strict=True):
        kept.add(state, refined)
        assert kept.of(state) is refined
    assert [kept.of(state) for state in states] == [None] * (40 - most) + maps[-most:]
    has_ids = [kept.ids_of(state) is not None for state in states]
    assert has_ids == [False] * (40 - n_ids) + [True] * n_ids
