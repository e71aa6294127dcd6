"""Fixtures of the fault tests: a Delta log store that fails inside a commit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.striking import faulty_log_store
from tests.worlds.pipelines import Installed


@pytest.fixture(scope="session")
def faulty_log(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The Spark configuration with which a commit fails as SLUICE_TEST_COMMIT says."""
    return faulty_log_store(tmp_path_factory.mktemp("faulty"))


@pytest.fixture
def faulty(
    topic: Callable[..., str], pipeline: Callable[..., Installed], faulty_log: dict[str, str]
) -> Callable[..., Installed]:
    """`faulty(**keys)` makes a pipeline on a new topic; its own processes use that log store."""
    return lambda **keys: pipeline(topic(), spark=faulty_log, **keys)
