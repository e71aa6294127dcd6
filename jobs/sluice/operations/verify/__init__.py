"""Verify: the proof that tables and Kafka agree."""
