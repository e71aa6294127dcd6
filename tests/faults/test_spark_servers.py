"""Spark servers that are killed, frozen, out of memory or left: bounded, and exact in the end.

Where a test's own process lands what is left, it does so with a Spark of its own.
"""

from __future__ import annotations

import json
import re
import signal
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyspark.errors import PySparkException
from pyspark.sql.connect import functions as F
from pyspark.sql.connect.observation import Observation
from pyspark.sql.connect.plan import LogicalPlan
from sluice.broker.client_settings import ClientSettings
from sluice.lake.kafka_source import read_ranges
from sluice.lake.server.server_session import LastingSession, session_id
from sluice.lake.server.statements import Statements
from sluice.lake.session import session_conf, session_owner
from sluice.lake.spark_place import SparkServer as Remote
from sluice.lake.spark_place import place_in
from sluice.offsets.ranges import OffsetRange, TopicPartition

from local.embedded.spark_server import SparkServer
from local.embedded.waiting import until
from tests.faults.striking import Faulty, commit_fault, frozen, jvm_of, meets, settled
from tests.oracle import no_secret
from tests.worlds.pipelines import Installed, more
from tests.worlds.processes import Run

pytestmark = [
    pytest.mark.integration,
    pytest.mark.spark,
    pytest.mark.parametrize("place", ["server"], indirect=True),
]

LINK = r'href="/([^"#]+)'
# Within a JVM, Delta lets a commit to a table wait for the one before, even if that hangs.
ALL_AT_ONCE = {"spark.databricks.delta.commitLock.enabled": "false"}
SETTING = "spark.sql.shuffle.partitions"


@pytest.fixture
def trips(faulty: Faulty) -> Installed:
    """A pipeline with ten unread records."""
    made = faulty()
    more(made, 10)
    return made


def hanging(trips: Installed, **env: str) -> Run:
    """A run whose commit hangs on the server until `go_on`."""
    commit_fault(trips).write_text("files written: hang")
    run = trips.start("run", **env)
    meets(trips, run, "files written", "hang")
    return run


def client_of(trips: Installed, number: int = 0) -> LastingSession:
    """Another client of the pipeline's session."""
    resources = trips.open().resources
    owner = session_owner(resources.spec, resources.tables)
    name = session_id(owner, session_conf(resources.spec), number)
    place = place_in(trips.environment)
    assert isinstance(place, Remote)
    return LastingSession(place, name, session_conf(resources.spec))


def go_on(trips: Installed) -> None:
    (trips.folder / "commit-goes-on").touch()


def interrupted(trips: Installed, server: SparkServer) -> int:
    """How many of its commits were interrupted on the server."""
    said = server.log.read_text(encoding="utf-8", errors="replace")
    return said.count(f"failpoint interrupted: {trips.folder}")


def lands_what_is_left(trips: Installed, rows: int = 10) -> None:
    """The next run, on the server as it is now, makes the table exact."""
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert (trips.version(), trips.judge().facts.rows) == (1, rows)


@pytest.mark.parametrize("fault", ["halt", "out of memory"])
def test_a_server_that_dies_in_mid_write_is_restarted_and_runs_nothing_twice(
    trips: Installed, server: SparkServer, fault: str, tmp_path: Path
) -> None:
    """A statement that was sent to the old server is refused by the new one, whose session of that
    name has none of the settings."""
    jvm, left = jvm_of(settled(server)), client_of(trips)
    assert left.conf.get("spark.sql.ansi.enabled") == "true"
    commit_fault(trips).write_text(f"files written: {fault}")
    done = trips.process("run")
    assert done.returncode == 1, done.stderr
    assert "SparkFailed: forward-1-1: not committed" in done.stderr
    assert "] the Spark server " in done.stderr
    assert not jvm.is_running()
    assert (trips.version(), trips.rows()) == (0, [])

    with pytest.raises(PySparkException, match="NO_ACTIVE_SESSION"):
        left.range(1).write.format("parquet").save(str(tmp_path / "never"))
    assert not (tmp_path / "never").exists()
    lands_what_is_left(trips)


def test_a_frozen_server_is_given_up_in_time_and_is_superseded_when_it_wakes_up(
    trips: Installed,
) -> None:
    """Given up after two and a half minutes: 40 s of silence, and six attempts of 20 s."""
    zombie, jvm = frozen(trips, "files written")
    done = zombie.end()
    assert done.returncode == 1, done.stderr
    assert "SparkFailed: forward-1-1: not committed" in done.stderr
    assert "the Spark server does not answer any more" in done.stderr
    trips.run()
    assert (trips.version(), len(trips.rows())) == (1, 10)
    jvm.resume()
    more(trips, 5, 10)
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert (trips.version(), trips.judge().facts.rows) == (2, 15)


def test_a_session_that_another_client_releases_ends_the_run_and_the_next_one_has_another(
    trips: Installed, server: SparkServer
) -> None:
    run = hanging(trips)
    other = client_of(trips)
    other.client.release_session()
    done = run.end()
    assert done.returncode == 1, done.stderr
    assert "SparkFailed: forward-1-1: not committed" in done.stderr
    assert "Traceback" not in done.stderr
    until(lambda: interrupted(trips, server), "an interrupted commit")
    lands_what_is_left(trips)
    again, next_one = client_of(trips), client_of(trips, 1)
    with pytest.raises(PySparkException, match="SESSION_CLOSED"):
        again.conf.get("spark.sql.ansi.enabled")
    assert next_one.conf.get("spark.sql.ansi.enabled") == "true"


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_client_that_is_asked_to_end_takes_its_statement_with_it(
    trips: Installed, server: SparkServer, ending: signal.Signals
) -> None:
    run = hanging(trips)
    run.process.send_signal(ending)
    done = run.end()
    assert done.returncode == -ending, done.stderr
    assert [word for word in ("Traceback", "ERROR") if word in done.stderr] == []
    until(lambda: interrupted(trips, server), "an interrupted commit", 10)
    assert trips.version() == 0
    lands_what_is_left(trips)


