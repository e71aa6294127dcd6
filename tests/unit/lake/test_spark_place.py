"""Where Spark runs is said by the connection alone; no error repeats what may be a token."""

from __future__ import annotations

import json
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sluice.connections import Connection
from sluice.errors import SettingsError, SparkFailed
from sluice.lake.java_options import FEW_OFFSETS
from sluice.lake.server.channel import ServerChannel
from sluice.lake.server.server_session import require_answer
from sluice.lake.session import (
    open_at,
    own_conf,
    server_conf,
    session_conf,
    spark_conf,
)
from sluice.lake.spark_place import OWN_SPARK, OwnSpark, SparkServer, place_of
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

NAMED = {"version": 1, "pipeline": "trips", "table": "trips", "topics": ["none"]}
OPTIONS = "spark.driver.extraJavaOptions"
SPEC = PipelineSpec.model_validate({**NAMED, "format": {"type": "raw"}})


def spark(**fields: Any) -> Connection:
    return Connection.from_json("spark_default", fields)


def connect(**fields: Any) -> Connection:
    return spark(**{"conn_type": "spark_connect", "host": "localhost", **fields})


@pytest.mark.parametrize(
    ("connection", "place"),
    [
        (None, OwnSpark(None)),
        (spark(conn_type="spark", host="local[2]"), OwnSpark("local[2]")),
        (spark(conn_type="spark", host="spark://m", port=7077), OwnSpark("spark://m:7077")),
        (connect(), SparkServer("localhost", 15002)),
        (connect(port=1234), SparkServer("localhost", 1234)),
        (connect(host="sc://127.0.0.1:99/"), SparkServer("127.0.0.1", 99)),
        (connect(password="t", login="ann"), SparkServer("localhost", token="t", user="ann")),
        (connect(conn_type="spark-connect"), SparkServer("localhost")),
    ],
)
def test_the_connection_says_where(connection: Connection | None, place: object) -> None:
    assert place_of(connection) == place


@pytest.mark.parametrize(
    ("host", "extra", "tls"),
    [
        ("localhost", {}, False),
        ("127.0.0.1", {}, False),
        ("spark.example.com", {}, True),
        ("spark.example.com", {"use_ssl": False}, False),
        ("localhost", {"use_ssl": True}, True),
        ("spark.example.com", json.dumps({"use_ssl": "false"}), False),
    ],
)
def test_only_loopback_is_trusted_without_tls_unless_the_connection_says_so(
    host: str, extra: Any, tls: bool
) -> None:
    found = place_of(connect(host=host, extra=extra))
    assert isinstance(found, SparkServer)
    assert found.tls is tls


@pytest.mark.parametrize(
    ("connection", "said"),
    [
        (spark(conn_type="kafka"), "conn_type: expected `spark` or `spark_connect`, found 'kafka'"),
        (spark(), "conn_type: expected"),
        (connect(host=""), "host: expected"),
        (connect(host="h/;token=hunter2"), "host: expected"),
        (connect(host="hunter2@h"), "host: expected"),
        (connect(host="h:hunter2"), "host: expected"),
        (connect(host="::1"), "host: expected"),
        (connect(extra="hunter2"), "extra: expected a JSON object"),
        (connect(extra="[1]"), "extra: expected a JSON object"),
        (spark(conn_type="spark", extra={"deploy-mode": "cluster"}), "deploy-mode: found"),
    ],
)
def test_what_is_no_place_is_refused(connection: Connection, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        place_of(connection)
    assert said in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_token_is_not_shown() -> None:
    assert "hunter2" not in repr(place_of(connect(password="hunter2")))


def test_a_login_is_a_name_whatever_is_in_it() -> None:
    channel = ServerChannel(SparkServer("h", user="ann;token=x/y"), f"{uuid.uuid4()}")
    assert (channel.userId, channel.token, channel.metadata()) == ("ann;token=x/y", None, [])


@pytest.mark.parametrize("tls", [True, False])
def test_without_tls_nothing_goes_through_a_proxy(tls: bool) -> None:
    channel = ServerChannel(SparkServer("h", token="hunter2", tls=tls), f"{uuid.uuid4()}")
    assert ("grpc.enable_http_proxy", int(tls)) in channel._channel_options


def test_spark_remote_is_refused_as_it_would_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost/;token=hunter2")
    with (
        pytest.raises(SettingsError, match="SPARK_REMOTE: expected it unset") as refused,
        open_at(OWN_SPARK, Warehouse("/data"))(SPEC, None),
    ):
        pass
    assert "hunter2" not in str(refused.value)


@pytest.fixture
def unused() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that accepts connections, and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


@pytest.mark.patient
@pytest.mark.parametrize("kind", ["unused", "silent"])
def test_a_server_that_does_not_answer_is_named(kind: str, request: pytest.FixtureRequest) -> None:
    port = request.getfixturevalue(kind)
    with pytest.raises(SparkFailed) as failed:
        require_answer(SparkServer("127.0.0.1", port, token="hunter2"), seconds=1)
    assert str(failed.value) == (
        f"127.0.0.1:{port} gave no answer within 1 s. Start the Spark Connect server, or correct"
        " the connection spark_default; then run again"
    )


def test_a_session_on_a_server_is_given_nothing_that_belongs_to_the_servers_start() -> None:
    spec = SPEC.model_copy(update={"spark": {"spark.sql.shuffle.partitions": "7"}})
    here, there = spark_conf(spec), session_conf(spec)
    assert here["spark.sql.shuffle.partitions"] == there["spark.sql.shuffle.partitions"] == "7"
    assert here == {**own_conf(), **there}
    assert {key.split(".")[1] for key in there} == {"sql", "databricks"}
    assert not there.keys() & server_conf().keys()


def test_what_lands_does_not_depend_on_a_specs_settings() -> None:
    keys = ("spark.sql.timestampType", "spark.sql.files.ignoreCorruptFiles")
    given = {"spark": dict(zip(keys, ("TIMESTAMP_NTZ", "true"), strict=True))}
    ours = session_conf(SPEC.model_copy(update=given))
    assert [ours[key] for key in keys] == ["TIMESTAMP_LTZ", "false"]


@pytest.mark.parametrize("variable", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"])
def test_a_collector_that_the_environment_names_is_left_alone(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "-XX:+UseParallelGC" in spark_conf(SPEC)[OPTIONS]
    monkeypatch.setenv(variable, "-Xss4m -XX:+UseG1GC")
    assert "GC" not in spark_conf(SPEC)[OPTIONS]


def test_a_jvm_for_few_offsets_compiles_less_and_a_server_as_hotspot_would() -> None:
    few, many = (spark_conf(SPEC, offsets)[OPTIONS] for offsets in (FEW_OFFSETS, FEW_OFFSETS + 1))
    assert few == f"{server_conf()[OPTIONS]} -XX:TieredStopAtLevel=1"
    assert many.startswith(f"{server_conf()[OPTIONS]} -XX:Tier4")
    assert spark_conf(SPEC)[OPTIONS] == many


def test_stale_jars_are_refused_whatever_a_spec_brings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spark").mkdir()
    monkeypatch.setenv("SLUICE_JARS", str(tmp_path))
    with pytest.raises(SettingsError, match="Spark's jars: expected"):
        own_conf(given={"spark.jars": "/opt/udf.jar"})


def test_without_any_a_spec_may_bring_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLUICE_JARS", str(tmp_path))
    assert "spark.driver.extraClassPath" not in own_conf(given={"spark.jars": "/opt/delta.jar"})
