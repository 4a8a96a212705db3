"""Pixels that are like one, by the walk on the graph."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import ParameterError
from diffclass_relabel.maps import unpack_frame
from diffclass_relabel.queries.answers import similar_frame


@pytest.mark.parametrize("point", [0, 700, 2000])
def test_levels_are_shares_of_the_points_whose_walk_comes_most_often(editor, workspace, point):
    pixel = int(workspace.pixels[point])
    header, (plane,) = unpack_frame(similar_frame(editor, pixel), workspace.n_pixels)
    assert header == {"kind": "similar", "pixel": pixel}
    K = workspace.operator.affinity
    walk = (K / K.sum(axis=1)[:, None]).tocsr().astype(np.float64)
    column = np.zeros(len(workspace.pixels))
    column[point] = 1
    visits = np.zeros_like(column)
    for _ in range(64):
        column = walk @ column
        visits += column
    found, reached = plane[workspace.pixels].astype(int), visits > 0
    assert (found[~reached] == 255).all()
    nearest_first = found[np.argsort(-visits, kind="stable")]
    assert (np.diff(nearest_first) >= 0).mean() > 0.999  # of single precision
    for level in (1, 36, 127, 254):
        share = (level / 254) ** 2 / 2
        n = min(share * len(found), np.count_nonzero(reached))
        assert abs(np.count_nonzero(found <= level) - n) <= 2
    assert (plane[workspace.missing] == 255).all()


def test_a_pixel_without_data_is_like_none(editor, workspace):
    with pytest.raises(ParameterError, match="has no data"):
        similar_frame(editor, int(workspace.missing[0]))
    with pytest.raises(ParameterError, match="pixels of this scene are"):
        similar_frame(editor, workspace.n_pixels)
