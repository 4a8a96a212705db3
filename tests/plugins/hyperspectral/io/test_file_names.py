"""Names of files that every system takes, and that two texts or two files never share."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from diffclass_hyperspectral.io.file_names import files_of, names_of, safe_name

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


def folded(name):
    """What macOS and Windows take for one name."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


part = st.sampled_from(["a", "A", "b", "a_b", "\u00e4", "a\u0308", "\u00c4", "\u00df", "ss", "x.y"])
ending = st.sampled_from(["", ".tif", ".TIF", ".img", ".a"])
file = st.builds(
    lambda root, folders, stem, ending: Path(root, *folders, stem + ending),
    st.sampled_from(["", "/"]),
    st.lists(part, max_size=3),
    part,
    ending,
)


@given(st.lists(file, max_size=12), st.randoms())
def test_two_files_never_have_one_name(files, random):
    names = names_of(files)
    by_file = {file.absolute(): folded(name) for file, name in zip(files, names, strict=True)}
    assert len(set(by_file.values())) == len(by_file)
    assert not any({os.sep, "\0"} & set(name) for name in names)
    stems = {folded(file.stem) for file in by_file}
    if len(stems) == len(by_file):  # nothing is added without need
        assert names == [file.stem for file in files]
    order = random.sample(range(len(files)), len(files))
    assert names_of([files[k] for k in order]) == [names[k] for k in order]


def test_names_tell_where_files_are():
    for files, names in (
        (["north/a.tif", "south/a.tif"], ["north_a", "south_a"]),
        (["a.tif", "a.img"], ["a.tif", "a.img"]),
        (["x/2024/a.tif", "y/2024/a.tif"], ["x_2024_a", "y_2024_a"]),
        (["x/a.tif", "x/a.img", "y/a.tif"], ["x_a", "a.img", "y_a"]),
    ):
        assert names_of(list(map(Path, files))) == names
        assert [path.name for path in files_of("m/{}.png", list(map(Path, files)))] == [
            f"{name}.png" for name in names
        ]
    for twins in (["A.tif", "a.tif"], ["\u00e4.tif", "a\u0308.tif"]):
        one, other = names_of(list(map(Path, twins)))
        assert one.startswith(Path(twins[0]).stem + "_")
        assert other.startswith(Path(twins[1]).stem + "_")
