"""A look into a topic: a few of its records, and the spec that they suggest."""
