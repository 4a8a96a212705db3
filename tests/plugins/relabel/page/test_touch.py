"""Fingers, a pen and palms on the page: what paints, what moves the view, what does nothing."""

from __future__ import annotations

import pytest

SMALLEST_TARGET = 44  # CSS pixels


@pytest.fixture
def touch(painted_url, open_tab):
    """A tablet: a tab with touch on the painted session, and its fingers."""
    tab = open_tab(painted_url, width=1024, height=768, has_touch=True, is_mobile=True)
    tab.idle()
    tab.key("1")
    return Fingers(tab)


class Fingers:
    """Touch and pen as the browser's own emulation makes them."""

    def __init__(self, tab):
        self.tab = tab
        self.client = tab.context.new_cdp_session(tab.page)

    def touch(self, kind, *places):
        points = [
            dict(zip("xy", self.tab.at(*place), strict=True)) | {"id": k}
            for k, place in enumerate(places)
        ]
        self.send(kind, points)

    def at(self, kind, *points):
        """Touch points of the page."""
        self.send(kind, [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)])

    def send(self, kind, points):
        message = {"type": f"touch{kind}", "touchPoints": points}
        self.client.send("Input.dispatchTouchEvent", message)

    def pen(self, kind, place, buttons=1):
        x, y = self.tab.at(*place)
        event = {"type": f"mouse{kind}", "x": x, "y": y, "pointerType": "pen", "buttons": buttons}
        if kind != "Moved":
            event |= {"button": "left", "clickCount": 1}
        self.client.send("Input.dispatchMouseEvent", event)


def test_one_finger_paints(touch):
    tab = touch.tab
    strokes = len(tab.state["strokes"])
    touch.touch("Start", (40, 10))
    touch.touch("Move", (40, 20))
    touch.touch("End")
    tab.idle()
    assert len(tab.state["strokes"]) == strokes + 1
    assert (tab.labels[40, 11:20] == 1).all()


def test_a_pinch_moves_the_view_and_paints_nothing(touch):
    tab = touch.tab
    version, labels = tab.state["version"], tab.labels
    scale = tab.js("diffclass.view.scale")
    first, second = tab.at(20, 20), tab.at(28, 28)
    between = [(first[k] + second[k]) / 2 for k in (0, 1)]
    middle = tab.js("([x, y]) => diffclass.pixelAt(x, y)", between)
    send = touch.at
    send("Start", first)
    send("Move", (first[0] - 3, first[1] - 3))  # painting has begun
    send("Start", (first[0] - 3, first[1] - 3), second)
    for k in range(1, 6):
        send("Move", (first[0] - 9 * k, first[1] - 9 * k), (second[0] + 9 * k, second[1] + 9 * k))
    send("End", (second[0] + 45, second[1] + 45))  # one finger stays, and moves on
    send("Move", (second[0] + 90, second[1] + 60))
    send("End")
    tab.idle()
    assert tab.js("diffclass.view.scale") > 1.5 * scale
    after = tab.js("([x, y]) => diffclass.pixelAt(x, y)", between)
    assert max(abs(after[name] - middle[name]) for name in ("row", "column")) <= 1
    assert tab.state["version"] == version
    assert (tab.labels == labels).all()


def test_a_pinch_is_no_click_of_any_tool(touch):
    tab = touch.tab
    version = tab.state["version"]
    for tool in ("g", "f", "a", "v"):
        tab.key(tool)
        touch.touch("Start", (20, 20))
        touch.touch("Start", (20, 20), (28, 28))
        touch.touch("Move", (18, 18), (30, 30))
        touch.touch("End")
        tab.key("Enter")
        tab.idle()
        assert tab.state["version"] == version
        assert tab.find(".item.why").count() == 0
        tab.key("h")


def test_a_palm_before_its_pen_is_taken_back_and_beside_it_does_nothing(touch):
    tab = touch.tab
    before = tab.labels
    touch.touch("Start", (44, 30))
    touch.touch("Move", (44, 36))
    touch.pen("Pressed", (40, 10))
    touch.pen("Moved", (40, 20))
    touch.pen("Released", (40, 20), buttons=0)
    touch.touch("End")
    tab.idle()
    assert (tab.labels[40, 11:20] == 1).all()
    assert (tab.labels[43:46] == before[43:46]).all()
    strokes = len(tab.state["strokes"])
    touch.pen("Moved", (36, 10), buttons=0)  # hovering: the hand comes down first
    touch.touch("Start", (44, 30))
    touch.pen("Pressed", (36, 10))
    touch.touch("Move", (45, 34))
    touch.pen("Moved", (36, 20))
    touch.touch("End")
    touch.pen("Moved", (36, 24))
    touch.pen("Released", (36, 24), buttons=0)
    tab.idle()
    assert len(tab.state["strokes"]) == strokes + 1
    assert (tab.labels[36, 11:24] == 1).all()
    assert (tab.labels[43:46] == before[43:46]).all()


def test_a_long_press_opens_the_menu(touch):
    tab = touch.tab
    version, labels = tab.state["version"], tab.labels
    name = tab.state["classes"][tab.map[30, 20] - 1]["name"]
    touch.touch("Start", (30, 20))
    entry = tab.find(".menu-item:visible").filter(has_text=f"Paint with {name}")
    entry.wait_for()
    touch.touch("End")
    tab.idle()
    assert tab.state["version"] == version
    assert (tab.labels == labels).all()
    entry.tap()
    assert tab.js("diffclass.classId") == tab.map[30, 20]
    row = tab.find("[data-class='2'] .class-name").bounding_box()
    touch.at("Start", (row["x"] + 20, row["y"] + 20))
    tab.find(".menu-item:visible").filter(has_text="Rename").wait_for()
    touch.at("End")
    assert tab.find(".menu-item:visible").filter(has_text="Lock").is_visible()


def test_targets_are_large_enough_for_fingers(touch):
    touch.tab.find(".stretch summary").click()
    touch.tab.key("q")
    touch.tab.find(".spectra-legend input").first.wait_for()
    small = touch.tab.js(
        """least => [...document.querySelectorAll("button, select, input, summary")]
           .filter(item => item.checkVisibility())
           .map(item => item.type === "checkbox" ? item.closest("label") : item)
           .map(item => [item.ariaLabel || item.title || item.textContent,
                         Math.round(item.getBoundingClientRect().width),
                         Math.round(item.getBoundingClientRect().height)])
           .filter(([, width, height]) => width < least || height < least)""",
        SMALLEST_TARGET,
    )
    assert small == []
