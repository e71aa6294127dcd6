"""Step 1: make the ranges of the next batches durable before anything is read."""
