"""Killed servers, two tabs, a full disk: a short run of `experiments.relabel.attack`."""

from __future__ import annotations

import sys

import pytest


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of other processes")
def test_nothing_is_lost():
    from experiments.relabel.attack import FATAL, attack

    counts = attack(60, 5, seed=3)
    assert {name: counts[name] for name in FATAL} == dict.fromkeys(FATAL, 0)
    assert counts["operations"] >= 60
    assert counts["acknowledged"] >= 5  # on a busy machine most are cut off by a kill
    assert counts["without room"] > 0
    assert counts["refused"] > 0
    assert counts["replays"] >= 1  # on a busy machine little is labelled before the end
