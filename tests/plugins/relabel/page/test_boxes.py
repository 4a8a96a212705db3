"""The page's boxes as the browser lays them out: nothing overlaps, is cut off or out of reach."""

from __future__ import annotations

import numpy as np
import pytest

#: Width and height of windows, and whether they are touched.
WINDOWS = {
    "desktop": (1440, 900, False),
    "laptop": (1280, 720, False),
    "old screen": (1024, 768, False),
    "laptop at 150 %": (960, 600, False),
    "tablet": (820, 1180, True),
    "phone": (390, 844, True),
}
#: Classes of 16 that are seen at least without scrolling, and the least share of the window for the
#: picture.
SEEN = {
    "desktop": (16, 0.55),
    "laptop": (15, 0.5),
    "old screen": (15, 0.45),
    "laptop at 150 %": (12, 0.45),
    "tablet": (6, 0.5),
    "phone": (4, 0.3),
}

# Controls and words that are seen, as far as their ancestors show them. What is cut by one that can
# be scrolled that way is in reach, and words that end in an ellipsis say that they are cut.
PROBLEMS = """() => {
  const problems = [], seen = [];
  function look(element, box, what, isText) {
    let { left, top, right, bottom } = box;
    const note = (over, style, overflow, says, at) => {
      const isReached = ["auto", "scroll"].includes(style[overflow]);
      if (over > 1.5 && !isReached && !says) problems.push(`${what} is cut by ${at.className}`);
    };
    for (let at = isText ? element : element.parentElement; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.clipPath !== "none") return; // for screen readers
      const inner = at.getBoundingClientRect();
      const says = style.textOverflow === "ellipsis";
      if (style.overflowX !== "visible" && style.overflowX !== "clip") {
        note(Math.max(inner.left - left, right - inner.right), style, "overflowX", says, at);
        [left, right] = [Math.max(left, inner.left), Math.min(right, inner.right)];
      }
      if (style.overflowY !== "visible" && style.overflowY !== "clip") {
        note(Math.max(inner.top - top, bottom - inner.bottom), style, "overflowY", false, at);
        [top, bottom] = [Math.max(top, inner.top), Math.min(bottom, inner.bottom)];
      }
    }
    if (right - left < 1 || bottom - top < 1) return;
    seen.push({ element, what, left, top, right, bottom });
  }
  const isSeen = element => element.checkVisibility({ visibilityProperty: true });
  for (const item of document.querySelectorAll("button, input, select, summary, progress")) {
    const name = (item.ariaLabel || item.textContent).trim().slice(0, 30);
    if (isSeen(item)) look(item, item.getBoundingClientRect(), name, false);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, parent = text.parentElement;
    if (!text.data.trim() || !isSeen(parent)) continue;
    if (parent.closest("option, script, noscript")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const name = `words ${text.data.trim().slice(0, 30)}`;
    for (const box of range.getClientRects()) look(parent, box, name, true);
  }
  seen.forEach((one, k) => seen.slice(0, k).forEach(other => {
    if (one.element.contains(other.element) || other.element.contains(one.element)) return;
    const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const tall = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (wide > 1.5 && tall > 3) problems.push(`${one.what} lies over ${other.what}`);
  }));
  for (const column of document.querySelectorAll(".left, .right, .columns, .tab-panel")) {
    const isNarrow = column.scrollWidth > column.clientWidth + 1;
    if (isSeen(column) && isNarrow) problems.push(`${column.className} is too narrow`);
  }
  return [...new Set(problems)];
}"""

UNFOLDED = """() => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  const names = "[aria-label='Plot under the pointer'], [data-tab=Suggest]";
  for (const button of document.querySelectorAll(names))
    if (button.getAttribute("aria-expanded") === "false") button.click();
}"""


@pytest.fixture(params=[3, 16, 60], ids="{} classes".format)
def crowded(request, editor, serve, tissue):
    """The address of a session with so many classes, each with a label, and their number."""
    n_classes = request.param
    places = np.flatnonzero(tissue.truth > 0)[:: 2300 // n_classes]
    for class_id in range(1, n_classes + 1):
        name = "buildings, grass, trees and drives" if class_id == 2 else f"class {class_id}"
        editor.apply({"op": "add_class", "name": name})
        pixels = [int(places[class_id]), 1]
        editor.apply({"op": "stroke", "class": class_id, "pixels": pixels})
    return serve(editor).url, n_classes


@pytest.mark.parametrize("window", WINDOWS)
def test_nothing_overlaps_or_is_cut_off(crowded, open_tab, window):
    url, n_classes = crowded
    width, height, is_touched = WINDOWS[window]
    touch = {"has_touch": True, "is_mobile": True} if is_touched else {}
    tab = open_tab(url, width=width, height=height, **touch)
    tab.idle()
    tab.move(20, 20)
    tab.idle()
    if n_classes == 16:
        n_seen, share = SEEN[window]
        rows = tab.find(".class-row").all()
        column = tab.find(".classes").bounding_box()
        panels = tab.find(".columns" if window == "phone" else ".right").bounding_box()
        end = min(
            column["y"] + column["height"], (panels or column)["y"] + (panels or column)["height"]
        )
        boxes = [row.bounding_box() for row in rows]
        assert sum(box["y"] + box["height"] <= end + 1 for box in boxes) >= n_seen
        stage = tab.find(".stage").bounding_box()
        assert stage["width"] * stage["height"] >= share * width * height
    for theme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=theme)
        assert tab.js(PROBLEMS) == []
    tab.js(UNFOLDED)
    tab.idle()
    assert tab.js(PROBLEMS) == []


@pytest.mark.parametrize("window", WINDOWS)
def test_an_empty_session_fits(blank, open_tab, window):
    width, height, is_touched = WINDOWS[window]
    touch = {"has_touch": True, "is_mobile": True} if is_touched else {}
    empty = open_tab(blank.url, width=width, height=height, **touch)
    empty.idle()
    assert empty.js(PROBLEMS) == []
    tools = empty.find(".tools button").all()
    tops = {round(tool.bounding_box()["y"]) for tool in tools}
    assert len(tops) == 1  # in one row
    assert all(tool.is_visible() for tool in tools)
