"""Text in any alphabet as ASCII and back, for a library that uses the locale's encoding.

``spectral`` opens ENVI headers in the encoding of the locale, so the same file works on one
machine and fails on another. It is given ASCII, in which every other letter is a mark.
"""

from __future__ import annotations

import re

_OTHER = re.compile(r"[^\x00-\x7f]")
_MARK = re.compile(r"__u([0-9a-f]{2,6})__")


def to_ascii(text: str) -> str:
    """Return ``text`` with every letter beyond ASCII as a mark.

    Examples
    --------
    >>> to_ascii("20 \u00b0C")
    '20 __ub0__C'
    """
    return _OTHER.sub(lambda found: f"__u{ord(found.group()):x}__", text)


def from_ascii(text: str) -> str:
    """Return ``text`` with the letters instead of the marks; the reverse of `to_ascii`."""
    return _MARK.sub(lambda found: chr(int(found.group(1), 16)), text)
