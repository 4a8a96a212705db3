"""``diffclass relabel``: label pixels or rows in the browser; scenes and tables have their own."""

from __future__ import annotations

from diffclass.command_line import Verb

_HERE = "diffclass_relabel.commands"

relabel = Verb(
    "relabel",
    "Label pixels or rows in the browser and see the classes of all follow.",
    services={"scene": f"{_HERE}.relabel_scene:relabel", "table": f"{_HERE}.relabel_table:relabel"},
    without_input="scene",
)
