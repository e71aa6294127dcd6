"""Step 4: bring the state table up to the newest version of the data table."""
