r"""Names of classes and ids: which values are none, how they stand in a text, and which are one.

A *mark* says that a point has no class: None, NaN and NaT of any type, NA of pandas, the number -1,
a masked entry, a blank text, and what these become as texts: "-1", "-1.0", "nan", "NaN", "None",
"<NA>", "NaT". Every other value is a *name*, also "NA", "N/A" and "null".

In text files names are numbers if all are whole numbers as programs write them ("2", or all as
"2.0", which is how pandas writes whole numbers with gaps), else texts as they stand, such as "007",
"1.10", "1e3", "true". One class may thus be the number 2 on one side and the text "2" on the other:
`same_names` says which names are one.

A reader of a text field calls `read_names`, one of typed values `marks`, a writer of texts
`written_name`, whoever compares the classes of two sides `same_names`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, warn_user

__all__ = [
    "WHOLE_NUMBER",
    "check_text",
    "common_text",
    "is_mark",
    "is_whole",
    "marks",
    "near_name",
    "read_names",
    "same_names",
    "written_name",
]

_WORDS = ("nan", "NaN", "None", "<NA>", "NaT")  # marks that could be names of classes
_MARKS = frozenset(("", "-1", "-1.0", *_WORDS))
_MISSING_ELSEWHERE = frozenset(("NA", "N/A", "na", "n/a", "NULL", "null"))
# A whole number whose text is the same once it is read, as a regular expression.
WHOLE_NUMBER = r"0|-?[1-9]\d{0,17}"
_WHOLE = re.compile(rf"({WHOLE_NUMBER})(\.0)?", re.ASCII)


def is_mark(value: Any) -> bool:
    """Tell whether a value says that there is no class.

    Examples
    --------
    >>> from diffclass.names import is_mark
    >>> [is_mark(value) for value in (None, float("nan"), -1, "-1.0", " ", "nan")]
    [True, True, True, True, True, True]
    >>> [is_mark(value) for value in (0, False, "NA", "null", "none")]
    [False, False, False, False, False]
    """
    if isinstance(value, str | bytes):
        return _text(value).strip() in _MARKS
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value or value == -1)
    except TypeError:  # NA of pandas has no truth value
        return True
    except ValueError:  # nor has an array, which is no mark
        return False


def marks(values: np.ndarray) -> np.ndarray:
    """Return which values say that there is no class, as bool of the same shape.

    Warns
    -----
    UserWarning
        If there are texts such as "nan" or "None", which a class could be called.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.names import marks
    >>> marks(np.array([3, -1])), marks(np.array(["corn", "NA", ""]))
    (array([False,  True]), array([False, False,  True]))
    """
    masked, plain = np.ma.getmaskarray(values), np.ma.getdata(values)
    return masked | _plain_marks(plain, ~masked)


def read_names(texts: Iterable[str | None]) -> np.ndarray:
    """Return the names in a column of a text file, None if empty: whole numbers if all are.

    An array (n,) of int or str, None for marks.

    Raises
    ------
    DataError
        Where "NA" or "null" stands among whole numbers.

    Warns
    -----
    UserWarning
        For a class "NA" or "null", or a word such as "nan" that is taken for a mark.

    Examples
    --------
    >>> from diffclass.names import read_names
    >>> read_names(["2", "", "-1", "10"]), read_names(["2.0", None, "5.0"])
    (array([2, None, None, 10], dtype=object), array([2, None, 5], dtype=object))
    >>> read_names(["007", "1.10"]), read_names(["2", "b "])
    (array(['007', '1.10'], dtype=object), array(['2', 'b '], dtype=object))
    """
    found = np.array([None, *texts], dtype=object)[1:]
    found[marks(found)] = None
    written = {text for text in found.tolist() if text is not None}
    numbers = _whole_numbers(written)
    elsewhere = sorted(written & _MISSING_ELSEWHERE)
    if elsewhere and _whole_numbers(written - _MISSING_ELSEWHERE):
        raise DataError(
            f"{elsewhere[0]!r} stands among whole numbers; leave the entries of those without a "
            "class empty, or name all classes by words"
        )
    if elsewhere:
        warn_user(
            f"{elsewhere[0]!r} is the name of a class; where there is none, leave the entry empty"
        )
    if numbers:
        found[:] = [None if text is None else numbers[text] for text in found.tolist()]
    return found


def written_name(name: Any) -> str:
    """Return a class or an id as a text that is read as the same again.

    Raises
    ------
    DataError
        For a name that would be read as none, or that texts cannot hold.

    Examples
    --------
    >>> from diffclass.names import written_name
    >>> written_name(2), written_name("NA"), written_name(True)
    ('2', 'NA', 'True')
    """
    text = _text(name)
    if is_mark(text):
        raise DataError(f"{name!r} cannot be the name of a class: it says that there is none")
    check_text(text)
    return text


def is_whole(number: float) -> bool:
    """Tell whether a float is a whole number that is the name of a class as such: below 2^53.

    Examples
    --------
    >>> from diffclass.names import is_whole
    >>> is_whole(2.0), is_whole(0.5), is_whole(1e300)
    (True, False, False)
    """
    return number.is_integer() and abs(number) < 2**53


def check_text(text: str) -> None:
    r"""Raise `DataError` for a text that no file of texts holds: zero bytes, half characters.

    Examples
    --------
    >>> from diffclass.names import check_text
    >>> try:
    ...     check_text("corn\0")
    ... except ValueError as error:
    ...     print(error)
    'corn\x00' cannot be written as a text; give that class another name
    """
    try:
        is_good = "\0" not in text and bool(text.encode() or True)
    except (UnicodeError, SystemError):  # of damaged arrays
        is_good = False
    if not is_good:
        raise DataError(f"{text!a} cannot be written as a text; give that class another name")


def same_names(
    given: Iterable[Any], own: Iterable[Any], *, sides: tuple[str, str]
) -> dict[Any, Any]:
    """Return which of its own names each given one is; those that are none of them are left out.

    Names that are equal are one; else those that are written alike, such as the number 2 and the
    texts "2", "2.0" and " 2", or True and "true". Messages call the two ``sides``; each has every
    name once.

    Raises
    ------
    DataError
        Where a name may be two of the other side.

    Examples
    --------
    >>> from diffclass.names import same_names
    >>> same_names(["2", "10.0", "b"], [2, 10, 11], sides=("the scores", "the labels"))
    {'2': 2, '10.0': 10}
    """
    own, given = list(own), list(given)
    exact = {_exact(name): name for name in own}
    alike = _by_text(own)
    found: dict[Any, Any] = {}
    for name in given:
        known = _exact(name) in exact
        others = [exact[_exact(name)]] if known else alike.get(common_text(name), [])
        if len(others) > 1:
            raise DataError(_ambiguous(name, others, sides))
        if others:
            found[name] = others[0]
    taken: dict[Hashable, Any] = {}
    for name, other in found.items():
        if taken.setdefault(_exact(other), name) is not name:
            raise DataError(_ambiguous(other, [taken[_exact(other)], name], sides[::-1]))
    return found


def common_text(name: Any) -> str:
    """Return what names that are written alike have in common.

    Examples
    --------
    >>> from diffclass.names import common_text
    >>> [common_text(name) for name in (2, 2.0, "2", "2.0", " 2", "02", True)]
    ['2', '2', '2', '2', '2', '02', 'true']
    """
    if isinstance(name, float | np.floating) and is_whole(float(name)):
        name = int(name)
    text = _text(name).strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    match = _WHOLE.fullmatch(text)
    return text if match is None else match[1]


def near_name(name: Any, names: Sequence[Any]) -> Any | None:
    """Return the name that another may be a misspelling of, if there is one.

    Examples
    --------
    >>> from diffclass.names import near_name
    >>> near_name("Corn ", ["corn", "soy"]), near_name("oats", ["corn", "soy"])
    ('corn', None)
    """
    by_text: Mapping[str, Any] = {common_text(other).casefold(): other for other in names}
    close = difflib.get_close_matches(common_text(name).casefold(), list(by_text), n=1, cutoff=0.75)
    return by_text[close[0]] if close else None


def _plain_marks(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    kind = values.dtype.kind
    if kind in "fc":
        return np.isnan(values) | (values == -1)
    if kind in "mM":
        return np.isnat(values)
    if kind in "biu":
        return values == -1 if kind == "i" else np.zeros(values.shape, dtype=bool)
    known: dict[Any, bool] = {}
    found = np.zeros(values.shape, dtype=bool)
    flat = found.reshape(-1)
    for place, value in enumerate(values.ravel().tolist()):
        try:
            flat[place] = (
                known[value] if value in known else known.setdefault(value, is_mark(value))
            )
        except TypeError:  # cannot be hashed
            flat[place] = is_mark(value)
    _say_words(text for text, is_one in known.items() if is_one)
    return found & counted


def _say_words(found: Iterable[Any]) -> None:
    texts = {_text(value).strip() for value in found if isinstance(value, str | bytes)}
    words = sorted(texts & set(_WORDS))
    if words:
        warn_user(
            f"{' and '.join(map(repr, words))} among the texts "
            f"{'means' if len(words) == 1 else 'mean'} that there is no class; rename a class that "
            "is called so"
        )


def _whole_numbers(texts: Iterable[str]) -> dict[str, int]:
    """Return texts as numbers if all are whole numbers in one of the two forms, else nothing."""
    found: dict[str, int] = {}
    ends = set()
    for text in texts:
        match = _WHOLE.fullmatch(text.strip())
        if match is None:
            return {}
        found[text] = int(match[1])
        ends.add(match[2])
    return found if len(ends) == 1 else {}


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _exact(name: Any) -> Hashable:
    """Return what equal names have in common; True is not 1."""
    if isinstance(name, bytes):
        return _text(name)
    return (bool, bool(name)) if isinstance(name, bool | np.bool_) else name


def _by_text(names: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name in names:
        found.setdefault(common_text(name), []).append(name)
    return found


def _ambiguous(name: Any, others: list[Any], sides: tuple[str, str]) -> str:
    return (
        f"{name!r} of {sides[0]} may be {' or '.join(map(repr, others[:2]))} of {sides[1]}; name "
        "the classes alike"
    )
