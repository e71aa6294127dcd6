"""`sluice recover`: build the offsets table from the data table."""
