"""What is drawn, when, and how little of it again: from a stroke to its map on the canvas."""

from __future__ import annotations

import pytest

from diffclass_relabel import maps

# messages with pieces of a map wait in `held` while `holding` is set
HOLD = """
  [window.held, window.holding] = [[], false];
  const header = data => new TextDecoder().decode(data.slice(4, 60));
  window.WebSocket = class extends WebSocket {
    set onmessage(act) {
      super.onmessage = event => {
        const isMap = event.data instanceof ArrayBuffer && header(event.data).includes('"map"');
        if (holding && isMap) held.push(() => act(event));
        else act(event);
      };
    }
  };
"""
COUNT_PATHS = """
  window.paths = 0;
  window.Path2D = class extends Path2D { constructor(...from) { super(...from); paths++; } };
"""
SIGHTS = {"whole": None, "near": {"row": 24, "column": 20, "scale": 30}}


def canvas(tab):
    """The canvas with scene, map and labels, as it was painted last."""
    tab.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return tab.js("document.querySelector('.area canvas').toDataURL()")


def see(tab, sight):
    tab.js("sight => sight ? diffclass.view.restore(sight) : diffclass.view.fit()", sight)


def release(tab):
    """Let the maps that were held back arrive."""
    tab.js("(holding = false, held.splice(0).forEach(act => act()))")
    tab.idle()


@pytest.fixture
def held(labelled, serve, open_tab):
    """A tab whose maps can be held back, on a session with three classes."""
    tab = open_tab(serve(labelled).url, script=HOLD)
    tab.idle()
    tab.js("holding = true")
    return tab


@pytest.mark.parametrize("name", SIGHTS)
def test_what_was_drawn_step_by_step_is_what_a_fresh_page_draws(tab, open_tab, name):
    """The map as areas, then as outlines, after each step."""
    see(tab, SIGHTS[name])
    steps = [
        lambda: tab.stroke((20, 15), (26, 24)),
        lambda: tab.stroke((24, 17), (24, 25)),
        lambda: tab.key("Control+z"),
        lambda: tab.js("diffclass.apply({ op: 'erase', pixels: [1215, 4, 1266, 3] })"),
        lambda: tab.js("diffclass.apply({ op: 'recolor_class', id: 2, color: '#13579b' })"),
        lambda: tab.js("diffclass.apply({ op: 'hide_class', id: 3, hidden: true })"),
    ]
    seen = ([], [])
    for step in steps:
        step()
        tab.idle()
        fresh = open_tab(tab.url)
        fresh.idle()
        see(fresh, SIGHTS[name])
        for looks in seen:
            looks.append(canvas(tab))
            assert looks[-1] == canvas(fresh)
            tab.key("o")
            fresh.key("o")
        fresh.close()
    assert min(len(set(looks)) for looks in seen) > 4  # the steps can be seen


def test_the_clock_runs_until_the_map_is_drawn(held):
    tab = held
    before = tab.js("diffclass.lastLatency")
    version = tab.state["version"]
    tab.stroke((20, 15), (20, 24))
    tab.js("(window.begun = performance.now(), 0)")
    tab.wait(f"diffclass.state.map_version === {version + 1} && !diffclass.state.stale")
    # the lists do not wait for ever
    tab.wait("document.querySelector('.status .strokes').textContent.startsWith('4 strokes')")
    assert tab.js("diffclass.lastLatency") == before
    waited = tab.js("performance.now() - begun")
    release(tab)
    assert tab.js("diffclass.lastLatency") > waited


@pytest.mark.parametrize(("sight", "is_enough"), [(None, False), ("top", True)])
def test_the_classes_of_what_is_in_view_are_enough(held, monkeypatch, sight, is_enough):
    monkeypatch.setattr(maps, "MOST_WHOLE", 1000)
    tab = held
    see(tab, sight and {"row": 10, "column": 20, "scale": 60})
    before = tab.js("diffclass.lastLatency")
    tab.stroke((10, 18), (10, 22))
    tab.wait("held.length === 6")  # three strips of classes, then three of all else
    tab.js("held.shift()()")
    canvas(tab)
    assert (tab.js("diffclass.lastLatency") != before) == is_enough
    release(tab)
    assert tab.js("diffclass.lastLatency") != before


def test_lines_around_labels_are_made_once(labelled, serve, open_tab):
    tab = open_tab(serve(labelled).url, script=COUNT_PATHS)
    tab.idle()
    see(tab, SIGHTS["near"])
    canvas(tab)
    before = tab.js("paths")
    for opacity in (0.3, 0.6):
        shown = canvas(tab)
        tab.js("opacity => diffclass.layers.setOpacity('map', opacity)", opacity)
        assert canvas(tab) != shown
    assert tab.js("paths") == before
    tab.js("diffclass.view.pan(300, 0)")
    canvas(tab)
    assert tab.js("paths") == before + 1


def test_of_labels_only_what_has_changed_is_sent(painter, editor):
    painter.do("stroke", **{"class": 1, "pixels": [10 * 50 + 7, 5, 12 * 50 + 9, 6]})
    painter.settled()
    assert painter.frames["labels"][0]["window"] == [10, 7, 13, 15]
    assert (painter.labels == editor.labels.ids.ravel()).all()
    painter.do("undo", steps=2)
    painter.settled()
    assert (painter.labels == editor.labels.ids.ravel()).all()
