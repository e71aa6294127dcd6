"""Derived columns: a small compiler of SQL expressions that never fail."""
