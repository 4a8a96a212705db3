"""Two tabs, delays, lost connections, reloads and kills at random, against a twin in Python.

What goes wrong is shrunk by hypothesis to the shortest script that it finds. The twin reads the
session file; pages have to show what it has, and each stroke has to be in the class that was in
hand when its button went down. ``DIFFCLASS_OPERATIONS=50000`` does so many.
"""

from __future__ import annotations

import copy
import itertools
import os
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from diffclass_relabel.session import SessionEditor
from diffclass_relabel.session_file import ReadOnlyLog, done_in
from experiments.relabel.driver.browser import PREPARED
from experiments.relabel.driver.processes import Relabel

from ..browser import engine_map
from ..delays import FarTab
from ..proxies import Tunnel

OPERATIONS = int(os.environ.get("DIFFCLASS_OPERATIONS", "500"))
STEPS = 250  # acts in one session
SOON = 20  # acts after which pages and twin are compared
ROWS, COLUMNS = 48, 50

SHOWN = ("id", "name", "hidden", "locked")  # of each class
TABS = st.integers(0, 1)
PLACES = st.integers(1, 4)  # in the list of classes
BOXES = st.tuples(st.integers(1, ROWS - 2), st.integers(1, COLUMNS - 8), st.integers(0, 6))


class Twin:
    """What a session file says, in plain Python."""

    def __init__(self):
        self.past, self.future = [], []
        self.joining = None  # name and class of an operation that is one step with the last
        self.now = {
            "classes": {},
            "owner": np.zeros(ROWS * COLUMNS, int),
            "class_of": {},
            "tau": 12,
        }
        self.names = {}  # all that a class was ever called, by its key: ids are given again
        self.strokes = []  # first pixel and key of the class of each, also of those taken back
        self.keys = itertools.count()

    def do(self, operation):
        name = operation["op"]
        steps = operation.get("steps", 1)
        if name == "undo":
            for _ in range(steps):
                self.future.append(self.now)
                self.now = self.past.pop()
        elif name == "redo":
            for _ in range(steps):
                self.past.append(self.now)
                self.now = self.future.pop()
        else:
            here = copy.deepcopy(self.now)
            if self.joining != (name, operation.get("class", operation.get("id"))):
                self.past.append(here)
            self.future = []
            getattr(self, f"_{name}")(operation)
        self.joining = (operation.get("joins"), operation.get("id"))

    @property
    def labels(self):
        class_of = {0: 0} | self.now["class_of"]
        return np.array([class_of[int(k)] for k in self.now["owner"]]).reshape(ROWS, COLUMNS)

    def _add_class(self, operation):
        key = next(self.keys)
        self.names[key] = {operation["name"]}
        info = {"key": key, "name": operation["name"], "hidden": False, "locked": False}
        self.now["classes"][operation["id"]] = info

    def _rename_class(self, operation):
        info = self.now["classes"][operation["id"]]
        info["name"] = operation["name"]
        self.names[info["key"]].add(operation["name"])

    def _hide_class(self, operation):
        self.now["classes"][operation["id"]]["hidden"] = operation["hidden"]

    def _lock_class(self, operation):
        self.now["classes"][operation["id"]]["locked"] = operation["locked"]

    def _stroke(self, operation):
        pixels, mine = _pixels(operation["pixels"]), operation["class"]
        number = 1 + max(self.now["class_of"], default=0)
        for pixel in pixels:
            held = self.now["class_of"].get(int(self.now["owner"][pixel]))
            is_spared = operation.get("spare") and held not in (None, mine)
            if held is None or not (self.now["classes"][held]["locked"] or is_spared):
                self.now["owner"][pixel] = number
        self.now["class_of"][number] = mine
        self.strokes.append((pixels[0], self.now["classes"][mine]["key"]))

    def _erase(self, operation):
        for pixel in _pixels(operation["pixels"]):
            held = self.now["class_of"].get(int(self.now["owner"][pixel]))
            if held is not None and not self.now["classes"][held]["locked"]:
                self.now["owner"][pixel] = 0

    def _merge_classes(self, operation):
        source, into = operation["source"], operation["into"]
        of = self.now["class_of"]
        of.update({number: into for number, held in of.items() if held == source})
        del self.now["classes"][source]

    def _remove_class(self, operation):
        gone = [n for n, held in self.now["class_of"].items() if held == operation["id"]]
        self.now["owner"][np.isin(self.now["owner"], gone)] = 0
        del self.now["classes"][operation["id"]]

    def _tau(self, operation):
        self.now["tau"] = operation["tau"]


