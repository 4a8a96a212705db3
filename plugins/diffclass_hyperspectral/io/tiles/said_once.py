"""What is odd about many files that are read together, in one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from diffclass.exceptions import warn_user


@contextmanager
def said_once() -> Iterator[None]:
    """Join the warnings that differ in the file alone, with which they begin."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    files: dict[tuple[type[Warning], str], dict[str, None]] = {}
    for one in caught:
        file, colon, words = str(one.message).partition(": ")
        files.setdefault((one.category, colon + words), {})[file] = None
    for (category, words), (first, *others) in files.items():
        if words:
            more = f" and {len(others)} more" if others else ""
            warn_user(f"{first}{more}{words}", category)
        else:
            for text in (first, *others):
                warn_user(text, category)
