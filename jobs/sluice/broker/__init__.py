"""The broker: what Kafka says, and what its log holds."""
