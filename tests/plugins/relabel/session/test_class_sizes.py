"""Sizes of classes on the page: a text in, kept by class, and a map that follows."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import ParameterError
from diffclass_relabel.session_hub.states import session_state
from experiments.relabel.driver.clients import PATIENCE

from ..browser import engine_map
from ..strokes import truth_stroke

SIZES = "nuclei=10-30%, cytoplasm=1000px, stroma=0.2-0.9ha"


def said(editor):
    state = session_state(editor)
    return state["class_sizes"], state["sizes_met"]


def test_sizes_follow_their_class(labelled, new_editor, tissue):
    assert said(labelled) == ("", None)
    done = labelled.apply({"op": "class_sizes", "sizes": f" {SIZES} "})
    assert done == {"op": "class_sizes", "sizes": SIZES}
    assert said(labelled) == (SIZES.replace(" ", ""), None)
    pixels = tissue.truth.size - 2  # two have no data; a pixel has 4 m2
    most = {size.class_id: size.most for size in labelled.session.class_sizes}
    assert most == pytest.approx({1: 0.3, 2: 1000 / pixels, 3: 0.9e4 / 4 / pixels})
    labelled.apply({"op": "rename_class", "id": 1, "name": "cells"})
    assert said(labelled)[0].startswith("cells=10-30%,cytoplasm=1000px")
    labelled.apply({"op": "merge_classes", "source": 2, "into": 3})
    assert said(labelled)[0] == "cells=10-30%"
    labelled.apply({"op": "class_sizes", "sizes": "uniform"})
    assert said(labelled)[0] == "uniform"
    labelled.apply({"op": "class_sizes"})
    assert said(labelled) == ("", None)
    titles = [step["title"] for step in labelled.history()["steps"]]
    assert titles[-2:] == ["sizes of classes 'uniform'", "no sizes"]
    labelled.apply({"op": "undo", "steps": 3})
    labelled.refine()
    assert said(labelled)[0] == "cells=10-30%,cytoplasm=1000px,stroma=0.2-0.9ha"
    assert said(labelled)[1] in ("met", "unused")
    labelled.log.close()
    again = new_editor()
    again.refine()
    assert said(again) == said(labelled)
    np.testing.assert_array_equal(again.map.ids, labelled.map.ids)


def test_a_batch_may_set_sizes(editor):
    editor.apply({"op": "add_class", "name": "corn"})
    sized = [{"op": "class_sizes", "sizes": "corn=20%"}, {"op": "add_class"}]
    editor.apply({"op": "batch", "operations": sized})
    assert said(editor) == ("corn=20%", "waiting")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("half", "^'half' is not NAME=SIZE"),
        ("maize=10%", "^no class 'maize'; there are 1 nuclei, 2 cytoplasm, 3 stroma$"),
        ("nuclei=much", "^'much' of 'nuclei' is no size"),
        ("nuclei=50ha", "at most at the whole scene, 0.95"),
        ("nuclei=60%,stroma=60%", "^the classes have at least 120 % of all pixels"),
    ],
)
def test_text_that_gives_no_sizes_is_refused(editor, painter, text, message):
    with pytest.raises(ParameterError, match=message):
        editor.apply({"op": "class_sizes", "sizes": text})
    answer = painter.do("class_sizes", sizes=text)
    assert answer["kind"] == "refused"
    with pytest.raises(ParameterError, match=message):
        raise ParameterError(answer["message"])
    assert said(editor) == ("", None)


def test_pages_hear_whether_sizes_count(painter, editor, tissue):
    before = painter.settled()[0]
    painter.do("class_sizes", sizes="uniform")
    while not painter.state["refined"] or painter.state["sizes_met"] is None:
        painter.hear(PATIENCE)
    assert painter.state["sizes_met"] in ("met", "unused")
    shown = painter.settled()[0]
    np.testing.assert_array_equal(shown, engine_map(editor).ravel())
    painter.do(truth_stroke(tissue, 1, start=30))
    painter.do("undo")
    painter.ask("export", what="map")  # waits for the map with sizes
    assert painter.state["refined"]
    np.testing.assert_array_equal(painter.settled()[0], shown)
    painter.do("undo")
    np.testing.assert_array_equal(painter.settled()[0], before)
