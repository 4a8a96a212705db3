"""A far server: what is done on the page counts at once, and no stroke changes its class for it.

``DIFFCLASS_TRIES=100`` tries each act so often and tells how many strokes went astray.
"""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace

import pytest

from experiments.relabel.driver.clients import PageClient

from ..delays import ACTS, DELAYS, FarTab, Log, outcome, places
from ..proxies import Tunnel, free_port

TRIES = int(os.environ.get("DIFFCLASS_TRIES", "1"))


@pytest.fixture
def far(editor, serve, browser):
    """Open tabs on a session with three classes, each behind a tunnel of its own."""
    opened = []
    for name in ("one", "two", "three"):
        editor.apply({"op": "add_class", "name": name})
    tunnels = [Tunnel(seed=k) for k in range(2)]
    hosts = [f"localhost:{tunnel.port}" for tunnel in tunnels]
    gate = serve(editor, allowed_hosts=frozenset(hosts), token="far")

    def made():
        tunnel = tunnels[len(opened)]
        tunnel.lead_to(gate.port)
        url = f"http://localhost:{tunnel.port}/?token=far"
        opened.append(FarTab(browser, url, tunnel))
        return opened[-1]

    yield made
    for tab in opened:
        tab.close()
    for tunnel in tunnels:
        tunnel.close()


@pytest.fixture
def log(editor):
    return Log(editor.log.path, 50)


@pytest.fixture
def tab(far):
    return with_fine_brush(far())


def with_fine_brush(tab):
    tab.key("p", *"[[[")
    tab.settle()
    return tab


def lose(tab):
    """Cut the connection; returns what brings it back."""
    port = tab.tunnel.lead_to(free_port())
    tab.js("diffclass.drop()")
    tab.wait("diffclass.connection === 'lost'")

    def back():
        tab.tunnel.lead_to(port)
        tab.wait("diffclass.connection === 'open' && diffclass.pending === 0")

    return back


@pytest.mark.parametrize("delay", DELAYS)
def test_no_stroke_goes_to_another_class_than_the_one_in_hand(tab, editor, log, delay):
    where, base, told = places(), editor.session.step, {}
    tab.set_delay(delay)
    for act in ACTS:
        n_dabs, astray, nowhere = 0, [], []
        for k in range(TRIES):
            dabs = act(tab, k, *next(where))
            tab.settle()
            found = outcome(dabs, log)
            n_dabs += len(dabs)
            astray += found[0]
            nowhere += found[1]
            tab.js("steps => diffclass.apply({op: 'undo', steps})", editor.session.step - base)
            tab.settle()
        told[act.__name__] = astray
        print(f"{act.__name__}, {delay} ms: {n_dabs} strokes, {len(astray)} astray, "
              f"{len(nowhere)} in none, {astray[:2]}", flush=True)  # fmt: skip
    assert told == {act.__name__: [] for act in ACTS}


# what the page shows as chosen, each time that it is another
WATCH = """() => {
    const one = (selector) => document.querySelector(selector);
    const button = (name) => [...document.querySelectorAll("button")]
        .find((item) => (item.ariaLabel ?? item.textContent) === name);
    const second = () => document.querySelectorAll(".class-row .class-name")[1];
    const look = () => ({
        name: second().value || second().textContent,
        hidden: one(".class-row:nth-child(3) .flag").ariaPressed,
        locked: one(".class-row:nth-child(3) .flag + .flag").ariaPressed,
        color: one("[data-class='1'] input[type=color]").value,
        tau: one(".tau .value").textContent,
        warped: button("A kernel for each class").ariaPressed,
        live: one("[role=switch]").ariaChecked,
        mode: one("select[aria-label='How labels count']").value,
        undo: button("Undo (Ctrl+Z)").disabled,
    });
    window.shown = Object.fromEntries(Object.entries(look()).map(([key, value]) => [key, [value]]));
    const note = () => {
        for (const [key, value] of Object.entries(look())) {
            if (shown[key].at(-1) !== value) shown[key].push(value);
        }
        requestAnimationFrame(note);
    };
    note();
}"""


