"""The broker: what Kafka says, and what its log holds.

`cluster` asks what an administrator may ask, over one connection. Each `read_…` reads the log, over
a connection that it opens and closes.
"""
