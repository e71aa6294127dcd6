"""What the tests that are played by hand share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.by_hand import Hand
from tests.simulation.history import History
from tests.simulation.play import a_world


@pytest.fixture
def hand() -> Iterator[Hand]:
    """A new world, in a test's hands."""
    with a_world(History("by hand", 0)) as world:
        yield Hand(world)
