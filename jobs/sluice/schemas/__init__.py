"""Schemas: what a record can be, and the columns that it fills."""
