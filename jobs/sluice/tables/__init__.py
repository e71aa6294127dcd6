"""The tables: where they are, what the offsets table holds, what the data table's log says."""
