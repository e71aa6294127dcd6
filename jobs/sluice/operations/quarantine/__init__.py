"""Quarantine: why records were undecodable, and dropping them."""