def test_a_client_that_is_killed_leaves_a_zombie_which_comes_too_late(
    trips: Installed, server: SparkServer
) -> None:
    trips.write_spec(spark=ALL_AT_ONCE)
    hanging(trips).kill()
    lands_what_is_left(trips)
    assert interrupted(trips, server) == 0
    go_on(trips)
    more(trips, 5, 10)
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert (trips.version(), trips.judge().facts.rows) == (2, 15)


def test_two_attempts_in_one_session_end_only_what_is_their_own(
    trips: Installed, server: SparkServer
) -> None:
    trips.write_spec(spark=ALL_AT_ONCE)
    first, second = hanging(trips), hanging(trips)
    first.process.send_signal(signal.SIGTERM)
    assert first.end().returncode == -signal.SIGTERM
    until(lambda: interrupted(trips, server), "an interrupted commit", 10)
    assert second.process.poll() is None
    go_on(trips)
    done = second.end()
    assert done.returncode == 0, done.stderr
    assert "superseded" not in done.stderr
    assert interrupted(trips, server) == 1
    assert (trips.version(), trips.judge().facts.rows) == (1, 10)


def test_a_session_has_the_settings_of_its_pipeline_and_of_no_other(
    trips: Installed, faulty: Faulty
) -> None:
    """A changed setting means another session; the one before keeps what it had."""
    lands_what_is_left(trips)
    before = client_of(trips)
    trips.write_spec(spark={SETTING: "7"})
    changed = client_of(trips)
    more(trips, 5, 10)
    assert trips.process("run").returncode == 0
    other = faulty(table="others")
    other.name = "others"
    other.write_spec(pipeline="others", table="others")
    more(other, 3)
    assert other.process("run").returncode == 0
    others = client_of(other)
    found = [each.conf.get(SETTING) for each in (before, changed, others)]
    assert found == ["4", "7", "4"]
    assert (trips.judge().facts.rows, other.judge().facts.rows) == (15, 3)


def test_what_two_attempts_in_one_session_observe_is_their_own(trips: Installed) -> None:
    """The server knows a plan by a number, and every process counts from 0."""
    sizes, seen = (400, 100), [Observation("seen"), Observation("seen")]
    writes = []
    for size, observation in zip(sizes, seen, strict=True):
        LogicalPlan._nextPlanId = 0
        session: Any = client_of(trips)
        Statements(session)
        rows = session.range(size).observe(observation, F.count(F.lit(1)).alias("rows"))
        slowly = rows.select(F.expr("reflect('java.lang.Thread', 'sleep', 10L)"))
        write = slowly.write.format("noop").mode("overwrite")
        writes.append(threading.Thread(target=write.save))
    for each in writes:
        each.start()
    for each in writes:
        each.join(60)
    assert [each.get for each in seen] == [{"rows": size} for size in sizes]


def test_secrets_are_nowhere_to_be_read(trips: Installed, server: SparkServer, pages: str) -> None:
    """Kafka ignores this key without TLS, but it travels to Spark as every other secret does."""
    form = Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(*form).decode()
    secret = key.splitlines()[1]
    certified = {"ssl.key.pem": key, "ssl.certificate.pem": "CERT"}
    kafka = {"bootstrap.servers": trips.bootstrap, **certified}
    connection = json.dumps({"conn_type": "kafka", "extra": kafka})
    run = hanging(trips, AIRFLOW_CONN_KAFKA_DEFAULT=connection)
    # A page cuts a long statement short: this one shows its options.
    settings = ClientSettings.from_extra("kafka_default", kafka)
    records = OffsetRange(TopicPartition(trips.topics[0], 0), 0, 10)
    session: Any = client_of(trips)
    assert read_ranges(session, settings, [records]).count() == 10
    shown = texts_of(pages)
    assert any("startingOffsets" in text for text in shown.values()), "not the statement"
    for each in (secret, server.token):
        no_secret(each)
        assert [page for page, text in shown.items() if each in text] == []
    go_on(trips)
    assert run.end().returncode == 0
    commit_fault(trips).write_text("reply lost: raise")
    more(trips, 5, 10)
    assert trips.process("run", AIRFLOW_CONN_KAFKA_DEFAULT=connection).returncode == 0
    for each in (secret, server.token):
        no_secret(each, trips.folder, server.log, server.folder / "events")
    assert trips.judge().facts.rows == 15


def texts_of(pages: str) -> Mapping[str, str]:
    """All pages that links lead to, and what the interface for programs answers."""
    answers = f"{pages}api/v1/applications"
    application = json.loads(read(answers))[0]["id"]
    waiting = [f"{answers}/{application}/{each}" for each in ("sql?details=true", "environment")]
    waiting.append(pages)
    found: dict[str, str] = {}
    while waiting:
        page = waiting.pop()
        # Lists sorted in another way, and the threads, say nothing new.
        if page in found or any(each in page for each in ("sort", "thread", "kill", "static")):
            continue
        found[page] = text = read(page)
        waiting += [pages + link.replace("&amp;", "&") for link in re.findall(LINK, text)]
    return found


def read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return str(answer.read().decode())