def _pixels(runs):
    pairs = zip(runs[::2], runs[1::2], strict=True)
    return [pixel for start, length in pairs for pixel in range(start, start + length)]


class World:
    """A server in its own process, and two tabs, each behind a tunnel of its own."""

    def __init__(self, folder, scene, workspace, browser, environment):
        self.session = folder / "session.jsonl"
        self.workspace = workspace
        self._environment = environment
        self._tunnels = [Tunnel(seed=k) for k in range(2)]
        hosts = [("--allow-host", f"localhost:{tunnel.port}") for tunnel in self._tunnels]
        fixed = ("--components", "6", "--label-mode", "summed", "--tau", "12")
        self._words = scene, "--session", self.session, *fixed, *itertools.chain(*hosts)
        self.start()
        token = self.process.gate.token
        self.tabs = [
            FarTab(browser, f"http://localhost:{tunnel.port}/?token={token}", tunnel)
            for tunnel in self._tunnels
        ]
        for tab in self.tabs:
            tab.key("p", *"[[[")  # one pixel wide

    def start(self):
        self.process = Relabel(*self._words, environment=self._environment)
        assert self.process.url, self.process.end() or self.process.said
        for tunnel in self._tunnels:
            tunnel.lead_to(self.process.gate.port)

    def close(self):
        for tab in self.tabs:
            tab.context.close()
        for tunnel in self._tunnels:
            tunnel.close()
        self.process.end()

    def read(self):
        return ReadOnlyLog(self.session)


