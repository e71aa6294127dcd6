"""The fixture of the contracts: a driver of each implementation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contracts.driver import Driver
from tests.contracts.memory_driver import MemoryDriver
from tests.contracts.real_driver import RealDriver


@pytest.fixture(
    params=[pytest.param("real", marks=pytest.mark.integration), "in memory"], scope="module"
)
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    if request.param == "in memory":
        yield MemoryDriver()
        return
    real = RealDriver(request.getfixturevalue("broker"))
    yield real
    real.close()
