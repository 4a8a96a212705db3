"""Coifman, Lafon, Lee, Maggioni, Nadler, Warner and Zucker, Geometric diffusions, Part I (2005)."""
