"""The table of `figure_5`: from the paper's rule to the default, by the numbers it leaves."""

from __future__ import annotations

from experiments.markdown import markdown_table, read_numbers

PAPER = ("L1", "largest margin", "no")
ROWS = {  # how chi_i is scaled, which time is taken, and whether the labels have to cover the graph
    "1-NN": ("", "", ""),
    "paper": PAPER,
    "paper, scaled by pi": ("pi", *PAPER[1:]),
    "paper, covered": (*PAPER[:2], "yes"),
    "largest margin": ("pi", "largest margin", "yes"),
    "paper, kept share": ("L1", "last of share 0.8", "no"),
    "kept share, uncovered": ("pi", "last of share 0.8", "no"),
    "kept share in L1": ("L1", "last of share 0.8", "yes"),
    "kept share": ("pi", "last of share 0.8", "yes"),
    "default": ("absorbing", "by margin and cut", "yes"),
}


def table() -> list[str]:
    """Return the right pixels and the time of each rule."""
    found = read_numbers("coifman_2005/figure_5.csv")
    head = ["rule", "chi_i", "time", "covered", "tau, median", "right pixels (%)"]
    return markdown_table(head, [[name, *how, *_cells(found, name)] for name, how in ROWS.items()])


def _cells(found: dict[str, float], name: str) -> list[str]:
    tau = found.get(f"{name}: tau, median")
    mean, spread = (100 * found[f"{name}: accuracy, {of}"] for of in ("mean", "standard deviation"))
    return ["" if tau is None else f"{tau:.0f}", f"{mean:.1f} ± {spread:.1f}"]
