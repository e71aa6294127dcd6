"""Avro: its schemas, their columns, and which writers' records a reader's schema can read."""
