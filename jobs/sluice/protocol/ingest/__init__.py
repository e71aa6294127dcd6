"""Step 2: land planned batches in order, one data commit each."""
