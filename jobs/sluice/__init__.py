"""Kafka topics into Delta Lake in exact batches."""
