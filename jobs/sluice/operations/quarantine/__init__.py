"""Quarantine: list quarantined records by cause, and drop them."""
