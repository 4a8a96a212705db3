"""``diffclass bench``: timings on this machine, as JSON.

Each figure is the median of runs that alternate with those of a reference, and comes with the ratio
to it: machines differ and are noisy, ratios less so.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from diffclass.command_line.console import Console, common_options, forecast_printer
from diffclass.command_line.option_groups import command, force_option, option, options, seed_option
from diffclass.options import Whole
from diffclass.system.costs import Cost, Forecast, Size
from diffclass.system.memory import peak_memory_bytes

if TYPE_CHECKING:
    import numpy as np

    from diffclass.operators.markov import MarkovOperator

_FEATURES = 20


@dataclass(frozen=True)
class _Given:
    rows: int = option("", of=Whole(32), default=512)
    columns: int = option("", of=Whole(32), default=217)
    classes: int = option("", of=Whole(2), default=16)
    repeats: int = option("", of=Whole(1), default=15)
    force: bool = force_option()
    random_state: int = seed_option()


@command(epilog="Example: diffclass bench")
@options(_Given, "given")
@common_options
def bench(given: _Given, console: Console) -> None:
    """Time diffusion steps against scipy's, whole classifications, and strokes to maps."""
    import numpy as np

    from diffclass._compiled.loops import allowed_threads
    from diffclass.system.progress import stage

    n, classes, repeats = given.rows * given.columns, given.classes, given.repeats
    random_state = given.random_state
    advice = "ask for fewer --rows, --columns or --classes"
    forecast_printer(console, advice, force=given.force)(_forecast(n, classes))
    with console.timing():
        with stage("points"):
            points, y = _points(n, classes, random_state)
        whole = _time_fit(points, y, random_state)
        operator = whole.pop("operator")
        with stage("products"):
            product = _time_product(operator, classes, repeats, random_state)
        with stage("warped"):
            warped = _time_warped(operator, classes, repeats, random_state)
        with stage("powers"):
            powers = _time_powers(operator, classes, random_state)
        with stage("relabel"):
            relabel = _time_relabel(operator, classes, repeats, random_state)
    result: dict[str, Any] = {
        "n_points": n,
        "n_features": points.shape[1],
        "n_classes": classes,
        "threads": allowed_threads(),
        "product": product,
        "warped": warped,
        "powers": powers,
        "relabel": relabel,
        "fit": whole,
        "peak_memory_bytes": peak_memory_bytes(),
        "numpy": np.__version__,
    }
    console.give(result, json.dumps(result, indent=1))


def _forecast(n: int, n_classes: int) -> Forecast:
    from diffclass.classifier import DiffusionClassifier
    from diffclass.graph import graph_costs
    from diffclass.kernels import SharedNeighbors
    from diffclass.label_diffusion.calibration import DIFFUSING_BYTES
    from diffclass.relabel.columns import painting_cost

    size = Size(n, _FEATURES, DiffusionClassifier().n_neighbors, n_classes)
    points = 16 * n * _FEATURES  # made in double precision
    return Forecast.of(
        {"points": Cost(points, points + 4 * n * _FEATURES)}
        | graph_costs(size, SharedNeighbors())
        | {"fit": Cost(DIFFUSING_BYTES * n * n_classes), "relabel": painting_cost(size)}
    )


