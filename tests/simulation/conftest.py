"""What the tests that are played by hand share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.by_hand import Hand
from tests.simulation.history import History
from tests.simulation.play import a_world
from tests.simulation.states_by_hand import (
    IN_ONE,
    ORDERED,
    THREE_PARTITIONS,
    States,
    state_worlds,
)


@pytest.fixture
def hand() -> Iterator[Hand]:
    """A new world, in a test's hands."""
    with a_world(History("by hand", 0)) as world:
        yield Hand(world)


@pytest.fixture
def states() -> Iterator[States]:
    """The newest event of a key is that of the greatest `seq`; there is one partition."""
    yield from state_worlds(ORDERED)


@pytest.fixture
def apart() -> Iterator[States]:
    """The newest event of a key is the last; there are three partitions."""
    yield from state_worlds(IN_ONE + THREE_PARTITIONS)
