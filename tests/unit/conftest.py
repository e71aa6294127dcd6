"""How the unit tests run: no deadline, since two cores are shared with whatever else runs."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unit", deadline=None, max_examples=100)
# For `make test-fast`, which asks for it by name.
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("unit")
