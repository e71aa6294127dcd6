"""A pipeline whose warehouse is in a bucket: whole, killed at every step, reset and read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.embedded.broker import Broker
from tests.production.worlds.bucket_pipelines import InBucket
from tests.production.worlds.gateway import Gateway
from tests.worlds.pipelines import no_spark
from tests.worlds.records import numbered, produce

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with Gateway(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
def pipeline(
    broker: Broker, gateway: Gateway, tmp_path: Path
) -> Iterator[Callable[..., InBucket]]:
    made: list[InBucket] = []

    def install(*topics: str, **keys: object) -> InBucket:
        folder = tmp_path / f"p{len(made)}"
        folder = folder.with_name(f"{tmp_path.name.replace('_', '-')}-{folder.name}"[-60:])
        folder.mkdir()
        made.append(InBucket(folder, broker.bootstrap, list(topics), no_spark, gateway=gateway))
        made[-1].write_spec(**keys)
        return made[-1]

    yield install
    for run in (run for one in made for run in one.runs):
        run.clear_away()


def test_a_batch_lands_in_a_bucket(
    pipeline: Callable[..., InBucket], topic: Callable[..., str], broker: Broker
) -> None:
    name = topic(2)
    produce(broker.bootstrap, name, numbered(2000))
    installed = pipeline(name)
    done = installed.process("run")
    assert done.returncode == 0, done.stderr
    installed.judge()
