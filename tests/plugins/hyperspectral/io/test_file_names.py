"""Names of files that every system takes, and that two texts never share."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from diffclass_hyperspectral.io.file_names import safe_name

REFUSED = set('<>:"/\\|?*{}') | {chr(code) for code in range(32)} | {"\x7f"}
text = st.one_of(
    st.text(st.characters(), max_size=300),  # halves of characters among them
    st.text(st.sampled_from('ab \u00e4\u68ee._-/:"{}\0'), max_size=8),
    st.sampled_from(["con", "NUL", "lpt1.tif", "..", ".", "", "-rf", " a ", "a/b", "a:b"]),
)


@given(text)
def test_every_system_takes_it(name):
    safe = safe_name(name)
    assert safe
    assert not set(safe) & REFUSED
    assert len(safe.encode()) <= 180
    assert safe == unicodedata.normalize("NFC", safe)
    assert not safe.startswith((".", "-", " "))
    assert not safe.endswith((".", " "))
    assert safe_name(safe) == safe


@given(text, text)
def test_two_names_stay_two(one, other):
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    assert (safe_name(one) == safe_name(other)) == same


def test_letters_stay():
    for name in (
        "W\u00e4lder 2024",
        "\u68ee\u6797",
        "\u041b\u0435\u0441",
        "a.b-c_d",
        "\u05d9",
    ):
        assert safe_name(name) == name
