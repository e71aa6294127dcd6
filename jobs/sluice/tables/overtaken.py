"""Overtaken: somebody else has committed since the snapshot that a decision was made on."""

from __future__ import annotations


class Overtaken(Exception):
    """The commit was refused for another one's sake: read again, decide again."""
