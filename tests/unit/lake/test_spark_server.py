"""A Spark server that is not there is told within a bound, by its address, without its token."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from sluice.errors import SettingsError, SparkFailed
from sluice.lake.session import open_session, session_conf, spark_conf
from sluice.lake.spark_server import require_server
from sluice.spec.pipeline_spec import PipelineSpec

NAMED = {"version": 1, "pipeline": "trips", "table": "trips", "topics": ["none"]}
SPEC = PipelineSpec.model_validate({**NAMED, "format": {"type": "raw"}})


@pytest.fixture
def unused() -> str:
    """An address that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that accepts connections, and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("kind", ["unused", "silent"])
def test_a_server_that_does_not_answer_is_named(kind: str, request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue(kind)
    with pytest.raises(SparkFailed) as failed:
        require_server("trips", f"sc://{address}/;user_id=alice", seconds=1)
    assert str(failed.value) == (
        f"trips: Spark did not start: {address} gave no answer within 1 s. Start the Spark Connect"
        " server, or correct SPARK_REMOTE; then run again"
    )


def test_a_token_is_not_repeated(silent: str) -> None:
    with pytest.raises(SparkFailed, match="gave no answer") as failed:
        require_server("trips", f"sc://{silent}/;token=hunter2", seconds=0.2)
    assert "hunter2" not in str(failed.value)


@pytest.mark.parametrize(
    "url",
    ["sc://host/a=hunter2", "sc://host:hunter2", "sc://h/;hunter2", "http://hunter2", "hunter2"],
)
def test_what_is_no_address_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", url)
    with pytest.raises(SettingsError, match="SPARK_REMOTE: expected sc://host:port") as refused:
        open_session(SPEC)
    assert "hunter2" not in str(refused.value)


def test_a_session_on_a_server_is_given_nothing_that_belongs_to_the_servers_start() -> None:
    spec = SPEC.model_copy(update={"spark": {"spark.sql.shuffle.partitions": "7"}})
    here, there = spark_conf(spec), session_conf(spec)
    assert here["spark.sql.shuffle.partitions"] == there["spark.sql.shuffle.partitions"] == "7"
    assert {key: here[key] for key in there} == there
    assert {key.split(".")[1] for key in there} == {"sql", "databricks"}
    assert not there.keys() & {"spark.sql.extensions", "spark.sql.catalog.spark_catalog"}
