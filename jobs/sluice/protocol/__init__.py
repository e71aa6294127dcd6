"""The protocol, one folder for each step: plan, ingest, settle."""
