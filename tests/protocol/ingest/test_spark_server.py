"""A Spark Connect server lands the same batches as a Spark of its own; one that is unfit is named.

In processes of their own: one Python can have a local session or one on a server, not both.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from sluice.lake.reading_tasks import LEAST

from local.embedded.spark_server import SparkServer
from local.embedded.waiting import until
from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.pipelines import Installed, Pipelines, Topic, more
from tests.worlds.processes import JAVA_TUNING
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

OPENING_A_SESSION = """
import os
os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
from sluice.lake.server.server_session import server_session
from sluice.lake.spark_place import place_in
with server_session(place_in(os.environ), "owner", {}, os.environ["SEEN"]):
    pass
"""

# The folder is another one for this process, in a mount namespace of its own.
RUNNING_ELSEWHERE = """
import os, subprocess, sys
mounted = 'mount --bind "$ELSEWHERE" "$SLUICE_WAREHOUSE" && exec "$@"'
own = ["unshare", "--map-root-user", "--mount", "bash", "-c", mounted, "bash"]
sluice = os.path.join(os.path.dirname(sys.executable), "sluice")
sys.exit(subprocess.call([*own, sluice, "run", sys.argv[1]]))
"""

EXECUTED = ("--execute", "--reason", "a test")

Start = Callable[..., SparkServer]


@pytest.fixture(scope="module")
def only_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkServer]:
    with prepared(tmp_path_factory.mktemp("server"), {}) as server:
        yield server


@pytest.fixture
def server(only_server: SparkServer) -> SparkServer:
    """One server for all tests that need no other; it runs again after one that has killed it."""
    return only_server if only_server.running else only_server.start()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start(**settings)` starts a server with these Spark settings, dots as `__`."""
    running: list[SparkServer] = []

    def started(**settings: str) -> SparkServer:
        given = {key.replace("__", "."): value for key, value in settings.items()}
        running.append(prepared(tmp_path / f"server{len(running)}", given))
        return running[-1].start()

    yield started
    for server in running:
        server.kill()


def prepared(folder: Path, settings: dict[str, str]) -> SparkServer:
    # Where it listens is its own affair.
    tuning = {key: JAVA_TUNING[key] for key in JAVA_TUNING.keys() - {"SPARK_LOCAL_IP"}}
    return SparkServer(folder, settings={"spark.master": "local[1]"} | settings, environment=tuning)


