"""Verify: prove that the tables and Kafka agree."""
