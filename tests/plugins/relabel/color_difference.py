"""How different two colours look: CIEDE2000, formula by formula.

G. Sharma, W. Wu and E. Dalal, The CIEDE2000 color-difference formula, Color Research and
Application 30 (2005).
"""

from __future__ import annotations

import numpy as np

# of sRGB (IEC 61966-2-1) to XYZ, and its white, D65
_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(rgb):
    """Return CIELAB of sRGB colours 0 to 255, shape (..., 3)."""
    c = np.asarray(rgb, dtype=float) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    x = linear @ _TO_XYZ.T / _WHITE
    x, y, z = np.moveaxis(np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116), -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def delta_e(first, second):
    """Return CIEDE2000 between CIELAB colours, shape (..., 3)."""
    (l1, a1, b1), (l2, a2, b2) = (np.moveaxis(np.asarray(c, float), -1, 0) for c in (first, second))
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    gray = c1 * c2 == 0
    turn = np.where(gray, 0, (h2 - h1 + 180) % 360 - 180)
    d_light, d_chroma = l2 - l1, c2 - c1
    d_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    hue = np.where(gray, h1 + h2, h1 + turn / 2) % 360
    cos = lambda times, shift: np.cos(np.radians(times * hue + shift))  # noqa: E731
    t = 1 - 0.17 * cos(1, -30) + 0.24 * cos(2, 0) + 0.32 * cos(3, 6) - 0.20 * cos(4, -63)
    s_light = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    s_chroma, s_hue = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rotation = 60 * np.exp(-(((hue - 275) / 25) ** 2))
    r = -np.sin(np.radians(rotation)) * 2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    x, y = d_chroma / s_chroma, d_hue / s_hue
    return np.sqrt((d_light / s_light) ** 2 + x**2 + y**2 + r * x * y)
