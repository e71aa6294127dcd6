"""Decoded fields: the names that a decoded record has beside its columns."""

from __future__ import annotations

VALUE = "value"
"""The column of what has no fields: raw bytes."""
ERROR = "(error)"
"""Why a record is undecodable; null if it is decodable. No column can have this name."""
LACKING = "(lacking)"
"""What a decodable record lacks, where that is told apart from its error. No column either."""
RESCUED = "_rescued"
"""The fields that no column declares, as JSON text."""
