"""What may be asked of tables: the options of commands, and of functions in Python."""

from __future__ import annotations

from diffclass.options import SEED, YES_NO, Number, OneOf, Text, Texts, Whole

OPTIONS = {
    "apart": Texts(),
    "columns": Text(or_none=True),
    "has_features": YES_NO,
    "id_column": Text(or_none=True),
    "level": Number(0, 1, is_open=True, or_none=True),
    "metric": OneOf(("euclidean", "cosine", "correlation"), or_none=True),
    "n_components": Whole(1, or_none=True),
    "overwrite": YES_NO,
    "random_state": SEED,
    "score_accuracy": Number(0, 1, or_none=True),
    "variable": Text(or_none=True),
}
