"""Step 3: write the receipts of committed batches."""