def test_choices_count_at_once_and_do_not_jump_back(tab, editor):
    tab.key("1")
    tab.dab(3, 3)
    tab.key("2")
    tab.dab(40, 40)
    tab.settle()
    tab.find(".made summary").click()
    tab.js(WATCH)
    tab.set_delay(300)
    tab.find("button.class-name", has_text="two").dblclick()
    tab.page.keyboard.type("new")
    tab.key("Enter")
    tab.find("[aria-label='Hide three']").click()
    tab.find("[aria-label^='Lock three']").click()
    tab.find("[data-class='1'] input[type=color]").evaluate(
        "input => { input.value = '#102030'; input.dispatchEvent(new Event('change')); }"
    )
    tab.find("[aria-label='Diffusion time tau, steps']").focus()
    tab.key("ArrowRight", "ArrowRight", "ArrowRight")  # 12, 13, 14, 15
    for _ in range(2):
        tab.find("button", has_text="A kernel for each class").click()
        tab.find("[role=switch]").click()
    tab.find("select[aria-label='How labels count']").select_option("free")
    tab.settle()
    tab.wait("diffclass.state.live")
    shown = tab.js("shown")
    assert (shown["name"][0], shown["name"][-1]) == ("two", "new")
    assert shown["name"].count("two") == shown["name"].count("new") == 1
    assert shown["hidden"] == shown["locked"] == ["false", "true"]
    assert [shown["color"][0] != "#102030", shown["color"][1:]] == [True, ["#102030"]]
    assert shown["tau"][0] == "12"
    assert [int(tau) for tau in shown["tau"]] == sorted({int(tau) for tau in shown["tau"]})
    assert (editor.session.tau, shown["tau"][-1]) == (15, "15")
    assert shown["warped"][-1] == "false"
    assert len(shown["warped"]) <= 3
    assert not editor.session.is_warped
    assert len(shown["live"]) <= 3
    assert shown["mode"] == ["summed", "free"]
    assert shown["undo"] == [False]


def test_what_is_typed_at_once_is_the_name(tab, editor):
    tab.set_delay(300)
    tab.find("[aria-label='Add a class']").click()
    tab.page.keyboard.type("wet area 7")  # keys of the page, each letter
    tab.key("Enter")
    assert tab.rows() == ["one", "two", "three", "wet area 7"]
    tab.key("Control+z")  # the class with its name; it goes when they are on their way
    tab.settle()
    assert [info.name for info in editor.session.classes] == ["one", "two", "three"]
    tab.key("Control+y")
    tab.settle()
    assert tab.rows() == ["one", "two", "three", "wet area 7"]
    assert tab.state["live"]


def test_a_stroke_can_be_taken_back_before_it_is_confirmed(tab, editor):
    tab.set_delay(300)
    tab.key("2")
    tab.dab(10, 10)
    tab.key("Control+z")
    tab.settle()
    assert [len(editor.session.strokes), editor.session.n_steps] == [0, 4]
    tab.key("Control+y")
    tab.settle()
    assert len(editor.session.strokes) == 1


def test_two_pages_add_a_class_at_the_same_time(tab, far, log, editor):
    other = with_fine_brush(far())
    both = {"mine": (tab, 10), "theirs": (other, 20)}
    for each, _ in both.values():
        each.set_delay(300)
    for name, (each, row) in both.items():
        each.new_class(name)
        each.dab(row, 10)
    for each, _ in both.values():
        each.settle()
    for each, row in both.values():
        each.dab(row, 20)
        each.settle()
    assert sorted(info.name for info in editor.session.classes) == [
        "mine", "one", "theirs", "three", "two",
    ]  # fmt: skip
    for name, (each, row) in both.items():
        assert [log.class_at(row, column)[1] for column in (10, 20)] == [name, name]
        each.wait("diffclass.state.classes.length === 5")
        assert each.rows() == [info.name for info in editor.session.classes]


def test_a_class_that_was_added_without_a_connection(tab, far, log, editor):
    """Another page gives its number away meanwhile."""
    other = with_fine_brush(far())
    back = lose(tab)
    tab.new_class("mine")
    tab.dab(10, 10)
    other.new_class("theirs")
    other.dab(20, 10)
    other.settle()
    tab.dab(10, 20)
    back()
    tab.dab(10, 30)
    tab.settle()
    assert [log.class_at(10, column) for column in (10, 20, 30)] == 3 * [(5, "mine")]
    assert log.class_at(20, 10) == (4, "theirs")
    assert tab.rows() == ["one", "two", "three", "theirs", "mine"]


@pytest.mark.parametrize("adds_again", [False, True])
def test_a_class_that_was_added_and_removed_without_a_connection(tab, far, log, editor, adds_again):
    """Another page gives its number away meanwhile."""
    other = with_fine_brush(far())
    back = lose(tab)
    tab.new_class("gone")
    tab.menu("gone", "Remove")
    other.new_class("theirs")
    other.settle()
    if adds_again:
        tab.new_class("mine")
        tab.dab(10, 10)
    back()
    tab.settle()
    assert tab.rows() == ["one", "two", "three", "theirs"] + ["mine"] * adds_again
    assert tab.rows() == [info.name for info in editor.session.classes]
    if adds_again:
        assert log.class_at(10, 10) == (5, "mine")


def test_the_last_number_goes_to_another_page(tab, far, log, editor):
    """What was painted in the class that there is no room for is given up with it."""
    for k in range(4, 254):
        editor.apply({"op": "add_class", "name": f"class {k}"})
    other = with_fine_brush(far())
    tab.settle()
    back = lose(tab)
    tab.new_class("mine")
    tab.dab(10, 10)
    other.new_class("theirs")
    other.settle()
    back()
    tab.find(".message", has_text="2 more that went with it").wait_for()
    tab.wait("diffclass.pending === 0")
    tab.settle()
    assert [log.class_at(10, 10), tab.labels[10, 10]] == [None, 0]
    assert tab.rows()[252:] == ["class 253", "theirs"]


