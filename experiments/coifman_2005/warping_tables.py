"""The tables of `warping`, from the numbers that it leaves."""

from __future__ import annotations

from experiments.coifman_2005.rounds import ROUNDS
from experiments.markdown import markdown_table, read_numbers

SOURCE = "coifman_2005/warping.csv"
NAMES = {
    "digits": "digits",
    "salinas-spectral": "Salinas-A, spectral",
    "pines-spectral": "8-bit Indian Pines, spectral",
}
RULES = ("largest margin", "kept share")
CLAIMS = {
    "restart": "restarted",
    "warped": "warped (default)",
    "paper's kernel": "the paper's kernel",
}
# with a factor and the digits shown
CLAIMED = (("steps to tau", 1, 0), ("crossing in a step", 100, 2), ("accuracy (%)", 1, 0))
DOUBLINGS = 8  # from one label per class to all
WAYS = {
    "forward exponent 0.25": "warped (default)",
    "forward exponent 1": "warped, forward exponent 1",
    "not warped": "not warped",
}


def rounds() -> list[str]:
    """Warped walks beside restarts with free labels, round by round."""
    found = read_numbers(SOURCE)
    head = [
        "problem",
        f"steps to tau, rounds 0 to {ROUNDS}",
        "restarted",
        "crossing between classes in a step",
        "accuracy less the restart's",
        "processor time over the restart's",
    ]
    return markdown_table(head, [_compared(found, name) for name in NAMES])


def _compared(found: dict[str, float], name: str) -> list[str]:
    def by_round(way: str, quantity: str) -> list[float]:
        keys = [f"{name}, free, {way}, round {i}: {quantity}" for i in range(ROUNDS + 1)]
        return [found[key] for key in keys]

    warped = [f"{value:.0f}" for value in by_round("warped", "steps to tau")]
    restarted = [f"{value:.0f}" for value in by_round("restart", "steps to tau")]
    crossing = [f"{value:.2g}" for value in by_round("warped", "crossing in a step")]
    gain = found[f"{name}, free: accuracy warped less restart, last round"]
    half = found[f"{name}, free: half of its 95 % interval"]
    return [
        NAMES[name],
        ", ".join(warped),
        f"{restarted[0]} to {restarted[-1]}",
        f"{crossing[0]} to {crossing[-1]}",
        f"{gain:+.1f} ± {half:.1f}",
        f"{found[f'{name}, free: processor time warped over restart']:.2f}",
    ]


def claims() -> list[str]:
    """What the paper says of warped rounds, as labels are doubled to all points of the digits."""
    found = read_numbers(SOURCE)
    head = ["time", "", "steps to tau, by round", "crossing in a step (%)", "right (%)"]
    return markdown_table(
        head,
        [
            [rule, name, *_claimed(found, rule, way)]
            for rule in RULES
            for way, name in CLAIMS.items()
        ],
    )


def _claimed(found: dict[str, float], rule: str, way: str) -> list[str]:
    cells = []
    for quantity, unit, digits in CLAIMED:
        key = f"digits, doubled labels, {rule}, {way}, round {{}}: {quantity}".format
        values = [unit * found[key(i)] for i in range(DOUBLINGS + 1) if key(i) in found]
        shown = values if len(set(values)) > 1 else values[:1]
        cells.append(", ".join(f"{value:.{digits}f}" for value in shown))
    return cells


def overturned() -> list[str]:
    """How many of the wrong scores the new labels overturn, in percent."""
    found = read_numbers(SOURCE)
    rows = [
        [f"{kind} errors", name]
        + [
            f"{found[f'digits, {kind} errors, {way}, round {i}: right (%)']:.1f}"
            for i in range(1, ROUNDS + 1)
        ]
        for kind in ("scattered", "clumped")
        for way, name in WAYS.items()
    ]
    return markdown_table(["digits", "", *(f"round {i}" for i in range(1, ROUNDS + 1))], rows)
