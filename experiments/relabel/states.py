"""Every state of the page at every size, to be looked at before a release.

    python -m experiments.relabel.states FOLDER [--sizes desk tablet ...] [--states audit why ...]

One session on 8-bit Indian Pines, its truth as reference, one stroke of it wrong, in Chromium. Each
picture, ``FOLDER/SIZE_STATE.png``, has the light page above the dark one. A size is one of
`SIZES`, a state one of `STATES` or "start".
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from diffclass_hyperspectral import read_labels
from experiments.relabel.driver.browser import Tab, chromium
from experiments.relabel.page import choose_class, choosing, next_suggestion
from experiments.relabel.screenshots import PINES_TRUTH, SETTLED, lines, pines, pines_scene

SIZES: dict[str, dict[str, Any]] = {
    "desk": {"width": 1280, "height": 720},
    "double": {"width": 1920, "height": 1080, "device_scale_factor": 2},
    "narrow": {"width": 900, "height": 700},
    "tablet": {"width": 1024, "height": 768, "has_touch": True},
    "low": {"width": 1280, "height": 500},
}
SCHEMES = ("light", "dark")
WRONG = 11  # the class that gets a stroke on fields of class 2
CALM = 1500  # ms for curves, hints and what is asked for beside the map


# --- states of a session: each opens something, and returns what closes it


def map_shown(tab: Tab) -> None:
    tab.move(60, 62)
    tab.find(".tau-track .line").wait_for(state="attached")  # it is asked for after a while


def suggestion(tab: Tab) -> None:
    next_suggestion(tab)
    next_suggestion(tab)


def wand(tab: Tab) -> None:
    tab.key("2", "z")
    tab.press((60, 62))
    tab.page.wait_for_timeout(CALM)


def audit(tab: Tab) -> None:
    tab.find("[data-tab=Audit]").click()
    tab.find("text=Check labels").click()
    tab.find("[role=tabpanel] .item:visible").first.click()


def why(tab: Tab) -> None:
    tab.move(60, 62)
    tab.key("w")
    tab.find(".item.why").first.wait_for()


def strokes(tab: Tab) -> None:
    tab.find("[data-tab=Strokes]").click()
    tab.find("[role=tabpanel] .item:visible").first.click()


def history(tab: Tab) -> None:
    tab.find("[data-tab=History]").click()
    tab.find(".history-row").first.wait_for()


def numbers(tab: Tab) -> None:
    tab.find("[data-tab=Numbers]").click()
    tab.find(".figures").first.wait_for()


def compare(tab: Tab) -> None:
    tab.find("select[aria-label='Compare the map with']").select_option("reference")
    tab.wait("document.querySelector('.left-side').textContent.includes('%')")


def stretch(tab: Tab) -> None:
    tab.find(".stretch summary").click()
    tab.wait("document.querySelector(\"[aria-label='Red, low']\").value === '2'")


def spectra(tab: Tab) -> None:
    tab.key("q")
    tab.find(".spectra-legend input").first.wait_for()


def export(tab: Tab) -> None:
    tab.page.click("text=Export")


def imports(tab: Tab) -> None:
    tab.page.click("text=Import labels")


def keys(tab: Tab) -> None:
    tab.key("?")


def class_menu(tab: Tab) -> None:
    tab.find("[aria-label^='Rename, hide']").nth(1).click()


def refusal(tab: Tab) -> None:
    tab.js("diffclass.apply({ op: 'tau', tau: 1e6 })")
    tab.find(".message").wait_for()


def lost(tab: Tab) -> None:
    # from now on every connection is that to a port where nobody answers
    tab.js(
        """() => {
          const Real = WebSocket;
          WebSocket = function () { return new Real("ws://127.0.0.1:9"); };
        }"""
    )
    tab.js("diffclass.drop()")
    tab.find(".connection").wait_for()
    tab.stroke((100, 60), (104, 66))


STATES: dict[str, Callable[[Tab], None]] = {
    "map": map_shown,
    "wand": wand,
    "suggestion": suggestion,
    "audit": audit,
    "why": why,
    "strokes": strokes,
    "history": history,
    "numbers": numbers,
    "compare": compare,
    "stretch": stretch,
    "spectra": spectra,
    "export": export,
    "import": imports,
    "keys": keys,
    "class_menu": class_menu,
    "refusal": refusal,
    "lost": lost,
}


def of_session(labelled: Tab, sizes: Sequence[str], states: Sequence[str], folder: Path) -> None:
    """Picture the states of a session; each in a profile of its own, so that none sees another."""
    for size in sizes:
        for state in states:
            halves = []
            for scheme in SCHEMES:
                tab = Tab(
                    labelled.context.browser, labelled.url, color_scheme=scheme, **SIZES[size]
                )
                tab.idle()
                STATES[state](tab)
                tab.page.wait_for_timeout(CALM)
                halves.append(tab.page.screenshot())
                tab.context.close()
            write(folder / f"{size}_{state}.png", halves)


# --- the start page


def of_start(sizes: Sequence[str], folder: Path) -> None:
    """Picture the list, what it says of a file that is no scene, the preparation, the scene."""
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as recent,
        pines_scene() as scene,
        sync_playwright() as playwright,
    ):
        (scene.parent / "north").mkdir()
        (scene.parent / "broken.tif").write_bytes(b"no scene")
        browser = chromium(playwright)
        for size in sizes:
            steps = []
            for scheme in SCHEMES:
                with choosing(scene.parent, "--features", "spatial", recent=Path(recent)) as url:
                    context = browser.new_context(color_scheme=scheme, **as_context(**SIZES[size]))
                    page = context.new_page()
                    page.goto(url)
                    steps.append(list(start_steps(page, scene.stem)))
                    context.close()
            for state, *halves in zip(
                ("list", "refused", "preparing", "begun"), *steps, strict=True
            ):
                write(folder / f"{size}_start_{state}.png", halves)
        browser.close()


def as_context(*, width: int, height: int, **options: Any) -> dict[str, Any]:
    """Return options of `Tab` as those of a browser's context."""
    return {"viewport": {"width": width, "height": height}, **options}


