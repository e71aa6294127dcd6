"""Progress: how far a pipeline is, and whether its tables can be trusted."""
