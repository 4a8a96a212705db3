"""The schema of a model: for each value a form, which writes, reads and checks it.

There is a form for every field of every class that a model may hold; a file names classes only by
the names in these forms. Sizes are letters, ``("n", "d")``, that mean the same throughout a model,
so that every array is checked to be as long as the indices into it need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

_FLOATS = "f"
Shape = tuple[str | int | None, ...]  # letters and numbers; None: any size


@dataclass
class Parts:
    """Arrays by name, and what the letters of sizes stand for."""

    arrays: dict[str, np.ndarray]
    sizes: dict[str, int] = field(default_factory=dict)

    def added(self, array: np.ndarray) -> str:
        """Keep an array, if it is not kept yet, and return its name."""
        for name, kept in self.arrays.items():
            if kept is array:
                return name
        name = f"{len(self.arrays):03}"
        self.arrays[name] = array
        return name

    def check(self, shape: tuple[int, ...], wanted: Shape) -> None:
        """Raise `ValueError` for another shape than was stated, or than sizes are elsewhere."""
        same = len(shape) == len(wanted) and all(
            w is None or size == (self.sizes.setdefault(w, size) if isinstance(w, str) else w)
            for size, w in zip(shape, wanted, strict=True)
        )
        if not same:
            known = [self.sizes.get(w, w) if isinstance(w, str) else w or "any" for w in wanted]
            raise ValueError(f"an array has shape {shape}, not {tuple(known)}")


class Form(Protocol):
    """How a value is kept, and checked where it is kept as where it is restored."""

    def fits(self, value: Any) -> bool:
        """Return whether a value is of this form, by its type."""

    def kept(self, value: Any, parts: Parts) -> Any:
        """Return a value that JSON can hold; arrays go to ``parts``."""

    def restored(self, fact: Any, parts: Parts) -> Any:
        """Return the value, or raise `ValueError` where it is none of this form."""


@dataclass(frozen=True)
class _Plain:
    """A value that JSON holds as it is."""

    def fits(self, value: Any) -> bool:
        return self._holds(_plain(value))

    def kept(self, value: Any, parts: Parts) -> Any:
        return self.restored(_plain(value), parts)

    def restored(self, fact: Any, parts: Parts) -> Any:
        if not self._holds(fact):
            raise ValueError(f"{str(fact)[:60]!r} is no {self}")
        return fact

    def _holds(self, fact: Any) -> bool:
        raise NotImplementedError


@dataclass(frozen=True)
class Whole(_Plain):
    """A whole number in a range, both ends included.

    See Also
    --------
    Number : Fractions too.

    Examples
    --------
    >>> from diffclass.model_files import Whole
    >>> [Whole(1, 9).fits(value) for value in (9, 10, 9.0, True)]
    [True, False, False, False]
    """

    least: int = 0
    most: int = 2**31 - 1

    def _holds(self, fact: Any) -> bool:
        return type(fact) is int and self.least <= fact <= self.most


@dataclass(frozen=True)
class Number(_Plain):
    """A number in a range; NaN and infinity are none, unless ``may_be_nan``.

    See Also
    --------
    Whole : Whole numbers only.

    Examples
    --------
    >>> from diffclass.model_files import Number
    >>> [Number(0, 1).fits(value) for value in (0, 0.5, 1.5, float("nan"))]
    [True, True, False, False]
    """

    least: float = -1e300
    most: float = 1e300
    may_be_nan: bool = False

    def _holds(self, fact: Any) -> bool:
        is_number = type(fact) in (int, float)
        return is_number and (self.least <= fact <= self.most or (self.may_be_nan and fact != fact))


@dataclass(frozen=True)
class Flag(_Plain):
    """True or false.

    Examples
    --------
    >>> from diffclass.model_files import Flag
    >>> [Flag().fits(value) for value in (True, 1)]
    [True, False]
    """

    def _holds(self, fact: Any) -> bool:
        return type(fact) is bool


@dataclass(frozen=True)
class Text(_Plain):
    """A text.

    Examples
    --------
    >>> from diffclass.model_files import Text
    >>> [Text(longest=5).fits(value) for value in ("maize", "oil palm", None)]
    [True, False, False]
    """

    longest: int = 1000

    def _holds(self, fact: Any) -> bool:
        return isinstance(fact, str) and len(fact) <= self.longest


@dataclass(frozen=True)
class Choice:
    """One of some objects, such as functions, by name.

    See Also
    --------
    OneOf : One of some forms, in place of some objects.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.model_files import Choice
    >>> from diffclass.model_files.forms import Parts
    >>> profile = Choice({"exponential": np.exp, "square": np.square})
    >>> fact = profile.kept(np.exp, Parts({}))
    >>> fact, profile.restored(fact, Parts({})) is np.exp
    ('exponential', True)
    """

    choices: Mapping[str, Any]

    def fits(self, value: Any) -> bool:
        """Return whether it is one of them."""
        return any(_is_same(choice, value) for choice in self.choices.values())

    def kept(self, value: Any, parts: Parts) -> str:
        """Return its name."""
        for name, choice in self.choices.items():
            if _is_same(choice, value):
                return name
        raise ValueError(f"{value!r} is none of {', '.join(self.choices)}")

    def restored(self, fact: Any, parts: Parts) -> Any:
        """Return the object."""
        if not isinstance(fact, str) or fact not in self.choices:
            raise ValueError(f"{str(fact)[:60]!r} is none of {', '.join(self.choices)}")
        return self.choices[fact]


@dataclass(frozen=True)
class Maybe:
    """A value of a form, or None.

    Examples
    --------
    >>> from diffclass.model_files import Maybe, Whole
    >>> [Maybe(Whole()).fits(value) for value in (None, 3, "three")]
    [True, True, False]
    """

    form: Form

    def fits(self, value: Any) -> bool:
        """Return whether it is None or of the form."""
        return value is None or self.form.fits(value)

    def kept(self, value: Any, parts: Parts) -> Any:
        """Return the value's fact, or None."""
        return None if value is None else self.form.kept(value, parts)

    def restored(self, fact: Any, parts: Parts) -> Any:
        """Return the value, or None."""
        return None if fact is None else self.form.restored(fact, parts)