def _points(n: int, n_classes: int, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Make classes of four blobs each; points of a blob follow each other."""
    import numpy as np

    random = np.random.default_rng(random_state)
    blobs = random.normal(size=(4 * n_classes, _FEATURES)) * 1.5
    blob = np.sort(random.integers(len(blobs), size=n))
    spread = np.linspace(1.2, 0.2, _FEATURES)
    points = blobs[blob] + random.normal(size=(n, _FEATURES)) * spread
    truth = blob // 4
    y = np.full(n, -1)
    for label in range(n_classes):
        y[random.choice(np.flatnonzero(truth == label), 5, replace=False)] = label
    return points.astype(np.float32), y


def _time_fit(points: np.ndarray, y: np.ndarray, random_state: int) -> dict[str, Any]:
    from diffclass.classifier import DiffusionClassifier
    from diffclass.system.progress import stage_seconds

    step = max(1, min(50, len(points) // 1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of points that are fitted again
        few = DiffusionClassifier(random_state=random_state)
        few.fit(points[::step], y[::step])  # loads compiled code
    start = time.perf_counter()
    with stage_seconds() as seconds:
        fitted = DiffusionClassifier(random_state=random_state).fit(points, y)
    seconds["total"] = time.perf_counter() - start
    operator = fitted.operator_
    return {
        "seconds": seconds,
        "tau": int(fitted.tau_),
        "neighbor_recall": fitted.graph_.recall,
        "edges_per_point": operator.affinity.nnz / len(operator),
        "operator": operator,
    }


def _time_product(
    operator: MarkovOperator, n_columns: int, repeats: int, random_state: int
) -> dict[str, Any]:
    import numpy as np

    f = np.random.default_rng(random_state).random((len(operator), n_columns), dtype=np.float32)
    K = operator.affinity
    stream = np.ones(_bytes_touched(operator, n_columns) // 8)  # written, so that it is in memory
    ours, scipys, floor = _medians_in_turn(
        [lambda: operator @ f, lambda: K @ f, lambda: stream.sum()], repeats
    )
    return {
        "milliseconds": 1e3 * ours,
        "scipy_milliseconds": 1e3 * scipys,
        "times_faster_than_scipy": scipys / ours,
        "memory_floor_milliseconds": 1e3 * floor,
    }


def _time_warped(
    operator: MarkovOperator, n_classes: int, repeats: int, random_state: int
) -> dict[str, Any]:
    """Time eight steps of the class-specific walks and eight of the plain walk."""
    import numpy as np

    from diffclass.operators.warped import warped_operator

    random, n_steps = np.random.default_rng(random_state), 8
    scores = random.dirichlet(np.ones(n_classes), size=len(operator)).astype(np.float32)
    warped = warped_operator(operator, scores)
    f = random.random((len(operator), n_classes), dtype=np.float32)
    ours, plain = _medians_in_turn(
        [
            lambda: warped.advance(f, n_steps),
            lambda: operator.apply(f, n_steps, tolerance=0),
        ],
        repeats,
    )
    return {
        "milliseconds_per_step": 1e3 * ours / n_steps,
        "plain_milliseconds_per_step": 1e3 * plain / n_steps,
        "times_plain": ours / plain,
    }


def _time_powers(
    operator: MarkovOperator, n_columns: int, random_state: int
) -> list[dict[str, Any]]:
    """Time A^t of all classes by plain steps and by the Chebyshev series, three times each."""
    import numpy as np

    from diffclass.operators.chebyshev import SERIES_TOLERANCE, power_coefficients

    tolerance = SERIES_TOLERANCE["f"]
    f = np.random.default_rng(random_state).random((len(operator), n_columns), dtype=np.float32)
    rows = []
    for t in (16, 32, 64, 128, 256, 1024):
        plain, series = _medians_in_turn(
            [partial(operator.apply, f, t, tolerance=0), partial(operator.apply, f, t)], 3
        )
        rows.append(
            {
                "n_steps": t,
                "series_products": min(t, power_coefficients([t], tolerance).shape[1] - 1),
                "plain_seconds": plain,
                "seconds": series,
                "times_faster_than_plain": plain / series,
            }
        )
    return rows


def _time_relabel(
    operator: MarkovOperator, n_classes: int, repeats: int, random_state: int
) -> dict[str, Any]:
    """Time a stroke of 30 points, from `apply` to the map, and the diffusion of all labels."""
    import numpy as np

    from diffclass.label_diffusion import diffuse_labels
    from diffclass.relabel import RelabelSession

    random, n = np.random.default_rng(random_state), len(operator)
    session = RelabelSession(operator, [f"class {i + 1}" for i in range(n_classes)])

    def paint() -> None:
        first = int(random.integers(n - 30))
        class_id = 1 + len(session.strokes) % n_classes
        session.apply({"op": "stroke", "class": class_id, "points": np.arange(first, first + 30)})

    def paint_and_map() -> None:
        paint()
        session.update()

    for _ in range(n_classes):
        paint()
    session.update()
    y = np.where(session.label_ids, session.label_ids.astype(int), -1)
    stroke, fresh = _medians_in_turn(
        [paint_and_map, lambda: diffuse_labels(operator, y, tau=session.tau)],
        repeats,
    )
    n_early = len(session.strokes)
    for _ in range(200 - n_early):  # strokes that later ones cover do not stay
        paint()
    session.update()
    (late,) = _medians_in_turn([paint_and_map], repeats)
    return {
        "tau": session.tau,
        "milliseconds_per_stroke": 1e3 * stroke,
        "n_strokes": n_early,
        "milliseconds_after_200_strokes": 1e3 * late,
        "fresh_milliseconds": 1e3 * fresh,
        "times_faster_than_fresh": fresh / stroke,
        "column_bytes": session.column_bytes,
    }


def _bytes_touched(operator: MarkovOperator, n_columns: int) -> int:
    """Return the bytes of one product if each array went through memory once."""
    K = operator.affinity
    columns = 2 * len(operator) * n_columns * K.dtype.itemsize
    return K.data.nbytes + K.indices.nbytes + K.indptr.nbytes + columns


def _medians_in_turn(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    import numpy as np

    from diffclass.system.progress import Listeners, listening

    times = np.empty((repeats, len(calls)))
    with listening(Listeners([])):  # a listener that shows each stroke's stages costs time
        for call in calls:
            call()
        for i in range(repeats):
            for j, call in enumerate(calls):
                start = time.perf_counter()
                call()
                times[i, j] = time.perf_counter() - start
    return np.median(times, axis=0).tolist()
