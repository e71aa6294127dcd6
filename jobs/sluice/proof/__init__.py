"""Proof: every offset accounted for, every row held against Kafka."""
