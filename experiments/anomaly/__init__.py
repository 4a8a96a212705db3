"""Anomaly detection on hyperspectral scenes with known anomalies.

Written down before any score was looked at: `abu-airport-2` and `abu-beach-2` choose the defaults,
as notes of this project already tell figures of an airport and a beach, so nobody is blind to
these; they also differ in kind. `abu-urban-1`, `abu-urban-3` and `hydice` have been looked at by
nobody here, and only report.
"""

CHOOSING = ("abu-airport-2", "abu-beach-2")
REPORTING = ("abu-urban-1", "abu-urban-3", "hydice")
