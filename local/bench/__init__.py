"""The benchmarks: ingest beside a plain job, and a long offsets table."""
