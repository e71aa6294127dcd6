"""The production shape: real servers, as a team runs them, on this machine's loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.production.worlds.secured_broker import SecuredBroker, secured_broker


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """One broker with all its ways to log in, and users that have no rights yet."""
    with secured_broker(tmp_path_factory.mktemp("secured")) as running:
        yield running
