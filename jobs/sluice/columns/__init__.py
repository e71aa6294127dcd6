"""Columns: what a table can hold, and how it may change."""
