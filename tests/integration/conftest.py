"""Fixtures of the integration tests: pipelines."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from local.broker import Broker
from tests.integration.pipelines import Installed


@pytest.fixture
def pipeline(
    broker: Broker, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Installed]]:
    """`pipeline(topic, …, **keys)` writes a spec with these keys into a folder of its own."""
    made: list[Installed] = []

    def install(*topics: str, **keys: object) -> Installed:
        folder = tmp_path / f"p{uuid.uuid4().hex[:8]}"
        folder.mkdir()
        session = partial(request.getfixturevalue, "spark")
        made.append(Installed(folder, broker.bootstrap, list(topics), session))
        made[-1].write_spec(**keys)
        return made[-1]

    yield install
    for run in (run for one in made for run in one.runs):
        run.clear_away()
