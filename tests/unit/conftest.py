"""How the unit tests run: no deadline, since two cores are shared with whatever else runs."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unit", deadline=None, max_examples=100)
settings.load_profile("unit")
