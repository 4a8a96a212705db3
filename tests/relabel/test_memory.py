"""What experiments say of a server's memory: with the files it has mapped, and its own."""

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