def start_steps(page: Any, scene: str) -> Iterator[bytes]:
    """Yield a picture of each step from the list to a scene where nothing is labelled yet."""
    page.locator(".start button").first.wait_for()
    yield page.screenshot()
    page.get_by_role("button", name="broken.tif").click()
    page.locator(".start .problem:not(:empty)").wait_for(timeout=60_000)
    yield page.screenshot()
    page.locator(".start button", has_text=scene).first.click()
    page.locator(".preparation li").first.wait_for(timeout=60_000)
    page.wait_for_timeout(CALM)
    yield page.screenshot()
    page.locator(".hint").wait_for(timeout=SETTLED)
    page.wait_for_timeout(CALM)
    yield page.screenshot()


# --- pictures


def write(file: Path, halves: Sequence[bytes]) -> None:
    """Write pictures of one size, one above the other."""
    pictures = [Image.open(BytesIO(half)).convert("RGB") for half in halves]
    width, height = pictures[0].size
    both = Image.new("RGB", (width, height * len(pictures)))
    for place, picture in enumerate(pictures):
        both.paste(picture, (0, place * height))
    both.save(file)
    print(file, flush=True)


@contextmanager
def labelled() -> Iterator[Tab]:
    """Serve the session; yields the tab in which all was painted."""
    with pines("--reference", str(PINES_TRUTH)) as tab:
        choose_class(tab, WRONG)
        *_, ends = lines(read_labels(PINES_TRUTH).ids == 2, 4)
        tab.stroke(*ends)
        tab.wait("diffclass.state.refined && !diffclass.state.stale", SETTLED)
        yield tab


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--states", nargs="+", choices=["start", *STATES])
    wanted = parser.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    states = wanted.states or ["start", *STATES]
    if "start" in states:
        of_start(wanted.sizes, wanted.folder)
    inside = [state for state in states if state != "start"]
    if inside:
        with labelled() as tab:
            of_session(tab, wanted.sizes, inside, wanted.folder)


if __name__ == "__main__":
    main()