class Pages(RuleBasedStateMachine):
    """What two people do who do not wait for the server."""

    begin = None  # makes a world

    def __init__(self):
        super().__init__()
        self.world = self.begin()
        self.meant = Counter()  # first pixel and name of the class in hand of each stroke
        self.number = itertools.count()
        self.acts = SimpleNamespace(since=0, kills=0, reloads=0)

    def tab(self, k):
        self.acts.since += 1
        return self.world.tabs[k]

    @rule(k=TABS, place=PLACES, box=BOXES)
    def paint(self, k, place, box):
        tab, (row, column, length) = self.tab(k), box
        tab.key("p", str(place))
        tab.press((row, column), (row, column + length))
        tab.release()
        self.meant[row * COLUMNS + column, tab.js("names.at(-1)")] += 1

    @rule(k=TABS, box=BOXES)
    def erase(self, k, box):
        tab, (row, column, length) = self.tab(k), box
        tab.key("e")
        tab.press((row, column), (row, column + length))
        tab.release()

    @precondition(lambda self: next(copy.copy(self.number)) < 12)
    @rule(k=TABS)
    def add(self, k):
        self.tab(k).new_class(f"name {next(self.number)}")

    @rule(k=TABS, place=PLACES, what=st.sampled_from(["rename", "hide", "show", "lock", "unlock"]))
    def change(self, k, place, what):
        more = {
            "rename": {"op": "rename_class", "name": f"renamed {next(self.number)}"},
            "hide": {"op": "hide_class", "hidden": True},
            "show": {"op": "hide_class", "hidden": False},
            "lock": {"op": "lock_class", "locked": True},
            "unlock": {"op": "lock_class", "locked": False},
        }[what]
        self.apply(k, [place], more, ["id"])

    @rule(k=TABS, place=PLACES, other=PLACES, joins=st.booleans())
    def lessen(self, k, place, other, joins):
        if joins:
            self.apply(k, [place, other], {"op": "merge_classes"}, ["source", "into"])
        else:
            self.apply(k, [place], {"op": "remove_class", "with_labels": True}, ["id"])

    def apply(self, k, places, operation, fields):
        """Do what a control would with the classes at places of a tab's list, if they are there."""
        self.tab(k).js(
            """([places, operation, fields]) => {
                const ids = places.map((place) => diffclass.state.classes[place - 1]?.id);
                if (ids.includes(undefined)) return;
                fields.forEach((field, k) => (operation[field] = ids[k]));
                void diffclass.apply(operation);
            }""",
            [places, operation, fields],
        )

    @rule(k=TABS, tau=st.sampled_from([8, 12, 20]))
    def steer(self, k, tau):
        self.apply(k, [], {"op": "tau", "tau": tau}, [])

    @rule(k=TABS)
    def spare(self, k):
        self.tab(k).find("text=Keep other classes").click()

    @rule(k=TABS, times=st.integers(1, 3), key=st.sampled_from(["Control+z", "Control+y"]))
    def go_back_or_on(self, k, times, key):
        self.tab(k).key(*[key] * times)

    @rule(k=TABS, delay=st.sampled_from([0, 50]))
    def delay(self, k, delay):
        self.tab(k).set_delay(delay)

    @rule(k=TABS)
    def drop(self, k):
        self.tab(k).js("diffclass.drop()")

    @precondition(lambda self: self.acts.reloads < 4)
    @rule(k=TABS)
    def reload(self, k):
        tab = self.tab(k)
        self.acts.reloads += 1
        tab.settle()  # with changes that nobody has, the page asks whether to leave
        tab.page.reload()
        tab.wait("window.diffclass?.connection === 'open' && diffclass.state", PREPARED)

    @precondition(lambda self: self.acts.kills < 1 and self.acts.since > 5)
    @rule(k=TABS, place=PLACES, box=BOXES)
    def kill(self, k, place, box):
        self.acts.kills += 1
        self.world.process.end()
        self.paint(k, place, box)
        self.world.start()

    @precondition(lambda self: self.acts.since >= SOON)
    @rule()
    def compare(self):
        self.acts.since = 0
        for tab in self.world.tabs:
            tab.wait("diffclass.connection === 'open' && diffclass.pending === 0", PREPARED)
        log = self.world.read()
        twin, done = Twin(), [entry["op"] for entry in done_in(log.entries)]
        for operation in done:
            twin.do(operation)
        editor = SessionEditor(self.world.workspace, log)
        editor.update()
        expected = engine_map(editor)
        counts = np.bincount(twin.labels.ravel(), minlength=256)
        mapped = np.bincount(expected.ravel(), minlength=256)
        for tab in self.world.tabs:
            tab.wait(f"diffclass.state.version === {editor.version}")
            tab.settle()
            np.testing.assert_array_equal(tab.labels, twin.labels)
            state = tab.state
            assert [[info[name] for name in SHOWN] for info in state["classes"]] == [
                [i, *(info[name] for name in SHOWN[1:])] for i, info in twin.now["classes"].items()
            ]
            assert [info["pixels"] for info in state["classes"]] == [
                counts[i] for i in twin.now["classes"]
            ]
            assert state["tau"] == twin.now["tau"]
            assert (state["can_undo"], state["can_redo"]) == (bool(twin.past), bool(twin.future))
            assert tab.js("diffclass.classId") in {0, *twin.now["classes"]}
            if twin.labels.any():
                np.testing.assert_array_equal(tab.map, expected)
                assert [info["mapped"] for info in state["classes"]] == [
                    mapped[i] for i in twin.now["classes"]
                ]
        self.check_hands(twin)

    def check_hands(self, twin):
        """Each stroke is in the class that was in hand when the button went down."""
        left = Counter(self.meant)
        for pixel, key in twin.strokes:
            names = [name for name in twin.names[key] if left[pixel, name] > 0]
            assert names, (pixel, twin.names[key], self.meant)
            left[pixel, names[0]] -= 1

    def teardown(self):
        try:
            self.compare()
            for tab in self.world.tabs:
                assert not tab.errors, tab.errors
        finally:
            self.world.close()


@pytest.mark.slow
@pytest.mark.timeout(0)  # as many operations as are asked for, and shrinking
def test_two_tabs_and_their_twin(
    tmp_path_factory, scene_folder, workspace, browser, process_environment
):
    def begin():
        folder = tmp_path_factory.mktemp("machine")
        return World(folder, scene_folder / "scene.hdr", workspace, browser, process_environment)

    machine = type("Machine", (Pages,), {"begin": staticmethod(begin)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=-(-OPERATIONS // STEPS),
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
