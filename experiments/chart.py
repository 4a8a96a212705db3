"""The chart of guide/which.md: from what there is to a command or a line of Python.

    python -m experiments.chart

Writes four pictures into guide/which: wide for a screen and tall for a phone, each light and dark.
One unit of a drawing is a point. Text stays text, in the reader's fonts if DejaVu is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

OUTPUT = Path(__file__).parents[1] / "guide" / "which"
WIDE, TALL = 682.0, 270.0  # for guides in windows of 1280 and of 390 pixels
TEXT, HEADING, LINE = 9.0, 10.0, 12.5
BAR = 20.0  # the height of a question
GAP = 8.0  # above an answer; two above a question
PAD, INSET, STEP = 6.0, 10.0, 12.0  # in a box, in a panel, from a question's line to its answers
TITLE = 28.0  # the height of a panel's title
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "which",  # else ids by chance
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.monospace": ["DejaVu Sans Mono", "Menlo"],
}


class Theme(NamedTuple):
    page: str
    panel: str
    question: str
    box: str
    line: str
    text: str
    python: str


THEMES = {
    "light": Theme("#ffffff", "#eef2f6", "#2f5d8a", "#ffffff", "#8fa1b3", "#1f2933", "#1b6e45"),
    "dark": Theme("#16191d", "#20252b", "#3a6a9a", "#14171b", "#66727f", "#d8dade", "#8fcf8f"),
}


class Answer(NamedTuple):
    when: str
    command: str = ""
    python: str = ""
    advice: str = ""


class Question(NamedTuple):
    text: str
    answers: Sequence[Answer]


START = "How many labels per class?"
MANY = Answer(
    "more than ten: a supervised classifier",
    python="SVC()",
    advice="Compare it with the default on labels\nheld out; from fifty on, take it.",
)
AIM = Question(
    "What do you look for?",
    (
        Answer("classes, to label by hand on a page", "diffclass relabel scene.img"),
        Answer("classes: what to label first", "diffclass suggest scene.img\n  -o first.geojson"),
        Answer(
            "classes, with scores from elsewhere",
            "diffclass classify vectors.npy\n  --scores FILE -o classes.csv",
            "fit(X, y, score_prior=scores)",
        ),
        Answer(
            "groups", "diffclass cluster scene.img\n  -k 8 -o clusters.tif",
            'DiffusionClustering("auto")',
        ),
        Answer(
            "single strange points", "diffclass anomaly scene.img\n  -o scores.img",
            "DiffusionAnomaly()",
        ),
        Answer(
            "coordinates, or features", "diffclass embed scene.img\n  -o coordinates.img",
            "DiffusionMap(3)",
        ),
    ),
)  # fmt: skip
DATA = Question(
    "Scene or table?",
    (
        Answer("a scene", "diffclass classify scene.img\n  --labels labels.tif -o map.tif"),
        Answer(
            "a table, such as embeddings",
            "diffclass classify vectors.npy\n  --labels labels.csv\n  -o classes.csv",
        ),
        Answer("either, as an array", python="DiffusionClassifier()"),
    ),
)
CLASSES = Question(
    "What are the classes like?",
    (
        Answer("clusters", advice="Nothing to add."),
        Answer("fields, roofs, lakes: many pixels each", "--features spatial"),
        Answer("mixtures without borders", advice="Compare with an SVM, too."),
        Answer("spectra of one shape, bright or dark", "--metric angle"),
    ),
)  # fmt: skip
KNOWN = Question(
    "What else is known?",
    (
        Answer(
            "sizes of classes, or that all are equal", "--class-sizes 'corn=20-30%'",
            'class_prior="uniform"',
        ),
        Answer(
            "scores from elsewhere, last year's map", "--scores FILE",
            "fit(X, y, score_prior=scores)",
        ),
        Answer("a graph of your own", "--graph FILE", 'affinity="precomputed"'),
    ),
)  # fmt: skip
NEXT = Question(
    "How large, and what next?",
    (
        Answer("more points than fit into memory", "--memory 8GB", "BlockClassifier(memory=8e9)"),
        Answer("new points that come later", "--save x.model", "model.predict(new)"),
        Answer("somebody who can look and correct", "diffclass relabel scene.img"),
    ),
)
TITLES = ("No labels", "One to ten: a command and its options")
QUESTIONS = (AIM, DATA, CLASSES, KNOWN, NEXT)


class Pen:
    """Draws boxes, lines and text in the colours of a theme, y downwards."""

    def __init__(self, axes: Axes, theme: Theme) -> None:
        self.axes, self.theme = axes, theme

    def box(self, x: float, y: float, width: float, height: float, color: str) -> None:
        edge = self.theme.line if color == self.theme.box else color
        patch = FancyBboxPatch(
            (x, y), width, height, "round,pad=0,rounding_size=4", fc=color, ec=edge, lw=0.7,
            zorder=0.5 if color == self.theme.panel else 1,
        )  # fmt: skip
        self.axes.add_patch(patch)

    def text(self, x: float, y: float, words: str, color: str, font: str = "sans-serif") -> None:
        words = words.replace("  ", "\N{NO-BREAK SPACE}" * 2)  # others are not kept
        self.axes.text(x, y, words, color=color, size=TEXT, family=font, va="center_baseline")

    def heading(self, x: float, y: float, words: str, color: str) -> None:
        self.axes.text(x, y, words, color=color, size=HEADING, weight="bold", va="center_baseline")

    def line(self, *corners: tuple[float, float]) -> None:
        """Draw a line through corners, with an arrow's head at its end."""
        self.axes.plot(*zip(*corners, strict=True), color=self.theme.line, lw=1, zorder=0.9)
        (_, y_before), (x, y) = corners[-2:]
        head, x, y = (">", x - 2, y) if y == y_before else ("v", x, y - 2)
        self.axes.plot(x, y, head, color=self.theme.line, ms=4.5, mew=0)

    def question(self, x: float, y: float, width: float, words: str) -> float:
        """Draw a question; return where it ends."""
        self.box(x, y, width, BAR, self.theme.question)
        self.heading(x + PAD, y + BAR / 2, words, "#ffffff")
        return y + BAR

    def answer(self, x: float, y: float, width: float, answer: Answer) -> tuple[float, float]:
        """Draw an answer; return the middle of its box, to which a line leads, and its end."""
        lines = [
            *((line, self.theme.text, "monospace") for line in answer.command.splitlines()),
            *((line, self.theme.python, "monospace") for line in answer.python.splitlines()),
            *((line, self.theme.text, "sans-serif") for line in answer.advice.splitlines()),
        ]
        top, height = y + LINE + 1, LINE * len(lines) + PAD
        self.text(x, y + LINE / 2, answer.when, self.theme.text)
        self.box(x, top, width, height, self.theme.box)
        for number, (line, color, font) in enumerate(lines):
            self.text(x + PAD, top + PAD / 2 + LINE * (number + 0.5), line, color, font)
        return top + height / 2, top + height

    def column(
        self, x: float, y: float, width: float, questions: Sequence[Question]
    ) -> tuple[float, float]:
        """Draw questions with their answers; return where their line and the last box end."""
        trunk, left, turn = x + PAD, x + PAD + STEP, y
        for question in questions:
            if question is not questions[0]:
                y += 2 * GAP
                self.line((trunk, turn), (trunk, y))
            y = turn = self.question(x, y, width, question.text)
            for answer in question.answers:
                before = turn
                turn, y = self.answer(left, y + GAP, x + width - left, answer)
                self.line((trunk, before), (trunk, turn), (left, turn))
        return turn, y

    def panel(self, x: float, y: float, width: float, height: float, title: str) -> None:
        """Draw what lies behind the questions for so many labels."""
        self.box(x, y, width, height, self.theme.panel)
        self.heading(x + INSET, y + TITLE / 2, title, self.theme.text)


