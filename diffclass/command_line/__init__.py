"""The command ``diffclass``: its entry point, what all commands share, and the core's own."""