def test_a_class_that_another_page_replaced_gets_nothing(tab, far, log, editor):
    other = with_fine_brush(far())
    tab.key("3")
    back = lose(tab)
    tab.dab(10, 10)
    other.menu("three", "Remove")
    other.settle()
    other.new_class("other")
    other.settle()
    assert editor.session.classes[2].name == "other"
    assert editor.session.classes[2].id == 3
    back()
    tab.find(".message", has_text="choose a class again").wait_for()
    tab.settle()
    assert tab.labels[10, 10] == 0
    assert tab.dab(10, 20) is None  # nothing is in hand
    tab.find(".message", has_text="No class is chosen").wait_for()
    assert tab.js("diffclass.pending") == 0
    tab.key("3")
    tab.dab(10, 30)
    tab.settle()
    assert [log.class_at(10, column) for column in (10, 20, 30)] == [None, None, (3, "other")]


def test_a_class_that_is_replaced_under_the_brush_gets_nothing(tab, far, log, editor):
    """The stroke means what was in hand when the button went down, not what came meanwhile."""
    other = far()
    tab.key("3")
    tab.press((20, 10), (20, 14))
    other.menu("three", "Remove")
    other.settle()
    other.new_class("other")
    other.settle()
    tab.wait(f"diffclass.state.version === {editor.version}")
    tab.release()
    tab.settle()
    assert [info.name for info in editor.session.classes] == ["one", "two", "other"]
    assert log.class_at(20, 10) is None
    tab.find(".message", has_text="belongs to another one now").wait_for()
    tab.key("3")
    tab.dab(30, 30)
    tab.settle()
    assert log.class_at(30, 30) == (3, "other")


def test_a_class_that_was_undone_gives_nothing_to_the_one_with_its_number(tab, log, editor):
    """Before the server has answered, the page still shows the class that its undo takes back."""
    tab.new_class("old")
    tab.settle()
    tab.set_delay(300)
    back = lose(tab)
    tab.key("Control+z")
    tab.new_class("new")  # which the server gives the number 4, as the old one had
    tab.key("4")
    tab.dab(20, 20)
    tab.key("5")
    tab.dab(30, 30)
    back()
    tab.settle()
    assert [info.name for info in editor.session.classes] == ["one", "two", "three", "new"]
    assert log.class_at(20, 20) is None
    assert log.class_at(30, 30) == (4, "new")
    message = tab.find(".message", has_text="belongs to another one now")
    message.wait_for()


def test_what_was_done_with_a_refused_class_is_given_up(tab, log, editor, monkeypatch):
    tab.set_delay(300)
    tab.key("1")
    tab.dab(10, 10)
    tab.settle()
    append, all_is_done = editor.log.append, threading.Event()

    def full(*steps):
        if any((step.get("op") or {}).get("op") == "add_class" for step in steps):
            all_is_done.wait(60)  # the refusal comes after it, however slow the page is
            raise OSError("no space left")
        append(*steps)

    monkeypatch.setattr(editor.log, "append", full)
    tab.new_class("never")
    tab.dab(10, 20)
    tab.key("Control+z")  # of the stroke that is not done: it must not take back the first one
    all_is_done.set()
    tab.find(".message", has_text="3 more that went with it").wait_for()
    tab.settle()
    assert [len(editor.session.strokes), log.class_at(10, 20)] == [1, None]
    assert tab.labels[10, 20] == 0
    assert tab.rows() == ["one", "two", "three"]
    assert tab.dab(10, 30) is None


def test_naming_goes_on_while_others_change_the_list(tab, neighbour, editor):
    tab.find("button.class-name", has_text="two").dblclick()
    tab.page.keyboard.type("na")
    neighbour.do("recolor_class", id=2, color="#010203")
    neighbour.do("add_class", name="four")
    tab.wait("diffclass.state.classes.length === 4")
    tab.wait("diffclass.state.classes[1].color === '#010203'")
    tab.page.keyboard.type("med")
    tab.key("Enter")
    tab.settle()
    assert tab.rows() == ["one", "named", "three", "four"]
    assert [info.name for info in editor.session.classes] == tab.rows()


@pytest.fixture
def neighbour(tab):
    """Another client of the session."""
    host = tab.url.split("/")[2]
    port = int(host.split(":")[1])
    client = PageClient(SimpleNamespace(port=port, token="far"), host=host)
    yield client
    client.close()


def test_a_lasso_keeps_the_class_that_it_was_begun_with(tab, log, editor):
    tab.key("a", "1")
    tab.press((5, 5), (5, 20))
    tab.key("2")
    tab.move(20, 20)
    tab.release()
    tab.settle()
    assert [stroke.class_id for stroke in editor.session.strokes] == [1]
