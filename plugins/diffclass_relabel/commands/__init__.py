"""Commands of the relabel plugin, one a module."""
