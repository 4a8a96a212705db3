"""The memory of this process: how much it can still have, the most that it had, what it returns."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["available_memory_bytes", "peak_memory_bytes", "return_large_arrays"]

_M_MMAP_THRESHOLD = -3  # of glibc's malloc.h
_LARGE = 2**20


def available_memory_bytes(root: str | os.PathLike[str] = "/") -> int | None:
    """Return how many more bytes this process can have, or None if the system does not say.

    The least of what the system has free (caches that it would give up included) and what control
    groups, as of containers and batch queues, still allow. ``proc`` and ``sys`` lie in ``root``.
    """
    rooms = [_system_room(Path(root)), *_group_rooms(Path(root))]
    known = [room for room in rooms if room is not None]
    return max(0, min(known)) if known else None


def peak_memory_bytes() -> int:
    """Return the peak resident size of this process."""
    import resource

    # getrusage counts what the process that started this one held then
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _system_room(root: Path) -> int | None:
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    # macOS says only how much is installed
    name = "SC_AVPHYS_PAGES" if sys.platform.startswith("linux") else "SC_PHYS_PAGES"
    try:
        return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _group_rooms(root: Path) -> list[int]:
    """Return what each control group over this process still allows, version 2 or 1."""
    rooms = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, names = root / "sys/fs/cgroup", ("memory.max", "memory.current")
            inactive = "inactive_file"
        elif "memory" in controllers.split(","):
            base = root / "sys/fs/cgroup/memory"
            names = "memory.limit_in_bytes", "memory.usage_in_bytes"
            inactive = "total_inactive_file"
        else:
            continue
        place = base / path.strip("/")
        for group in [place, *place.parents]:
            if group == base.parent:
                break
            limit, used = (_number(_text(group / name)) for name in names)
            if limit is not None and used is not None:
                rooms.append(limit - used + _statistic(group, inactive))
    return rooms


def _statistic(group: Path, name: str) -> int:
    """Return a number of memory.stat: pages of files count as used, but are released on demand."""
    for line in _text(group / "memory.stat").splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return _number(value) or 0
    return 0


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None  # "max" is no limit


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def return_large_arrays() -> None:
    """Make glibc's malloc return freed arrays of a megabyte and more to the system.

    By default it keeps arrays up to the size of the largest that was freed, at most 32 MB. In a
    server whose threads diffuse, read and draw, these add up to hundreds of megabytes.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)
