"""Commands of the relabel plugin, one per module."""
