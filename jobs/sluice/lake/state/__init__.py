"""The state table, with Spark: the newest row of each key, by one MERGE for a span of versions."""
