"""The picture on the page: its bands, by click too, its stretch; and the spectra of the classes."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass_relabel.queries.answers import class_spectra

PLACES = [(row, column) for row in range(3, 46, 7) for column in range(4, 48, 9)]


def shown(tab, scene, bands, limits):
    """Assert that the canvas shows three bands, each between two values."""
    tab.idle()
    values = np.array([scene.data[row, column, bands] for row, column in PLACES])
    low, high = np.array(limits).T
    wanted = np.rint(255 * np.clip((values - low) / (high - low), 0, 1))
    np.testing.assert_allclose(tab.colors(PLACES), wanted, atol=1)


def percentiles(scene, bands, percents):
    data = scene.data[scene.valid][:, bands]
    return np.percentile(data, percents, axis=0).T


def test_a_stretch_by_hand(tab, workspace):
    scene = workspace.scene
    bands = tab.js("diffclass.scene.bands.bands_true")
    tab.key("i")  # the picture alone
    tab.find(".stretch summary").click()
    low = tab.find("[aria-label='Red, low']")
    tab.wait("document.querySelector(\"[aria-label='Red, low']\").value === '2'")
    tab.find("text=Calm colours").click()
    limits = percentiles(scene, bands, [2, 98])
    shown(tab, scene, bands, limits)
    low.fill("30")
    low.press("Enter")
    limits[0, 0] = percentiles(scene, bands, 30)[0]
    shown(tab, scene, bands, limits)
    tab.find("select[aria-label='Limits in']").select_option("values")
    assert float(low.input_value()) == pytest.approx(limits[0, 0], rel=1e-3)
    high = tab.find("[aria-label='Blue, high']")
    limits[2, 1] = percentiles(scene, bands, 60)[2]
    high.fill(repr(float(limits[2, 1])))
    high.press("Enter")
    shown(tab, scene, bands, limits)
    # what was chosen is there again after a reload
    tab.reload()
    tab.key("i")
    shown(tab, scene, bands, limits)
    tab.find(".stretch summary").click()
    tab.find("text=Reset").click()
    assert not tab.find("text=Reset").is_enabled()
    tab.wait("document.querySelector(\"[aria-label='Red, low']\").value === '2'")


def test_limits_are_dragged_in_the_histogram_and_never_pass_each_other(tab, workspace):
    tab.find(".stretch summary").click()
    tab.wait("document.querySelector(\"[aria-label='Red, low']\").value === '2'")
    column = tab.find(".left").bounding_box()
    for item in (tab.find(".stretch summary"), tab.find("text=Calm colours")):
        box = item.bounding_box()  # what was opened is in sight
        assert column["y"] <= box["y"]
        assert box["y"] + box["height"] <= column["y"] + column["height"]
    low = tab.find("[aria-label='Red, low']")
    low.fill("99.9")
    low.press("Enter")
    tab.idle()
    assert float(low.input_value()) <= 98
    low.fill("")
    low.press("Enter")
    assert float(low.input_value()) <= 98  # what is no number changes nothing
    assert tab.find(".message:visible").count() == 0
    bars = tab.find("[aria-label='Histogram of green']")
    bars.scroll_into_view_if_needed()
    box = bars.bounding_box()
    middle = box["x"] + box["width"] / 2
    tab.page.mouse.move(box["x"] + 2, box["y"] + 10)
    tab.page.mouse.down()
    tab.page.mouse.move(middle, box["y"] + 10, steps=4)
    tab.page.mouse.up()
    tab.find("select[aria-label='Limits in']").select_option("values")
    band = tab.js("diffclass.scene.bands.bands_true")[1]
    ends = percentiles(workspace.scene, [band], [0.2, 99.8])[0]
    found = float(tab.find("[aria-label='Green, low']").input_value())
    assert found == pytest.approx(ends.mean(), abs=0.02 * np.ptp(ends))
    tab.page.mouse.move(box["x"], box["y"] + 10)  # it stays
    assert float(tab.find("[aria-label='Green, low']").input_value()) == found


def test_a_click_in_the_spectrum_chooses_a_band(tab, workspace):
    plot = tab.find(".right .spectrum")
    wavelengths = workspace.scene.wavelengths
    before = tab.js("diffclass.scene.bands.bands_true")
    box = plot.bounding_box()

    def click(band):
        ends = wavelengths[0], wavelengths[-1]
        share = (wavelengths[band] - ends[0]) / (ends[1] - ends[0])
        tab.page.mouse.click(box["x"] + 34 + share * (box["width"] - 42), box["y"] + 40)
        tab.idle()

    click(7)
    click(4)
    picked = [int(tab.find(f"[aria-label='{c}: band']").input_value()) - 1 for c in
              ("Red", "Green", "Blue")]  # fmt: skip
    assert picked == [7, 4, before[2]]
    assert tab.find("select[aria-label=Picture]").input_value() == "bands"
    blue = tab.find(".channel").nth(2)
    assert blue.get_attribute("aria-pressed") == "true"
    blue.focus()
    tab.key("ArrowRight")
    tab.idle()
    after = int(tab.find("[aria-label='Blue: band']").input_value()) - 1
    assert after == before[2] + 1
    assert f"band {after + 1}, {wavelengths[after]:.0f} nm" in blue.get_attribute("aria-label")
    tab.key("i")
    tab.find(".stretch summary").click()
    tab.find("text=Calm colours").click()
    bands = [7, 4, after]
    shown(tab, workspace.scene, bands, percentiles(workspace.scene, bands, [2, 98]))
    tab.find(".channel").first.click()
    click(11)  # a bad band: the nearest good one
    assert tab.find("[aria-label='Red: band']").input_value() == "11"


def test_spectra_of_the_classes(tab, editor, workspace):
    tab.find("[data-tab=Suggest]").focus()
    tab.key("q")
    tab.wait("document.querySelectorAll('.spectra-legend input').length === 3")
    spectra = {one["class"]: one for one in class_spectra(workspace.scene, editor.labels.ids)}
    assert [f"{spectra[i]['count']} px" for i in (1, 2, 3)] == [
        text.split("\n")[-1] for text in tab.find(".spectra-legend label").all_inner_texts()
    ]
    picture = "document.querySelector('.spectra canvas').toDataURL()"
    assert tab.js("document.activeElement.type") == "checkbox"
    looks = [tab.js(picture)]
    tab.key("Space")  # without the spread
    tab.find("[data-spectrum='2']").click()
    for _ in range(2):
        looks.append(tab.js(picture))
        tab.find("[data-spectrum='2']").press("Space")
    assert len(set(looks)) == 3
    tab.paint(2, (40, 10), (40, 20))
    more = {one["class"]: one for one in class_spectra(workspace.scene, editor.labels.ids)}
    tab.wait(
        f"document.querySelector('.spectra-legend').innerText.includes('{more[2]['count']} px')"
    )
    tab.find("[aria-label='Close (q)']").click()
    assert tab.find(".spectra").is_hidden()
    # of many classes the chosen one has a spread
    for class_id, row in ((4, 44), (5, 47)):
        tab.add_class(f"class {class_id}")
        tab.paint(class_id, (row, 5), (row, 20))
    tab.key("q")
    tab.wait("document.querySelectorAll('.spectra-legend input').length === 5")
    tab.find(".spectra-head input").check()
    tab.find("[data-spectrum='2']").check()
    looks = []
    for class_id in (1, 3):
        tab.key(str(class_id))
        looks.append(tab.js(picture))
    assert looks[0] != looks[1]
