"""The spec: one pipeline's YAML file, as checked values."""
