"""The page in a notebook: the widget and its messages."""

from __future__ import annotations

from diffclass_relabel.notebook.widget import RelabelWidget

__all__ = ["RelabelWidget"]
