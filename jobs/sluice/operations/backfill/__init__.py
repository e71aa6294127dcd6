"""Backfill: read offsets below the cursor again."""