def wide(pen: Pen) -> float:
    """Draw the questions in three columns, of which two share a panel; return the height."""
    width = (WIDE - 4 * INSET - 2 * STEP) / 3
    panels = (0.0, width + 2 * INSET + STEP)
    columns = (INSET, panels[1] + INSET, WIDE - INSET - width)
    turn, end = pen.answer(columns[2], 0, WIDE - columns[2], MANY)
    pen.question(0, turn - BAR / 2, width + 2 * INSET, START)
    top = end + 2 * GAP
    pen.line((width + 2 * INSET, turn), (columns[2], turn))
    pen.line((columns[0] + PAD, turn + BAR / 2), (columns[0] + PAD, top))
    pen.line((columns[1] + PAD, turn), (columns[1] + PAD, top))
    parts = (QUESTIONS[:1], QUESTIONS[1:3], QUESTIONS[3:])
    ends = [pen.column(x, top + TITLE, width, part) for x, part in zip(columns, parts, strict=True)]
    bottom = max(end for _, end in ends) + INSET
    pen.panel(panels[0], top, panels[1] - STEP, bottom - top, TITLES[0])
    pen.panel(panels[1], top, WIDE - panels[1], bottom - top, TITLES[1])
    trunk, between, below = columns[1] + PAD, columns[2] - STEP / 2, ends[1][1] + INSET / 2
    first = top + TITLE + BAR / 2
    pen.line(
        (trunk, ends[1][0]), (trunk, below), (between, below), (between, first),
        (columns[2], first),
    )  # fmt: skip
    return bottom


def tall(pen: Pen) -> float:
    """Draw the questions in one column; return the height."""
    left = PAD + GAP
    turn = pen.question(0, 0, TALL, START)
    before = turn
    turn, y = pen.answer(left, turn + GAP, TALL - left, MANY)
    pen.line((PAD, before), (PAD, turn), (left, turn))
    for title, part in zip(TITLES, (QUESTIONS[:1], QUESTIONS[1:]), strict=True):
        before, top = turn, y + 2 * GAP
        turn = top + TITLE / 2
        _, y = pen.column(left + INSET, top + TITLE, TALL - left - 2 * INSET, part)
        y += INSET
        pen.panel(left, top, TALL - left, y - top, title)
        pen.line((PAD, before), (PAD, turn), (left, turn))
    return y


SHAPES: dict[str, tuple[Callable[[Pen], float], float]] = {
    "wide": (wide, WIDE), "tall": (tall, TALL),
}  # fmt: skip


def plot(shape: str, theme: Theme) -> Figure:
    """Return a figure of the size of what is drawn on it, with a point around."""
    draw, width = SHAPES[shape]
    figure = Figure(facecolor=theme.page)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    height = draw(Pen(axes, theme))
    figure.set_size_inches((width + 2) / 72, (height + 2) / 72)
    axes.set(xlim=(-1, width + 1), ylim=(height + 1, -1))
    return figure


def main(folder: Path = OUTPUT) -> None:
    """Write the pictures."""
    for shape in SHAPES:
        for name, theme in THEMES.items():
            with rc_context(STYLE):
                path = folder / f"{shape}_{name}.svg"
                plot(shape, theme).savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
