"""The soak: a pipeline at work under random faults, for minutes; at the end everything is exact."""
