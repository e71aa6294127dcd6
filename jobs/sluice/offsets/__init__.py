"""The words: offset ranges, batches, plans, receipts, losses, resets. Pure values."""
