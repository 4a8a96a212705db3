"""The papers as they are written: one test per item, and the page that lists them."""
