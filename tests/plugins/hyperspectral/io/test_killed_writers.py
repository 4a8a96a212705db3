"""A process killed at any step leaves the old map or the new one, and nothing that stays."""

from __future__ import annotations

import subprocess
import sys

import pytest

# One process that forks at every step: starting a new one each time would take minutes.
SCRIPT = """
import os, signal, sys
import numpy as np
from diffclass.exceptions import DataError
from diffclass_hyperspectral import ClassTable, read_labels, write_class_map

MAPS = {
    "old": (np.array([[0, 1], [2, 3]]), {1: "corn", 2: "soy", 3: "oats"}),
    "new": (np.array([[3, 3], [0, 1]]), {1: "roof", 2: "road", 3: "lawn"}),
}

def map_of(path, which):
    # a large one is cloud-optimised, in a second step
    ids, names = MAPS[which]
    return np.tile(ids, (1, 1100)) if path.startswith("large") else ids, names

def write(path, which):
    ids, names = map_of(path, which)
    table = ClassTable.from_ids(names, names=names)
    write_class_map(path, ids, table, overwrite=True, legend=False)

def deadly(call, left):
    def called(*arguments, **options):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **options)
    return called

def overwrite_and_die(path, count):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    left = [count]
    for name in ("mkdir", "rename", "replace", "rmdir", "unlink"):
        setattr(os, name, deadly(getattr(os, name), left))
    write(path, "new")
    os._exit(0)

def state(path):
    try:
        labels = read_labels(path)
    except DataError:
        return "refused"
    for which in MAPS:
        ids, names = map_of(path, which)
        same_names = path.endswith(".npy") or {e.id: e.name for e in labels.table} == names
        if np.array_equal(labels.ids, ids) and same_names:
            return which
    return "mixed"

def states_of(path, begins_with):
    states = []
    for count in range(1, 30):
        if begins_with == "old":
            write(path, "old")
            files = sorted(os.listdir())
        status = overwrite_and_die(path, count)
        states.append(state(path))
        write(path, "new")
        assert begins_with == "nothing" or sorted(os.listdir()) == files, os.listdir()
        assert not any(name.startswith(".") for name in os.listdir())
        if begins_with == "nothing":
            for name in os.listdir():
                os.unlink(name)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return states
    return states

for path in sys.argv[1:]:
    for begins_with in ("old", "nothing"):
        folder = f"{begins_with} {path}"
        os.mkdir(folder)
        os.chdir(folder)
        print(folder, *states_of(path, begins_with), flush=True)
        os.chdir("..")
"""
NAMES = ["map.img", "map.hdr", "map.dat", "map.tif", "large.tif", "map.png", "map.npy"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what files were after each kill, by what was there before and the name."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, *NAMES]
    folder = tmp_path_factory.mktemp("killed")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {(before, name): states for before, name, *states in lines}, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("begins_with", ["old", "nothing"])
def test_killed_at_every_step(found, name, begins_with):
    states, errors = found
    assert (begins_with, name) in states, errors
    first, *_, last = seen = states[begins_with, name]
    assert len(seen) > 3
    assert (first, last) == ("old" if begins_with == "old" else "refused", "new")
    assert set(seen) == {first, "new"}
