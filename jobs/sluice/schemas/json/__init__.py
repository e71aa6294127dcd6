"""JSON Schema: the columns of its objects."""
