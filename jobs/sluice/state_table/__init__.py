"""State tables, as pure values: what makes one, how its log has changed, what a commit says."""
