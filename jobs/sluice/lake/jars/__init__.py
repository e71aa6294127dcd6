"""Jars: what Spark needs besides those inside pyspark, where they are, and how they are fetched."""
