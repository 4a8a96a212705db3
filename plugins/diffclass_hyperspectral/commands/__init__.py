"""The commands that the plugin adds to ``diffclass``; heavy modules load inside them."""
