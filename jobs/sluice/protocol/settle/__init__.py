"""Step 3: write the receipts of what is committed."""
