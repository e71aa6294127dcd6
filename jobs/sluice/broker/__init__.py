"""The broker: Kafka's state, and the contents of its log.

`cluster` makes admin requests over one connection. Each `read_…` reads the log over a connection
that it opens and closes.
"""
