"""What the page says goes with its cause, and nothing that is waited for ends in silence."""

from __future__ import annotations


def test_a_warning_goes_with_its_cause(blank):
    blank.idle()
    blank.stroke((20, 10), (20, 14))
    message = blank.find(".message")
    message.filter(has_text="There is no class to paint yet").wait_for()
    blank.add_class("nuclei")
    assert message.is_hidden()
    blank.key("f")
    blank.click(20, 10)
    message.filter(has_text="There is no map to fill from yet").wait_for()
    blank.paint(1, (20, 10), (20, 14))
    assert message.is_hidden() == blank.js("diffclass.state.classes.length > 1")
    blank.add_class("cytoplasm")
    blank.key("p")
    blank.paint(1, (20, 10), (20, 14))
    blank.paint(2, (40, 10), (40, 14))
    assert message.is_hidden()


def test_numbers_say_that_they_are_computed(tab):
    tab.js(
        """() => {
          window.said = [];
          const state = document.querySelector(".panel-bar .state");
          const note = () => said.push(state.textContent);
          new MutationObserver(note).observe(state, { childList: true });
        }"""
    )
    tab.find("[data-tab=Numbers]").click()
    tab.find(".figures").wait_for()
    assert tab.js("window.said") == ["Computing\u2026", ""]
    heads = tab.find(".numbers table").first.locator("thead th").all_inner_texts()
    assert heads[-2:] == ["recall", "precision"]


def test_an_export_ends_where_the_server_is_gone(tab):
    tab.page.route("**/download/**", lambda route: route.abort())
    tab.page.click("text=Export")
    tab.find("[title='Labels as NumPy, ids alone (.npy)']").click()
    tab.find("#export-menu .files", has_text="Nothing was saved").wait_for()
