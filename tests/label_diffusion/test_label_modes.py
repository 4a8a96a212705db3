"""The registry of label modes: what it lists is known wherever labels count."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from diffclass.label_diffusion.label_modes import LABEL_MODES

ADDED = """
import json
from dataclasses import replace
import numpy as np
from diffclass.label_diffusion import label_modes
from diffclass.label_diffusion.walk import AbsorbingWalk

class Late(AbsorbingWalk):
    pass

late = replace(
    label_modes.ABSORBING, name="late", walk=Late, largest_walk=None,
    in_blocks=False, in_sessions={in_sessions},
)
label_modes.LABEL_MODES["late"] = late

from diffclass import DiffusionClassifier, diffuse_labels, markov_operator
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion import Labels
from diffclass.label_diffusion.diffusion import start_walk
from diffclass.relabel import RelabelSession
from diffclass_hyperspectral.commands.classify import classify
from diffclass_relabel.commands.relabel_scene import relabel

def refusal(work):
    try:
        return work() and None
    except ParameterError as error:
        return str(error)

def choices(command):
    (option,) = (one for one in command.params if one.name == "label_mode")
    return list(option.type.of.names)

X = np.arange(30.0)[:, None]
y = np.full(30, -1); y[[0, 29]] = 0, 1
A = markov_operator(X, n_neighbors=2)
walk = start_walk(A, Labels.of(y), label_mode="late")
session = lambda: RelabelSession(A, ["a", "b"], label_mode="late", tau=6)
painted = refusal(session)
if painted is None:
    s = session()
    for c, point in ((1, 0), (2, 29)):
        s.apply({{"op": "stroke", "class": c, "points": [point]}})
    s.update()
    same = diffuse_labels(A, y, label_mode="late", tau=6).codes + 1
    painted = np.array_equal(s.map_ids, same)
print(json.dumps({{
    "walk": type(walk).__name__,
    "diffused": diffuse_labels(A, y, label_mode="late", tau=5).label_mode,
    "fitted": DiffusionClassifier(n_neighbors=2, label_mode="late").fit(X, y).diffusion_.label_mode,
    "choices": choices(classify),
    "session_choices": choices(relabel),
    "painted": painted,
    "kept": refusal(lambda: diffuse_labels(A, y, label_mode="late", kept_classes=2)),
}}))
"""


@pytest.mark.parametrize("in_sessions", [True, False])
def test_a_mode_that_is_added_to_the_registry_is_known_everywhere(in_sessions):
    code = ADDED.format(in_sessions=in_sessions)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}  # 30 points need no compiler
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["walk"] == "Late"
    assert found["diffused"] == found["fitted"] == "late"
    assert found["choices"] == [*LABEL_MODES, "late"]
    assert ("late" in found["session_choices"]) == in_sessions
    assert found["painted"] is True if in_sessions else "late" in found["painted"]
    assert "kept_classes" in found["kept"]
