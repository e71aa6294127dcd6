"""The lake: reading Kafka and writing Delta tables with Spark; the only importer of pyspark."""
