"""The comparisons: which contender is measured against which, and what the ratio may be."""

from __future__ import annotations

from local.bench.turns import Comparison

MANY, FEW = 2_000_000, 10_000

COMPARISONS = (
    Comparison("run-cold", "available-now", {MANY: 0.80, FEW: 0.75}),
    Comparison("run-cold", "available-now-flags"),
    Comparison("run-warm", "available-now", {MANY: 0.40, FEW: 0.12}),
    Comparison("run-warm", "available-now-flags"),
    Comparison("run-cold", "plain"),
    Comparison("run-cold", "raw-limit"),
    Comparison("run-warm", "raw-limit"),
    Comparison("ingest", "plain", {MANY: 0.85}),
    Comparison("ingest", "plain-flags"),
    Comparison("ingest", "plain-all-flags"),
    Comparison("ingest", "raw-limit"),
    Comparison("ingest-raw", "plain-raw", {MANY: 0.80}),
    Comparison("ingest-raw", "plain-raw-flags"),
    Comparison("ingest-raw", "raw-limit"),
    Comparison("run-cold", "available-now-all-flags"),
)