@dataclass(frozen=True)
class Listed:
    """A list of values of one form, as long as a size; ``make`` makes something else of it.

    Examples
    --------
    >>> from diffclass.model_files import Listed, Whole
    >>> from diffclass.model_files.forms import Parts
    >>> color = Listed(Whole(0, 255), 3, make=tuple)
    >>> fact = color.kept((230, 159, 0), Parts({}))
    >>> fact, color.restored(fact, Parts({}))
    ([230, 159, 0], (230, 159, 0))
    """

    form: Form
    size: str | int | None = None
    make: Callable[[list[Any]], Any] = list

    def fits(self, value: Any) -> bool:
        """Return whether it is a list or tuple."""
        return isinstance(value, list | tuple)

    def kept(self, value: Any, parts: Parts) -> list[Any]:
        """Return the list of facts."""
        return [self.form.kept(entry, parts) for entry in value]

    def restored(self, fact: Any, parts: Parts) -> Any:
        """Return the values."""
        if not isinstance(fact, list):
            raise ValueError(f"{str(fact)[:60]!r} is no list")
        parts.check((len(fact),), (self.size,))
        return self.make([self.form.restored(entry, parts) for entry in fact])


@dataclass(frozen=True)
class Array:
    """An array of floats, or of NumPy's other ``kinds``; finite, if not ``may_be_infinite``.

    With ``below`` its numbers are codes from 0, each below that size.

    See Also
    --------
    Sparse : For sparse matrices.

    Examples
    --------
    Two arrays, of as many points each; with the class of each point, which is below ``c``:

    >>> import numpy as np
    >>> from diffclass.model_files import Array
    >>> from diffclass.model_files.forms import Parts
    >>> parts = Parts({})
    >>> Array(("n", "c")).kept(np.full((4, 2), 0.5), parts)
    '000'
    >>> Array(("n",), "iu", below="c").kept(np.array([0, 1, 1, 0]), parts)
    '001'
    >>> parts.sizes
    {'n': 4, 'c': 2}
    """

    shape: Shape
    kinds: str = _FLOATS
    may_be_infinite: bool = False
    below: str | None = None

    def fits(self, value: Any) -> bool:
        """Return whether it is an array."""
        return isinstance(value, np.ndarray)

    def kept(self, value: Any, parts: Parts) -> str:
        """Return the name of the array."""
        if not self.fits(value):
            raise ValueError(f"{str(value)[:60]!r} is no array")
        name = parts.added(value)
        self.restored(name, parts)
        return name

    def restored(self, fact: Any, parts: Parts) -> np.ndarray:
        """Return the array."""
        array = _named(fact, parts)
        parts.check(array.shape, self.shape)
        if array.dtype.kind not in "biuf":
            raise ValueError(
                f"an array of {array.dtype} holds no numbers; fit numbers, as for classes, and "
                "keep their names beside"
            )
        is_strange = np.isnan(array) if self.may_be_infinite else ~np.isfinite(array)
        if array.dtype.kind not in self.kinds or is_strange.any():
            raise ValueError(f"an array of {array.dtype} has another type, or is not finite")
        if self.below is not None and array.size:
            least, most = array.min(), array.max()
            if not 0 <= least <= most < parts.sizes[self.below]:
                raise ValueError(f"numbers from {least} to {most} number nothing")
        return array


