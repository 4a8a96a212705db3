"""The schema of a model: for each value a form, which writes, reads and checks it.

There is a form for every field of every class that a model may hold. A file names classes only by
the names in these forms, or by those that classes state themselves (`Kept`). Sizes are letters,
``("n", "d")``, that mean the same throughout a model, so that every array is checked to be as long
as the indices into it need.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

__all__ = [
    "Array",
    "Choice",
    "Derived",
    "Flag",
    "Form",
    "Kept",
    "Listed",
    "Maybe",
    "Number",
    "OneOf",
    "Record",
    "Sparse",
    "Text",
    "Whole",
]

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
    >>> from diffclass.system.forms import Whole
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
    >>> from diffclass.system.forms import Number
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
    >>> from diffclass.system.forms import Flag
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
    >>> from diffclass.system.forms import Text
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
    >>> from diffclass.system.forms import Choice, Parts
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
    >>> from diffclass.system.forms import Maybe, Whole
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
    >>> from diffclass.system.forms import Listed, Parts, Whole
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
    >>> from diffclass.system.forms import Array, Parts
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
        """Return whether it is an array of as many axes."""
        return isinstance(value, np.ndarray) and value.ndim == len(self.shape)

    def kept(self, value: Any, parts: Parts) -> str:
        """Return the name of the array."""
        if not isinstance(value, np.ndarray):
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
    >>> from diffclass.system.forms import Parts, Sparse
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

    Without ``make`` it also has the fields that the class's constructor takes as bool, int, float,
    str, "str | float", or one of these or None.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from diffclass.system.forms import Number, Parts, Record
    >>> @dataclass
    ... class Sensor:
    ...     name: str
    ...     width: float
    >>> form = Record(Sensor, {"width": Number(0)})
    >>> fact = form.kept(Sensor("a", 5.5), Parts({}))
    >>> fact, form.restored(fact, Parts({}))
    ({'name': 'a', 'width': 5.5}, Sensor(name='a', width=5.5))
    """

    kind: type
    fields: Mapping[str, Form]
    make: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if self.make is None:
            object.__setattr__(self, "fields", {**_plain_fields(self.kind), **self.fields})

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

    >>> from diffclass.system.forms import Number, OneOf, Parts, Text
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


class Kept:
    """Base of classes that say themselves how files hold their objects; see `Derived`.

    Attributes
    ----------
    kept_fields : mapping of str to Form, or None
        The form of each field, by name; the constructor takes them under these names. Those that it
        takes as bool, int, float, str, "str | float", or one of these or None, need no form. None:
        no file holds such objects. A derived class states its own, since it may have more fields.
    kept_as : str, optional
        Name in files; by default that of the class.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from diffclass.system.forms import Derived, Kept, Number, Parts
    >>> @dataclass
    ... class Disk(Kept):
    ...     radius: float
    ...     kept_fields = {"radius": Number(0)}
    >>> shapes = Derived(Kept)
    >>> fact = shapes.kept(Disk(2.0), Parts({}))
    >>> fact, shapes.restored(fact, Parts({}))
    ({'is': 'Disk', 'of': {'radius': 2.0}}, Disk(radius=2.0))
    """

    kept_fields: ClassVar[Mapping[str, Form] | None] = None
    kept_as: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kept_as = vars(cls).get("kept_as", cls.__name__)
        stated = vars(cls).get("kept_fields")
        if stated is not None:  # complete for classes that derive theirs from them
            cls.kept_fields = {**_plain_fields(cls), **stated}


@dataclass(frozen=True)
class Derived:
    """An object of any class derived from ``base`` that states its fields, by the class's name.

    ``others`` are forms that it may have instead. ``find_more`` is called for a name that is not
    known, and imports classes that are not loaded yet.

    See Also
    --------
    Kept : What the classes state, with an example.

    Examples
    --------
    A class that states nothing is refused:

    >>> from diffclass.system.forms import Derived, Kept, Parts
    >>> class Line(Kept):
    ...     pass
    >>> Derived(Line).kept(Line(), Parts({}))
    Traceback (most recent call last):
    ...
    ValueError: Line states no fields: give the class kept_fields, see diffclass.system.forms.Kept
    """

    base: type[Kept]
    others: Mapping[str, Form] = field(default_factory=dict)
    find_more: Callable[[], object] | None = None

    def fits(self, value: Any) -> bool:
        """Return whether it is of such a class, or of another form."""
        return isinstance(value, self.base) or OneOf(self.others).fits(value)

    def kept(self, value: Any, parts: Parts) -> dict[str, Any]:
        """Return the name of the class or form, and the fact."""
        if not isinstance(value, self.base):
            return OneOf(self._forms()).kept(value, parts)
        kind = type(value)
        form = self._forms().get(kind.kept_as)
        if vars(kind).get("kept_fields") is None:
            raise ValueError(
                f"{kind.__name__} states no fields: give the class kept_fields, see "
                "diffclass.system.forms.Kept"
            )
        if not isinstance(form, Record) or form.kind is not kind:
            raise ValueError(f"another class than this {kind.__name__} is kept as {kind.kept_as!r}")
        signature = inspect.signature(kind)
        untold = [one.name for one in signature.parameters.values()
                  if one.annotation is one.empty and one.name not in form.fields]  # fmt: skip
        try:
            signature.bind(**dict.fromkeys(form.fields))
            if untold:
                raise TypeError(f"no form and no type of {', '.join(untold)}")
        except TypeError as error:
            raise ValueError(f"kept_fields of {kind.__name__} do not make one: {error}") from None
        return {"is": kind.kept_as, "of": form.kept(value, parts) if form.fields else kind.kept_as}

    def restored(self, fact: Any, parts: Parts) -> Any:
        """Return the object; one without fields is its name."""
        _check_keys(fact, {"is", "of"})
        if self.find_more is not None and fact["is"] not in self._forms():
            self.find_more()
        forms = self._forms()
        form = forms.get(fact["is"])
        if form is None:
            raise ValueError(
                f"{str(fact['is'])[:60]!r} is none of {', '.join(forms)}; if it is a class of your "
                "own, import the module that defines it first"
            )
        if isinstance(form, Record) and not form.fields and fact["of"] == fact["is"]:
            return form.kind()
        return OneOf(forms).restored(fact, parts)

    def _forms(self) -> dict[str, Form]:
        """Return the forms by name; of classes of one name that which was defined last."""
        kinds, found = [self.base], {}
        for kind in kinds:
            kinds.extend(kind.__subclasses__())
            fields = vars(kind).get("kept_fields")
            if fields is not None:
                found[kind.kept_as] = Record(kind, fields)
        return {**found, **self.others}


_BY_TYPE: dict[str, Form] = {"bool": Flag(), "int": Whole(), "float": Number(), "str": Text()}
_BY_TYPE["str | float"] = OneOf({"name": _BY_TYPE["str"], "number": _BY_TYPE["float"]})
_BY_TYPE |= {f"{name} | None": Maybe(form) for name, form in _BY_TYPE.items()}


def _plain_fields(kind: type) -> dict[str, Form]:
    """Return forms of what the constructor of a class takes, where its type says all of them."""
    try:
        signature = inspect.signature(kind)
    except ValueError:  # of a built-in class
        return {}
    types = {name: one.annotation for name, one in signature.parameters.items()}
    names = {
        name: one if isinstance(one, str) else inspect.formatannotation(one)
        for name, one in types.items()
    }
    return {name: _BY_TYPE[one] for name, one in names.items() if one in _BY_TYPE}


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
