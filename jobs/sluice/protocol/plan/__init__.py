"""Step 1: write the ranges of the next batches down before anything is read."""
