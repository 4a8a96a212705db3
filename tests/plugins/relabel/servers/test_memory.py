"""A server's memory: what is freed goes back, and what experiments say of it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from experiments.relabel.page import Served

OWN, MAPPED = 60_000_000, 100_000_000
HOLDS = f"""
import mmap, sys
own = b"1" * {OWN}
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
sum(mapped[::4096])
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it")
def test_its_own_memory_is_told_without_the_files_it_has_mapped(tmp_path):
    file = tmp_path / "scene"
    file.write_bytes(bytes(MAPPED))
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    server = Served("", process)
    with process, server.own_bytes() as own_bytes:
        assert process.stdout.readline() == "ready\n"
        end = time.monotonic() + 30
        while not own_bytes and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.1)
        whole = server.peak_bytes()
        process.stdin.close()
    assert OWN < max(own_bytes) < OWN + MAPPED / 2
    assert whole > OWN + MAPPED


FREES = """
import sys
from pathlib import Path
import numpy as np
from diffclass.system.memory import return_large_arrays

def own():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024

if sys.argv[1] == "returned":
    return_large_arrays()
before = own()
for _ in range(3):
    np.ones(2**21)  # after which malloc keeps arrays of 16 MB
kept, large = [], []
for _ in range(20):
    large.append(np.ones(2**20))
    kept.append(np.ones(2**13))  # lies above it
held = own() - before
del large
print(round(held), round(own() - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it")
def test_large_arrays_go_back_when_they_are_freed():
    def megabytes(how):
        command = [sys.executable, "-c", FREES, how]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [int(word) for word in done.stdout.split()]

    held, left = megabytes("returned")
    assert held > 150
    assert left < 20
    assert megabytes("kept")[1] >= left
