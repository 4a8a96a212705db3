"""A page whose server is far, acts in quick succession on it, and what the log holds of them."""

from __future__ import annotations

import json
from pathlib import Path

from experiments.relabel.driver.browser import Tab

# milliseconds there and back, about -> seconds each way at least, and jitter
DELAYS = {0: (0.0, 0.0), 50: (0.015, 0.02), 300: (0.12, 0.06)}

# which row of the list is in hand when a button goes down, before the page itself hears of it
_RECORDER = """
    window.presses = [];
    window.names = [];
    addEventListener("pointerdown", (event) => {
        if (!event.target.closest(".stage")) return;
        const row = document.querySelector(".class-row.chosen");
        const name = row?.querySelector(".class-name");
        presses.push(row ? Number(row.dataset.class) : null);
        names.push(name ? name.value || name.textContent : null);
    }, {capture: true});
"""


class FarTab(Tab):
    """A tab behind a tunnel that delays what passes; its acts do not wait for the server."""

    def __init__(self, browser, url, tunnel):
        super().__init__(browser, url, script=_RECORDER)
        self.tunnel = tunnel

    def set_delay(self, round_trip):
        self.tunnel.delay, self.tunnel.jitter = DELAYS[round_trip]

    def dab(self, row, column):
        """Paint a pixel; returns the id of the class that was in hand, None without one."""
        self.click(row, column)
        return self.js("presses.at(-1)")

    def new_class(self, name):
        """Add a class and name it, as soon as there is a field for the name."""
        self.find("[aria-label='Add a class']").click()
        self.page.wait_for_selector("input.class-name")
        self.page.keyboard.type(name)
        self.key("Enter")

    def menu(self, name, entry):
        """Take an entry of a class's menu."""
        self.find(f"[aria-label$='merge or remove {name}']").click()
        self.page.get_by_role("menuitem", name=entry, exact=True).click()

    def rows(self):
        """Return the names in the list, in their order."""
        return self.find(".class-row .class-name").all_inner_texts()

    def settle(self):
        """Wait until everything is confirmed and shown."""
        self.idle()
        self.wait("diffclass.pending === 0")


class Log:
    """What a session file holds of strokes, by their first pixel."""

    def __init__(self, path, n_columns):
        self._path = Path(path)
        self._n_columns = n_columns

    def class_at(self, row, column):
        """Return the class of the newest stroke that begins at a pixel: (id, name), or None."""
        first = row * self._n_columns + column
        names, found = {}, None
        for line in self._path.read_text(encoding="utf-8").splitlines():
            operation = json.loads(line).get("op") or {}
            if operation.get("op") in ("add_class", "rename_class"):
                names[operation["id"]] = operation["name"]
            if operation.get("op") == "stroke" and operation["pixels"][0] == first:
                found = operation["class"]
        return found and (found, names[found])


# --- acts: each returns the dabs it made, as (row, column, class that it has to have)


def add_name_paint(tab, k, row, column):
    """The law of the issue: what is painted after a class was added and named is in that class."""
    tab.key("1")
    first = tab.dab(row, column)
    tab.new_class(f"new {k}")
    tab.dab(row, column + 2)
    return [(row, column, first), (row, column + 2, f"new {k}")]


def add_paint(tab, k, row, column):
    """Without a name, and the second class while the first is not there yet."""
    tab.key("1")
    dabs = [(row, column, tab.dab(row, column))]
    for step in (2, 4):
        before = len(tab.rows())
        tab.find("[aria-label='Add a class']").click()
        tab.wait(f"document.querySelectorAll('.class-row').length > {before}")
        dabs.append((row, column + step, tab.dab(row, column + step)))
    return dabs


def add_remove_paint(tab, k, row, column):
    tab.new_class(f"gone {k}")
    tab.new_class(f"stays {k}")
    tab.settle()
    tab.key("4")
    first = tab.dab(row, column)
    tab.key("Control+z")
    tab.settle()
    tab.menu(f"gone {k}", "Remove")
    second = tab.dab(row, column + 2)
    tab.key("4")  # another class is at this place now, or will be
    third = tab.dab(row, column + 4)
    return [(row, column, first), (row, column + 2, second), (row, column + 4, third)]


def merge_paint(tab, k, row, column):
    tab.new_class(f"joined {k}")
    tab.settle()
    first = tab.dab(row, column)
    tab.menu(f"joined {k}", "two")
    second = tab.dab(row, column + 2)
    return [(row, column, first), (row, column + 2, second)]


def undo_paint(tab, k, row, column):
    """Taking back that a class was added takes it out of the hand."""
    tab.new_class(f"undone {k}")
    tab.settle()
    tab.key("Control+z")
    first = tab.dab(row, column)
    tab.settle()
    second = tab.dab(row, column + 2)
    tab.key("Control+y")
    third = tab.dab(row, column + 4)
    return [(row, column, first), (row, column + 2, second), (row, column + 4, third)]


def take_paint(tab, k, row, column):
    """Classes are taken in hand by number and from the list, while states arrive."""
    dabs = []
    for step, place in enumerate((2, 3, 1)):
        if step == 1:
            tab.find(".class-row .class-name").nth(place - 1).click()
        else:
            tab.key(str(place))
        tab.dab(row, column + 2 * step)
        dabs.append((row, column + 2 * step, ("one", "two", "three")[place - 1]))
    return dabs


ACTS = (add_name_paint, add_paint, add_remove_paint, merge_paint, undo_paint, take_paint)


def outcome(dabs, log):
    """Return the dabs in another class than they have to be, and those in none."""
    found = [(dab, log.class_at(*dab[:2])) for dab in dabs]
    astray = [(dab, there) for dab, there in found if there and dab[2] not in there]
    return astray, [dab for dab, there in found if there is None]


def places(n_rows=48, n_columns=50):
    """Yield ever new pixels with room for three dabs."""
    while True:
        for column in range(2, n_columns - 6):
            for row in range(2, n_rows - 2):
                yield row, column
