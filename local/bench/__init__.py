"""The benchmarks: ingest against a plain job, and a long offsets table."""
