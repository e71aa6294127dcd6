"""Decoding: a record's bytes become the declared columns, or an error."""
