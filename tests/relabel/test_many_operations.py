"""A thousand operations in a row, from two tabs: engine, clients and file agree in the end."""

from __future__ import annotations

import numpy as np

from diffclass import diffuse_labels
from diffclass_relabel import session_log

from .strokes import random_operation, three_classes


def test_all_agree(editor, new_editor, serve, connect, tissue, workspace, rng, monkeypatch):
    # other tests check that each line is on disk; waiting for it would take most of this one
    monkeypatch.setattr(session_log.os, "fsync", lambda descriptor: None)
    gate = serve(editor)
    tabs = [connect(gate, name=name) for name in ("one", "two")]
    for operation in three_classes(tissue):
        tabs[0].do(operation)
    refused = 0
    for _ in range(100):  # ten at a time, from both tabs at once
        state = tabs[0].state
        chosen = [random_operation(rng, state, tissue.truth.size) for _ in range(10)]
        sent = [(tabs[i % 2], tabs[i % 2].send({"op": op})) for i, op in enumerate(chosen)]
        refused += sum(tab.reply(number)["kind"] == "refused" for tab, number in sent)
    assert 50 < refused < 500  # careless, not blind
    for tab in tabs:
        tab.ask("update")
        tab.version = editor.version
    first, second = (tab.settled() for tab in tabs)

    # the tabs show what the engine has
    assert np.array_equal(first, second)
    shown = editor.map
    for plane, kept in zip(first, (shown.ids, shown.margin, shown.probability), strict=True):
        assert np.array_equal(plane, kept.ravel())
    assert all(np.array_equal(tab.labels, editor.labels.ids.ravel()) for tab in tabs)
    assert tabs[0].state["classes"] == tabs[1].state["classes"]
    assert editor.version == editor.log.n_operations == 1000 + 6 - refused
    assert len(editor.log.entries) == 1000 + 6

    # the map depends on the labels alone, not on what was done and undone before
    ids = editor.labels.ids.ravel()[workspace.pixels].astype(int)
    y = np.where(ids > 0, ids, -1)
    session = editor.session
    fresh = diffuse_labels(workspace.operator, y, label_mode=session.label_mode, tau=session.tau)
    reached = fresh.codes >= 0
    found = shown.ids.ravel()[workspace.pixels]
    np.testing.assert_array_equal(found, np.where(reached, fresh.classes[fresh.codes], 0))

    # and the file holds all of it
    editor.close()
    again = new_editor()
    assert np.array_equal(again.labels.ids, editor.labels.ids)
    assert np.array_equal(again.update().ids, shown.ids)
    assert again.session.posteriors.tobytes() == editor.session.posteriors.tobytes()
