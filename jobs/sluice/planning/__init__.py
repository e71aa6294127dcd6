"""Planning: offset ranges, what differs from the log that was read, which batches come next."""
