"""The protocol, a folder a step: plan, ingest, settle."""