@dataclass(frozen=True)
class Sparse:
    """A sparse matrix of rows or columns, as ``kind`` makes it.

    See Also
    --------
    Array : For dense arrays.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from diffclass.model_files import Sparse
    >>> from diffclass.model_files.forms import Parts
    >>> parts = Parts({}, sizes={"n": 3})
    >>> form = Sparse(("n", "n"))
    >>> fact = form.kept(sp.csr_array(sp.eye_array(3)), parts)
    >>> fact
    {'data': '000', 'indices': '001', 'indptr': '002'}
    >>> form.restored(fact, parts).toarray()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    shape: tuple[str, str]
    kind: type = sp.csr_array

    def fits(self, value: Any) -> bool:
        """Return whether it is such a matrix."""
        return isinstance(value, self.kind)

    def kept(self, value: Any, parts: Parts) -> dict[str, str]:
        """Return the names of its three arrays."""
        arrays = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        return {name: parts.added(array) for name, array in arrays.items()}

    def restored(self, fact: Any, parts: Parts) -> Any:
        """Return the matrix, with indices that are inside."""
        _check_keys(fact, {"data", "indices", "indptr"})
        data = _named(fact["data"], parts)
        indices, indptr = (_named(fact[name], parts) for name in ("indices", "indptr"))
        major, minor = self.shape if self.kind is sp.csr_array else self.shape[::-1]
        n_major, n_minor = parts.sizes[major], parts.sizes[minor]
        fits = (
            data.dtype.kind in _FLOATS
            and indices.dtype == indptr.dtype
            and indices.dtype in (np.dtype(np.int32), np.dtype(np.int64))
            and data.shape == indices.shape == (len(data.ravel()),)
            and indptr.shape == (n_major + 1,)
            and indptr[0] == 0
            and indptr[-1] == len(data)
            and (np.diff(indptr) >= 0).all()
            and (len(indices) == 0 or 0 <= indices.min() <= indices.max() < n_minor)
            and np.isfinite(data).all()
        )
        if not fits:
            raise ValueError("the entries of a sparse matrix are outside of it")
        shape = tuple(parts.sizes[letter] for letter in self.shape)
        return self.kind((data, indices, indptr), shape=shape)


@dataclass(frozen=True)
class Record:
    """An object of a class, by its fields; ``make`` makes it of them, the class by default.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from diffclass.model_files import Number, Record, Text
    >>> from diffclass.model_files.forms import Parts
    >>> @dataclass
    ... class Sensor:
    ...     name: str
    ...     width: float
    >>> form = Record(Sensor, {"name": Text(), "width": Number(0)})
    >>> fact = form.kept(Sensor("a", 5.5), Parts({}))
    >>> fact, form.restored(fact, Parts({}))
    ({'name': 'a', 'width': 5.5}, Sensor(name='a', width=5.5))
    """

    kind: type
    fields: Mapping[str, Form]
    make: Callable[..., Any] | None = None

    def fits(self, value: Any) -> bool:
        """Return whether it is of the class, and not of one derived from it."""
        return type(value) is self.kind

    def kept(self, value: Any, parts: Parts) -> dict[str, Any]:
        """Return the facts of the fields; one that the object has not counts as None."""
        if not self.fits(value):
            raise ValueError(f"{value!r} is no {self.kind.__name__}")
        return {
            name: form.kept(getattr(value, name, None), parts) for name, form in self.fields.items()
        }

    def restored(self, fact: Any, parts: Parts) -> Any:
        """Return an object with these fields."""
        _check_keys(fact, self.fields.keys())
        values = {name: form.restored(fact[name], parts) for name, form in self.fields.items()}
        return (self.make or self.kind)(**values)


@dataclass(frozen=True)
class OneOf:
    """A value of one of some forms, which are called by name, and may hold each other.

    See Also
    --------
    Choice : One of some objects, in place of some forms.

    Examples
    --------
    A kernel's bandwidth is a number or the name of a rule:

    >>> from diffclass.model_files import Number, OneOf, Text
    >>> from diffclass.model_files.forms import Parts
    >>> bandwidth = OneOf({"name": Text(), "number": Number(0)})
    >>> bandwidth.kept("global", Parts({})), bandwidth.kept(0.5, Parts({}))
    ({'is': 'name', 'of': 'global'}, {'is': 'number', 'of': 0.5})
    """

    forms: Mapping[str, Form]

    def fits(self, value: Any) -> bool:
        """Return whether it is of one of them."""
        return any(form.fits(value) for form in self.forms.values())

    def kept(self, value: Any, parts: Parts) -> dict[str, Any]:
        """Return the name of the form, and the fact."""
        for name, form in self.forms.items():
            if form.fits(value):
                return {"is": name, "of": form.kept(value, parts)}
        raise ValueError(f"{value!r} is none of {', '.join(self.forms)}")

    def restored(self, fact: Any, parts: Parts) -> Any:
        """Return the value."""
        _check_keys(fact, {"is", "of"})
        if not isinstance(fact["is"], str) or fact["is"] not in self.forms:
            raise ValueError(f"{str(fact['is'])[:60]!r} is none of {', '.join(self.forms)}")
        return self.forms[fact["is"]].restored(fact["of"], parts)


def _is_same(choice: Any, value: Any) -> bool:
    return choice is value or (isinstance(choice, str) and choice == value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _named(fact: Any, parts: Parts) -> np.ndarray:
    if not isinstance(fact, str) or fact not in parts.arrays:
        raise ValueError(f"{str(fact)[:60]!r} names no array")
    return parts.arrays[fact]


def _check_keys(fact: Any, wanted: Any) -> None:
    if not isinstance(fact, dict) or fact.keys() != set(wanted):
        raise ValueError(f"{str(fact)[:60]} has not the parts {', '.join(sorted(wanted))}")
