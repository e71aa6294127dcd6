"""The written lake: the ports of `sluice.lake` without Spark, for tests that need no JVM.

    engine = WrittenEngine(broker_records(settings))
    with engine.lake(resources, None) as lake:
        lake.land(attempt)

It writes parquet with pyarrow and the commit itself, put-if-absent: delta-rs carries none of the
metrics that Spark writes, and takes the time and the names from this machine. Here they come from
`Clock` and `Chance`, so a history is repeatable bit for bit. tests/contracts holds it to Spark's.
"""
