"""High powers of an operator by the Chebyshev series of x^t.

On [-1, 1], where the spectrum of a reversible Markov operator lies,

    x^t = sum over k = t, t - 2, ... of c_k T_k(x),   c_k = 2^(1-t) binom(t, (t - k) / 2),

except that c_0 has half that value. The coefficients are the probabilities of a symmetric random
walk: they sum to 1, and those beyond k = sqrt(2 t log(2 / tolerance)) sum to less than the
tolerance. One recurrence T_(k+1) = 2 x T_k - T_(k-1) serves every t.

Source: S. Sachdeva and N. Vishnoi, Faster algorithms via approximation theory, 2014, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from diffclass.operators.processor import HOST, Columns, Processor

# The largest sum of dropped coefficients by default, in single and in double precision.
SERIES_TOLERANCE = {"f": 1e-6, "d": 1e-12}


def power_coefficients(times: Sequence[int], tolerance: float) -> np.ndarray:
    """Return the coefficients of T_0, T_1, ... in x^t for some t >= 0, (n_times, degree + 1).

    Those dropped sum to at most the tolerance, which bounds the error on [-1, 1]; 0 drops none.

    Examples
    --------
    >>> from diffclass.operators.chebyshev import power_coefficients
    >>> power_coefficients([0, 1, 2], 0)
    array([[1. , 0. , 0. ],
           [0. , 1. , 0. ],
           [0.5, 0. , 0.5]])
    """
    series = [_coefficients(int(t), tolerance) for t in times]
    out = np.zeros((len(series), max(len(c) for c in series)))
    for row, coefficients in zip(out, series, strict=True):
        row[: len(coefficients)] = coefficients
    return out


def sum_coefficients(n_steps: int, tolerance: float) -> np.ndarray:
    """Return the Chebyshev coefficients of x + x^2 + ... + x^t, in sqrt(t) log(t) operations.

    They are read off a cosine transform of the sum x (1 - x^t) / (1 - x), and cut where those
    dropped sum to less than the tolerance; 0 drops none. x + x^2 has 1/2, 1, 1/2.
    """
    t = n_steps
    degree = t
    if tolerance:  # the tail of each power beyond degree k is at most 2 exp(-k^2 / 2 t)
        degree = min(t, 2 + int(np.sqrt(2 * t * np.log(max(4 * t / tolerance, 2)))))
    angle = np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)
    x, gap = np.cos(angle), 2 * np.sin(angle / 2) ** 2  # gap = 1 - x
    with np.errstate(divide="ignore"):
        size = np.where(x > 0.5, np.log1p(-np.minimum(gap, 0.9)), np.log(np.abs(x)))
    rest = -np.expm1(t * size)  # 1 - |x|^t
    if t % 2:
        rest = np.where(x < 0, 2 - rest, rest)
    sums = x * rest / gap
    # the cosine transform: SciPy's own takes longer to load than most walks do to run
    mirrored = np.fft.rfft(np.concatenate([sums, sums[::-1]]))[: degree + 1]
    c = (np.exp(-0.5j * np.pi * np.arange(degree + 1) / (degree + 1)) * mirrored).real
    c /= degree + 1
    c[0] /= 2
    tails = np.cumsum(np.abs(c[::-1]))[::-1]
    return c[: max(int(np.count_nonzero(tails > tolerance)), 1)]


def _coefficients(t: int, tolerance: float) -> np.ndarray:
    # c_k are binomial probabilities; beyond 9 sqrt(t) their sum is below exp(-40)
    k = np.arange(t % 2, min(t, 10 + int(9 * np.sqrt(t))) + 1, 2)
    ratios = (t - k[:-1]) / (t + k[:-1] + 2)
    c = np.cumprod(np.concatenate([[1.0], ratios]))
    if k[0] == 0:
        c[0] /= 2
    c /= c.sum()
    tails = np.cumsum(c[::-1])[::-1]
    n_kept = max(int(np.count_nonzero(tails > tolerance)), 1)
    out = np.zeros(k[n_kept - 1] + 1)
    out[k[:n_kept]] = c[:n_kept]
    return out


def chebyshev_series(
    product: Callable[[Columns, Columns], None],
    f: np.ndarray,
    coefficients: np.ndarray,
    *,
    processor: Processor = HOST,
) -> np.ndarray:
    """Return sum_k c_k T_k(A) f for several series at once, (n_series, n, m), in the dtype of f.

    ``product(g, out)`` writes A g to ``out``, both where the processor has them; the spectrum of A
    lies in [-1, 1]. Coefficients are (n_series, degree + 1).
    """
    coefficients = coefficients.astype(f.dtype)
    first_terms = coefficients[:, 0, None, None] * f
    if coefficients.shape[1] == 1:
        return first_terms
    sums, weights = processor.place(first_terms), processor.place(coefficients)
    previous = processor.place(f.copy())
    current, spare = processor.blank(np.empty_like(f)), processor.blank(np.empty_like(f))
    product(previous, current)
    processor.add_term(current, weights, 1, sums)
    for k in range(2, coefficients.shape[1]):  # T_k = 2 A T_(k-1) - T_(k-2)
        product(current, spare)
        processor.chebyshev_step(spare, previous, weights, k, sums)
        previous, current = current, previous
    return processor.fetch(sums, first_terms)
