"""Operations of a careless user."""

from __future__ import annotations

import numpy as np


def random_operation(rng, state, n_pixels):
    """Return an operation that may or may not be possible, as a careless user would do it."""
    ids = [entry["id"] for entry in state["classes"]] or [1]
    numbers = [stroke["number"] for stroke in state["strokes"]] or [1]
    class_id, other = (int(rng.choice(ids)) for _ in range(2))
    number = int(rng.choice(numbers))
    start = int(rng.integers(n_pixels - 3))
    runs = [start, int(rng.integers(1, 30))]  # now and then it leaves the image
    flag = bool(rng.integers(2))
    choices = {
        "stroke": (30, {"class": class_id, "pixels": runs} | ({"spare": True} if flag else {})),
        "erase": (6, {"pixels": runs}),
        "move": (6, {"stroke": number, "class": class_id}),
        "remove": (4, {"stroke": number}),
        "add_class": (2, {}),
        "rename_class": (2, {"id": class_id, "name": f"name {start}"}),
        "recolor_class": (2, {"id": class_id, "color": "#12ab9f"}),
        "hide_class": (2, {"id": class_id, "hidden": flag}),
        "lock_class": (2, {"id": class_id, "locked": flag and bool(rng.integers(2))}),
        "merge_classes": (1, {"source": class_id, "into": other}),
        "remove_class": (1, {"id": class_id, "with_labels": flag}),
        "tau": (1, {"tau": int(rng.choice([16, 32]))}),
        "label_mode": (1, {"mode": str(rng.choice(["auto", "summed", "free", "absorbing"]))}),
        "class_sizes": (1, {"sizes": str(rng.choice(["uniform", f"{class_id}=20-40%", "all"]))}),
        "undo": (14, {}),
        "redo": (7, {}),
        "nonsense": (1, {}),
    }
    weights = np.array([weight for weight, _ in choices.values()], dtype=float)
    name = str(rng.choice(list(choices), p=weights / weights.sum()))
    return {"op": name} | choices[name][1]
