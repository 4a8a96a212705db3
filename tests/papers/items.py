"""Items of the papers: a formula, what computes it here, and how well both agree.

A test of an item writes the paper's formula in dense NumPy, from the paper alone, and returns (or
yields, for several) by how much diffclass differs from it at most; `item` holds it to a bound and
notes the item for guide/papers.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Found = float | Iterator[float] | None
ROUNDING = 1e-10  # of numbers of about 1, after some hundred operations


@dataclass(frozen=True)
class Item:
    """One row of the page.

    Attributes
    ----------
    document : str
        Key of `DOCUMENTS`.
    place : str
        Section, equation or figure.
    formula : str
        What the document says there, in a few words or symbols of ours.
    names : tuple of str
        Public names that compute it, each with its arguments; the first is the main one.
    agreement : str
        The bound that the test holds, or what it finds in a figure.
    differs : str
        What the default does instead, why, and where that is measured; empty where it is this.
    test : str
        Name of the test.
    """

    document: str
    place: str
    formula: str
    names: tuple[str, ...]
    agreement: str
    differs: str
    test: str


DOCUMENTS = {
    "coifman_2005": "Coifman et al., Geometric diffusions, part I: diffusion maps (2005)",
    "socher_2008": "Socher, Manifold learning and dimensionality reduction with diffusion maps "
    "(2008)",
    "delaporte_2008": "de la Porte et al., An introduction to diffusion maps (2008)",
    "encyclopedia": "An encyclopedia's article, Diffusion map",
    "shan_2022": "Shan and Daubechies, Diffusion maps: using the semigroup property for parameter "
    "tuning (2022)",
}

ITEMS: list[Item] = []


def item(
    place: str,
    formula: str,
    *names: str,
    within: float = ROUNDING,
    agreement: str = "",
    differs: str = "",
) -> Callable[[Callable[[], Found]], Callable[[], None]]:
    """Make a test of a function that returns the largest deviation from a paper, or yields each.

    Parameters
    ----------
    place, formula, names, differs
        As of `Item`.
    within : float
        The deviation allowed.
    agreement : str
        What the test asserts by itself; it then returns nothing. By default the bound.
    """

    def decorated(check: Callable[[], Found]) -> Callable[[], None]:
        document = check.__module__.rpartition(".test_")[2]
        shown = agreement or ("to rounding" if within == ROUNDING else f"within {within:g}")
        ITEMS.append(Item(document, place, formula, names, shown, differs, check.__name__))

        @functools.wraps(check)
        def test() -> None:
            found = check()
            if agreement:
                assert found is None, "a test with words of its own asserts by itself"
            else:
                assert found is not None
                deviation = max(found) if isinstance(found, Iterator) else found
                assert deviation <= within, f"deviates by {deviation:.3g}"

        del test.__wrapped__  # pytest takes its signature
        return test

    return decorated


def deviation(found: object, expected: object) -> float:
    """Return the largest difference of two arrays of one shape; infinite for NaN."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, f"{found.shape} is not {expected.shape}"
    difference = np.abs(found - expected)
    return float(np.where(np.isnan(difference), np.inf, difference).max(initial=0))
