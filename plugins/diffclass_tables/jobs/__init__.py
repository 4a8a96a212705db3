"""Jobs on the rows of a table."""
