"""The bench of state tables: the newest row of each key, by Sluice and by hand."""