def on(server: SparkServer, **changed: object) -> dict[str, str]:
    """The environment of a client of the server."""
    return {"AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({**json.loads(server.connection), **changed})}


def test_upkeep_needs_nothing_of_a_server_that_a_batch_does_not_need(
    server: SparkServer, topic: Topic, pipeline: Pipelines
) -> None:
    strict = {"type": "json", "schema": "at DATE"}
    trips = pipeline(topic(), format=strict, quarantine={"max_ratio": 1})

    def does(command: str, *words: str) -> None:
        done = trips.process(command, *words, **on(server))
        assert done.returncode == 0, done.stderr

    does("maintain")
    produce(trips.bootstrap, trips.topics[0], [b'{"at": "2013-01-01"}', b'{"at": 1}', b"{"])
    does("run")
    assert len(trips.quarantined()) == 2
    does("quarantine drop", "--all", "--execute", "--reason", "junk")
    assert not trips.quarantined()
    does("maintain")
    trips.judge(dropped=frozenset({(0, 1), (0, 2)}))


def test_a_server_reads_the_log_for_the_next_run(
    start: Start, topic: Topic, pipeline: Pipelines, tmp_path: Path
) -> None:
    events = tmp_path / "events"
    events.mkdir()
    server = start(
        spark__eventLog__enabled="true",
        spark__eventLog__compress="false",
        spark__eventLog__dir=str(events),
    )
    trips = pipeline(topic())
    more(trips, 10)
    done = trips.process("run", **on(server))
    assert done.returncode == 0, done.stderr
    state = f"Compute snapshot for version: {trips.version()}"

    def told() -> bool:
        return any(state in each.read_text() for each in events.rglob("*") if each.is_file())

    # The client has gone.
    until(told, state)
    assert trips.judge().facts.rows == 10


def test_a_server_reads_a_hot_partition_with_all_its_cores(
    start: Start, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    more(trips, 3 * LEAST)
    done = trips.process("run", **on(start(spark__master="local[3]")))
    assert done.returncode == 0, done.stderr
    assert len(list(trips.data.glob("*.parquet"))) == 3
    assert trips.judge().facts.rows == 3 * LEAST


def test_a_server_lands_json_of_any_shape(
    server: SparkServer, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(
        topic(),
        format={"type": "json", "schema": "value VARIANT"},
        derived={"_id": "try_variant_get(value, '$.id', 'INT')"},
        quarantine={"max_ratio": 1},
    )
    produce(trips.bootstrap, trips.topics[0], [b'{"id": 1}', b"[1.50]", b"1e999", b"null", None])
    for command, *words in (["run"], ["reset", "--to-earliest", *EXECUTED], ["run"]):
        done = trips.process(command, *words, **on(server))
        assert done.returncode == 0, done.stdout + done.stderr
    assert trips.judge().facts.rows == 4
    assert sorted(row["_id"] or 0 for row in trips.rows()) == [0, 0, 0, 1]


def refused(trips: Installed, environment: dict[str, str]) -> str:
    """What a run says that the server refuses, or that refuses the server; it wrote nothing."""
    before = trips.version()
    done = trips.process("run", **environment)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert trips.version() == before
    return done.stderr


def test_an_unfit_server_is_refused_at_once_by_what_it_lacks(
    server: SparkServer, start: Start, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    more(trips, 10)
    says = partial(refused, trips)

    wrong = says(on(server, password="hunter2"))
    assert "expected the token with which the server was started" in wrong
    assert "found another token" in wrong
    assert "hunter2" not in wrong
    assert "found no token" in says(on(server, password=None))

    # A folder of a container, say. Here nobody has it.
    unseen = trips.alone(OPENING_A_SESSION, SEEN="/of/this/process/only", **on(server)).stderr
    assert "expected a server that sees /of/this/process/only, as this process does" in unseen
    odd = trips.folder / "{2026}[11]*"
    odd.mkdir()
    seen = trips.alone(OPENING_A_SESSION, SEEN=str(odd), **on(server))
    assert seen.returncode == 0, seen.stderr

    trips.write_spec(spark={"spark.driver.memory": "3g"})
    assert "spark: spark.driver.memory: expected a setting that a session may change" in says(
        on(server)
    )
    trips.write_spec(spark={})

    bare = start(
        spark__sql__extensions="",
        spark__sql__catalog__spark_catalog="",
        spark__driver__extraClassPath="",
    )
    lacking = says(on(bare))
    assert "spark.sql.extensions: expected io.delta.sql.DeltaSparkSessionExtension" in lacking
    assert "spark.sql.catalog.spark_catalog: expected" in lacking
    without_jars = start(spark__driver__extraClassPath="", spark__delta__logStore__file__impl="")
    assert "expected the data source `delta`, found none" in says(on(without_jars))

    done = trips.process("run", **on(server))
    assert done.returncode == 0, done.stderr
    assert trips.judge().facts.rows == 10


def test_a_compacted_topic_is_read_again_on_a_server_and_keeps_its_rows(
    server: SparkServer, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(**COMPACTED))
    for number in range(20):
        produce(trips.bootstrap, trips.topics[0], numbered(1, number), key=b"k-%d" % (number % 5))
    assert trips.process("run", **on(server)).returncode == 0
    compact(trips.bootstrap, trips.topics)
    back = trips.sluice("reset", "--to-earliest", "--execute", "--reason", "a test")
    assert back.returncode == 0, back.stderr
    done = trips.process("run", **on(server))
    assert done.returncode == 0, done.stderr
    assert "failed with exception" not in done.stderr
    assert {row["_offset"] for row in trips.rows()} >= set(range(20))
    trips.judge()


def test_a_server_that_sees_another_folder_at_the_same_path_writes_nothing(
    server: SparkServer, topic: Topic, pipeline: Pipelines
) -> None:
    """As on two hosts, or behind a mount; it holds a copy of the tables, and a checked session."""
    trips = pipeline(topic())
    more(trips, 10)
    assert trips.process("run", **on(server)).returncode == 0
    more(trips, 10, 10)
    shutil.copytree(trips.warehouse, trips.folder / "elsewhere")
    done = trips.alone(RUNNING_ELSEWHERE, ELSEWHERE=str(trips.folder / "elsewhere"), **on(server))
    assert done.returncode == 1, done.stderr
    assert "found one that does not, and would write to another table" in done.stderr
    assert len(trips.rows()) == 10
    assert trips.process("run", **on(server)).returncode == 0
    assert trips.judge().facts.rows == 20


def test_a_server_whose_commits_could_overwrite_others_is_warned_about(
    start: Start, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    more(trips, 10)
    server = start(spark__delta__logStore__file__impl="io.delta.storage.HDFSLogStore")
    done = trips.process("run", **on(server))
    assert done.returncode == 0, done.stderr
    assert "found io.delta.storage.HDFSLogStore: a commit could overwrite" in done.stderr
    assert trips.judge().facts.rows == 10


@pytest.mark.seam
def test_batches_land_on_a_server_and_one_that_has_gone_is_named(
    server: SparkServer, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    for first in (0, 10):
        more(trips, 10, first)
        done = trips.process("run", **on(server))
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr
    assert trips.judge().facts.rows == 20
    listening = [each for each in server.jvm().net_connections() if each.status == "LISTEN"]
    assert len(listening) > 1
    assert {each.laddr.ip for each in listening} <= {"127.0.0.1", "::ffff:127.0.0.1"}

    more(trips, 10, 20)
    server.kill()
    started = time.monotonic()
    done = trips.process("run", **on(server))
    # Spark's own client would try for nine minutes.
    assert time.monotonic() - started < 40
    assert done.returncode == 1
    assert f"SparkFailed: 127.0.0.1:{server.port} gave no answer" in done.stderr
    assert "Traceback" not in done.stderr
    assert trips.judge(settled=False, caught_up=False).facts.rows == 20
