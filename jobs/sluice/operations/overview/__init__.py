"""All pipelines at a glance: how far each is, how far behind, and what its owner does next."""
