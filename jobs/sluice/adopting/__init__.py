"""Adopting: where another system has stopped, by the files that it left."""
