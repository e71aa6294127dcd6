"""Public schemas: those of packages, each checked as the schema of a pipeline (docs/formats.md)."""
