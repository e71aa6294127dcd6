"""Backfill: reread offsets below the cursor."""
