"""Scenes: the state in which each recipe of docs/operations.md begins, and the expected outcome.

A scene is a generator: it prepares the state, and continues after each block of its recipe with
what the commands printed. It returns the oracle's verdict on the state in which it ends; whoever
plays it asks `sluice verify` about the same state.
"""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import yaml
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.operations.backfill.selection import parse_selection
from sluice.spec_file.formats import JsonFormat
from sluice.spec_folder import load_spec

from local.embedded.broker import Broker
from local.embedded.topics import create_topic
from tests.operations.verify.test_accepted_gaps import HOUR_MS, lost
from tests.oracle import Verdict, read_truth
from tests.worlds.console import Console
from tests.worlds.pipelines import Installed
from tests.worlds.records import delete_records, delete_topic, produce, produce_at, set_group
from tests.worlds.scripted_http import ScriptedServer, document

Said = list[str]
Scene = Generator[None, Said, Verdict]

DAY = datetime(2024, 1, 5, tzinfo=UTC)
FOREVER = 2**63 - 1
RUN = "sluice run flights"
DELAYS = {"type": "json", "schema": "carrier STRING, dep_delay DOUBLE"}
TIMES = {"type": "json", "schema": "carrier STRING, time_hour TIMESTAMP"}
DEPARTURE: dict[str, Any] = {
    "type": "record",
    "name": "Departure",
    "fields": [{"name": "carrier", "type": "string"}, {"name": "dep_delay", "type": "double"}],
}


def stamp(hour: float) -> int:
    """A Kafka timestamp (milliseconds) on that day."""
    return int((DAY + timedelta(hours=hour)).timestamp() * 1000)


def departures(count: int, **more: object) -> list[bytes]:
    """Records of departures, with further fields."""
    record = {"carrier": "UA", "dep_delay": 4, "dest": "SFO", **more}
    return [json.dumps(record).encode()] * count


@dataclass
class Stage:
    """The pipeline `flights`, its operator's console, and the broker.

    Steps before and after a recipe need no console: they run with the tests' Spark. Servers that
    a scene needs besides are stopped when `sluice verify` has been asked as well.
    """

    flights: Installed
    console: Console
    broker: Broker
    besides: ExitStack

    def topic(self, partitions: int = 2, name: str = "flights", **config: object) -> None:
        settings = {key.replace("_", "."): str(value) for key, value in config.items()}
        settings = {"retention.ms": "-1", **settings}
        assert create_topic(self.broker.bootstrap, name, partitions, settings)

    def send(
        self, values: Iterable[bytes], partition: int = 0, hour: int = 0, topic: str = "flights"
    ) -> None:
        """Send one record for each hour."""
        for number, value in enumerate(values, hour):
            produce(self.broker.bootstrap, topic, [value], partition, timestamp=stamp(number))

    def filled(self) -> None:
        """Ten records from midnight on, and four in the other partition from four o'clock on."""
        self.topic()
        self.send(departures(10))
        self.send(departures(4), 1, hour=4)

    def landed(self, **keys: Any) -> None:
        self.filled()
        self.flights.write_spec(**keys)
        self.flights.run()

    def landed_from(self, values: list[bytes], **keys: Any) -> None:
        """Produce these values to one partition, and land them."""
        self.topic(1)
        self.send(values)
        self.flights.write_spec(**keys)
        self.flights.run()

    def goes_on_as(self, name: str) -> None:
        """From here on the pipeline of this name, which the same folder has, is looked at."""
        self.flights = self.console.about = replace(self.flights, name=name)

    def batch(self, name: str) -> dict[str, tuple[int, int]]:
        return self.flights.ranges("committed")[name]

    def exact(self, rows: int, quarantined: int = 0, **expectations: Any) -> Verdict:
        """The oracle's verdict: all that it demands holds, over so many rows and bad records."""
        verdict = self.flights.judge(**expectations)
        assert (verdict.facts.rows, verdict.facts.quarantined) == (rows, quarantined)
        return verdict


def look(stage: Stage) -> Scene:
    stage.landed()
    stage.send(departures(2), hour=10)
    before = sorted(stage.flights.warehouse.rglob("*"))
    status, plan, history, verify = yield
    assert sorted(stage.flights.warehouse.rglob("*")) == before
    assert "time to loss" in status
    assert "would be planned: 1 batch, 2 offsets" in plan
    assert "forward-1-1" in history
    assert "FAILED" not in verify
    return stage.exact(14, caught_up=False)


def look_at_all(stage: Stage) -> Scene:
    stage.landed()
    stage.send(departures(2), hour=10)
    stage.flights.write_spec(schedule="*/10 * * * *")
    never_ran = stage.flights.spec_file.read_text().replace("flights", "arrivals")
    never_ran = never_ran.replace("topics:\n- arrivals", "topics:\n- flights")
    (stage.flights.spec_file.parent / "arrivals.yaml").write_text(never_ran)
    listed, status, document, again = yield
    assert all(f"{name}.yaml" in listed for name in ("arrivals", "flights"))
    assert re.search(r"flights .*behind .*\b2\b .*forward-1-1", status)
    assert re.search(r"flights .*behind", again), "behind is not stopped"
    found = {each["pipeline"]: each for each in json.loads(document)["pipelines"]}
    assert {name: each["lag"] for name, each in found.items()} == {"arrivals": 16, "flights": 2}
    return stage.exact(14, caught_up=False)


def call_a_person(stage: Stage) -> Scene:
    stage.landed()
    stage.send(departures(2), hour=10)
    yield
    checked, status = yield
    assert checked == "1 file, 0 with findings\n"
    assert "flights: alerts.max_lag: expected unread records of at most 0:30:00" in status
    assert "alerts.max_silence" not in status
    stage.flights.run()
    assert "alerts." not in stage.console.does("sluice status")
    return stage.exact(16)


def topic_filled(stage: Stage) -> Scene:
    lines = [*departures(5), b'{"carrier": "AA", "dep_delay": null}']
    (stage.flights.folder / "flights.jsonl").write_bytes(b"\n".join(lines))
    created, again = yield
    assert created == "flights: created, with 2 partitions\nflights: 6 records delivered\n"
    assert again == "flights: 6 records delivered\n"
    stage.flights.run()
    assert {row["_key"] for row in stage.flights.rows()} == {b"UA", b"AA"}
    return stage.flights.judge()


def spec_of_a_topic(stage: Stage) -> Scene:
    stage.topic()
    stage.send(departures(6, time_hour="2024-01-05T06:00:00Z", gate=None, stops=[1, 2.5]))
    stage.send(departures(4, crew={"lead": "A", "on duty": True}, tail=2**64), 1)
    stage.flights.spec_file.unlink(missing_ok=True)
    shown, proposed = yield
    assert "flights[1]@3" in shown
    stage.flights.spec_file.parent.mkdir(exist_ok=True)
    stage.flights.spec_file.write_text(proposed)
    checked, _ = yield
    assert "0 with findings" in checked
    spec = load_spec(stage.flights.spec_file)
    assert isinstance(spec.format, JsonFormat)
    found = {each.name: str(each.type) for each in spec.columns}
    assert found["time_hour"] == "TIMESTAMP"
    assert found["stops"] == "ARRAY<DOUBLE>"
    assert {found["tail"], found["crew"], found["gate"]} == {"STRING"}
    assert stage.flights.quarantined() == []
    return stage.exact(10, group="sluice-flights", fmt="json", schema=spec.format.schema_text)


def check_specs(stage: Stage) -> Scene:
    stage.landed(format=DELAYS)
    checked, schema = yield
    assert checked == "1 file, 0 with findings\n"
    assert "topics" in json.loads(schema)["properties"]
    stage.flights.write_spec(format={**DELAYS, "schema": "carrier STRING, dep_delay STRING"})
    assert "dep_delay" in stage.console.refuses("sluice check")
    stage.flights.write_spec(format=DELAYS)
    return stage.exact(14)


def table_for_each(stage: Stage) -> Scene:
    for name in ("flights.eu", "flights.us-west"):
        stage.topic(1, name)
        stage.send(departures(3), topic=name)
    stage.flights.write_spec(consumer_group="sluice-{topic}", format=DELAYS)
    yield
    shown, kept, checked = yield
    assert "Nothing was changed" in shown
    assert all("flights_us_west" in each for each in (shown, kept))
    assert "Nothing was changed" not in kept
    assert checked == "1 file, 0 with findings\n"
    _, status = yield
    assert re.search(r"flights_eu .*fresh", status)
    assert "flights_us_west" in status
    stage.flights = replace(stage.flights, topics=["flights.eu"])
    stage.goes_on_as("flights_eu")
    return stage.exact(3, group="sluice-flights.eu")


def jars_fetched(stage: Stage) -> Scene:
    stage.landed(format=DELAYS)
    (told,) = yield
    assert re.search(r"/spark: \d+ jars, \d+ MB, there already$", told.strip())
    return stage.exact(14)


def which_spec(stage: Stage) -> Scene:
    stage.landed(format=DELAYS)
    told, document = yield
    assert "flights[0] [0, 10), flights[1] [0, 4)" in told
    assert "read with spec " in told
    assert '"schema": "carrier STRING, dep_delay DOUBLE"' in told
    first = json.loads(document)["read_with"]
    assert first["spec"]["format"] == DELAYS
    stage.send(departures(2, dep_delay=None), hour=10)
    stage.flights.write_spec(format={**DELAYS, "schema": "carrier STRING"}, owner="others")
    stage.flights.run()
    asked = "sluice history flights --batch forward-1-2 --json"
    second = json.loads(stage.console.does(asked))["read_with"]
    assert second["spec"]["format"]["schema"] == "carrier STRING"
    assert second["digest"] != first["digest"]
    assert "has not planned" in stage.console.refuses("sluice history flights --batch forward-1-3")
    return stage.exact(16, fmt="json", schema=DELAYS["schema"])


def removed(stage: Stage) -> Scene:
    stage.landed()
    stage.flights.spec_file.unlink()
    (listed,) = yield
    assert "flights" not in listed
    stage.send(departures(2), hour=10)
    stage.flights.write_spec()
    stage.flights.run()
    assert stage.batch("forward-1-2") == {"[0]": (10, 12), "[1]": (4, 4)}
    return stage.exact(16)


def renamed(stage: Stage) -> Scene:
    stage.landed(consumer_group="sluice-flights")
    stage.send(departures(2), hour=10)
    yield
    stage.flights.judge(group="sluice-flights")
    yield
    spec = yaml.safe_load(stage.flights.spec_file.read_text())
    spec |= {"pipeline": "departures", "table": "departures"}
    del spec["consumer_group"]
    stage.flights.spec_file.with_name("departures.yaml").write_text(yaml.safe_dump(spec))
    stage.flights.spec_file.unlink()
    stage.send(departures(3), 1, hour=12)
    plan, _ = yield
    assert "1 batch, 3 offsets" in plan
    rows = [*stage.flights.rows(), *stage.flights.rows("departures")]
    places = sorted((row["_partition"], row["_offset"]) for row in rows)
    assert places == [*((0, each) for each in range(12)), *((1, each) for each in range(7))]
    assert {row["_partition"] for row in stage.flights.rows("departures")} == {1}
    stage.goes_on_as("departures")
    return stage.exact(3, from_earliest=False, group="sluice-departures")


def backfill_a_window(stage: Stage) -> Scene:
    stage.landed()
    dry, done = yield
    assert "would be planned: 1 batch, 4 offsets" in dry
    assert "backfill-1-1: 4 records" in done
    assert stage.batch("backfill-1-1") == {"[0]": (6, 8), "[1]": (2, 4)}
    return stage.exact(14)


def read_again_after_a_mended_schema(stage: Stage) -> Scene:
    stage.landed(format=DELAYS)
    yield
    batch, ranges, window, _ = yield
    assert "14 offsets" in batch
    assert "6 offsets" in ranges
    assert "4 offsets" in window
    assert {(row["dest"], row["_batch"]) for row in stage.flights.rows()} == {
        ("SFO", "backfill-1-1")
    }
    return stage.exact(14)


def planned_only(stage: Stage) -> None:
    """A backfill that was stopped before it landed anything."""
    stage.landed()
    wanted = parse_selection("2024-01-05T06Z", "2024-01-05T08Z")
    assert stage.flights.open().backfill(wanted, "run", "somebody").work


def unfinished_backfill(stage: Stage) -> Scene:
    planned_only(stage)
    status, done = yield
    assert "to be read again, not committed yet: backfill-1-1. The next backfill" in status
    assert "backfill-1-1: 4 records" in done
    assert sorted(stage.flights.ranges()) == ["backfill-1-1", "forward-1-1"]
    return stage.exact(14)


def unfinished_backfill_given_up(stage: Stage) -> Scene:
    planned_only(stage)
    yield
    assert "not committed yet" not in stage.console.does("sluice status flights")
    assert "nothing new" in stage.console.does(RUN)
    return stage.exact(14)


def move_the_cursor(stage: Stage) -> Scene:
    stage.landed()
    (stage.flights.folder / "offsets.csv").write_text("flights,0,3\nflights,1,4\n")
    set_group(stage.broker.bootstrap, "hourly_report", "flights", 4)
    previews = yield
    assert all("Nothing was changed" in each for each in previews)
    assert stage.flights.offsets("reset_intended") == []
    shown, done = yield
    assert "rows replaced" in shown
    assert "a reset to generation 2 has moved the cursor" in done
    stage.flights.run()
    assert stage.batch("forward-2-1") == {"[0]": (6, 10), "[1]": (2, 4)}
    assert "the prices were wrong" in stage.console.does("sluice history flights")
    return stage.exact(14)


def record_that_stops_the_line(stage: Stage) -> Scene:
    stage.topic(1, message_timestamp_after_max_ms=FOREVER)
    # Spark cannot hold such a timestamp.
    produce_at(stage.broker.bootstrap, "flights", [stamp(0), stamp(1), FOREVER, stamp(3)])
    assert "SparkFailed" in stage.console.refuses(RUN)
    yield
    yield
    assert "forward-2-3: not committed" in stage.console.refuses(RUN)
    (plan, *_) = yield
    assert re.search(r"forward-2-3 .*\b2 .*\b3 .*\b1\b", plan)
    stage.flights.run()
    (loss,) = stage.flights.offsets("loss")
    assert loss["reason"].endswith("its timestamp is in the year 292278994")
    return stage.exact(3, skipped=frozenset({(0, 2)}))


def new_pipeline(stage: Stage) -> Scene:
    stage.filled()
    set_group(stage.broker.bootstrap, "hourly_report", "flights", 4)
    earliest, _, moment, offsets, group = yield
    assert "1 batch, 14 offsets" in earliest
    assert "1 batch, 6 offsets" in moment
    assert "1 batch, 8 offsets" in offsets
    assert "1 batch, 10 offsets" in group
    yield
    assert stage.batch("forward-1-1") == {"[0]": (4, 10), "[1]": (0, 4)}
    return stage.exact(10, from_earliest=False)


def streaming_query(stage: Stage) -> Scene:
    stage.filled()
    meta, ends = '{"batchWatermarkMs":0,"conf":{}}', '{"flights":{"0":7,"1":4}}'
    left = {"offsets/0": f"v1\n{meta}\n{ends}", "commits/0": 'v1\n{"nextBatchWatermarkMs":0}'}
    for name, text in left.items():
        file = stage.flights.folder / "old" / "checkpoint" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    yield
    return (yield from takes_over(stage))


def kafka_delta_ingest(stage: Stage) -> Scene:
    stage.filled()
    last = {"ingest-0": 6, "ingest-1": 3}
    written = CommitProperties(app_transactions=[Transaction(*each) for each in last.items()])
    table = stage.flights.folder / "old" / "flights"
    write_deltalake(table, pa.table({"carrier": ["UA"]}), commit_properties=written)
    yield
    return (yield from takes_over(stage))


def takes_over(stage: Stage) -> Scene:
    """The other system read all but the last three records of partition 0."""
    plan, _ = yield
    assert "1 batch, 3 offsets" in plan
    assert stage.batch("forward-1-1") == {"[0]": (7, 10), "[1]": (4, 4)}
    return stage.exact(3, from_earliest=False)


def changed_start(stage: Stage) -> Scene:
    stage.landed()
    stage.send(departures(2), hour=10)
    stage.flights.write_spec(start="latest")
    assert "`start: latest` has no effect any more" in stage.console.does("sluice plan flights")
    yield
    stage.flights.run()
    assert "skipped: 2 offsets by resets" in stage.console.does("sluice verify flights")
    return stage.exact(14)


def topic_is_gone(stage: Stage) -> Scene:
    stage.topic(1, "flights.old")
    stage.send(departures(3), topic="flights.old")
    stage.landed(topic_pattern="flights.*")
    stage.send(departures(2), topic="flights.old", hour=3)
    stage.send(departures(2), hour=10)
    before = read_truth(stage.broker.bootstrap, ["flights", "flights.old"])
    assert stage.flights.plan()
    delete_topic(stage.broker.bootstrap, "flights.old")
    refused = stage.console.refuses(RUN)
    assert "flights.old[0]: " in refused
    assert "no such partition" in refused
    assert "--shift-by 0" in refused
    yield
    assert "This batch was planned before" in stage.console.refuses(RUN)
    yield
    stage.flights.run()
    return stage.exact(19, remembered=before, caught_up=False)


def topic_created_anew(stage: Stage) -> Scene:
    stage.landed()
    before = read_truth(stage.broker.bootstrap, ["flights"])
    delete_topic(stage.broker.bootstrap, "flights")
    stage.topic()
    stage.send(departures(3))
    assert "created anew" in stage.console.refuses("sluice plan flights")
    yield
    stage.flights.run()
    assert len({row["_topic_id"] for row in stage.flights.rows()}) == 2
    # A group knows topics by name alone.
    return stage.exact(17, remembered=before, caught_up=False, group=None)


def quarantine(stage: Stage) -> Scene:
    values = [*departures(2), *departures(2, dep_delay="late"), b"{broken"]
    stage.landed_from(values, format=DELAYS, quarantine={"max_ratio": 1})
    listed, everything, late, batch, one = yield
    assert "dep_delay: expected DOUBLE" in listed
    assert "100.00% (quarantine.max_ratio) or 10 records (quarantine.max_records)" in listed
    assert all(text.count("late") >= 2 for text in (everything, late, batch))
    (record,) = json.loads(one)["records"]
    assert record["offset"] == 2
    return stage.exact(2, quarantined=3)


def too_many_malformed(stage: Stage) -> Scene:
    stage.topic(1)
    stage.send([*departures(2), *departures(12, dep_delay="late")])
    stage.flights.write_spec(format=DELAYS)
    refused = stage.console.refuses(RUN)
    assert "TooManyQuarantined" in refused
    assert (
        "12 of 14 records are undecodable; allowed: 1.00% (quarantine.max_ratio) or 10" in refused
    )
    listed, shown = yield
    assert "planned and not committed" in listed
    assert "late" in shown
    yield
    stage.flights.run()
    return stage.exact(2, quarantined=12)


def replayed(stage: Stage) -> Scene:
    values = [*departures(1), *departures(2, time_hour=1704434400), b"{broken", *departures(1)]
    stage.landed_from(values, format=TIMES, quarantine={"max_ratio": 1})
    yield
    dry, done = yield
    assert "1 batch, 2 offsets" in dry
    assert "backfill-1-1: 2 records" in done
    assert json.loads(stage.console.does("sluice quarantine list flights --json"))["records"] == 1
    return stage.exact(4, quarantined=1, timestamp_unit="s")


def number_became_text(stage: Stage) -> Scene:
    values = [*departures(2, dep_delay=4.5), *departures(2, dep_delay="12.5")]
    values += departures(1, dep_delay="late")
    stage.landed_from(values, format=DELAYS, quarantine={"max_ratio": 1})
    listed, shown = yield
    assert "dep_delay: expected DOUBLE" in listed
    assert 'dep_delay: expected DOUBLE, found "12.5"' in shown
    yield
    checked, plan, done = yield
    assert "0 with findings" in checked
    assert "dep_delay_text" in plan
    assert "backfill-1-1: 3 records" in done
    stage.send(departures(1, dep_delay=0.5), hour=5)
    stage.flights.run()
    rows = stage.flights.rows()
    assert {row["_offset"]: (row["dep_delay"], row["dep_delay_text"]) for row in rows} == {
        **dict.fromkeys((0, 1), (4.5, None)),
        **dict.fromkeys((2, 3), (12.5, "12.5")),
        4: (None, "late"),
        5: (0.5, "0.5"),
    }
    return stage.exact(6, decode=lambda value: {}, fields=False)


def field_is_gone(stage: Stage) -> Scene:
    stage.landed_from(departures(2), format=DELAYS, quarantine={"max_ratio": 1})
    stage.send([b'{"carrier": "AA", "delay": 7}', b'{"delay": 8}'], hour=2)
    stage.flights.run()
    assert [row["dep_delay"] for row in stage.flights.rows()].count(None) == 1
    listed, peeked = yield
    assert "expected one of the declared fields (carrier, dep_delay), found delay" in listed
    assert '"delay": 7' in peeked
    yield
    checked, _, done = yield
    assert "0 with findings" in checked
    assert "backfill-1-1: 2 records" in done
    yield
    stage.send([b'{"delay": 9}'], hour=4)
    stage.flights.run()
    errors = {row["_offset"]: row["error"] for row in stage.flights.quarantined()}
    assert errors[4] == "carrier: expected a value, as it is required, found none"
    found = {row["_offset"]: (row["carrier"], row["dep_delay"]) for row in stage.flights.rows()}
    assert found == {**dict.fromkeys((0, 1), ("UA", 4)), 2: ("AA", 7), 3: (None, 8)}
    return stage.exact(4, 1, decode=lambda value: None if b"9" in value else {}, fields=False)


def format_changes(stage: Stage) -> Scene:
    stage.landed_from(departures(2), format=DELAYS, quarantine={"max_records": 0})
    values = [*departures(1), *(framed(f"A{number}") for number in range(3))]
    stage.send(values, hour=2)
    refused = stage.console.refuses(RUN)
    assert "TooManyQuarantined" in refused
    assert "not one JSON object" in refused
    assert "may be framed: schema id 7" in stage.console.does("sluice peek flights")
    with ScriptedServer() as registry:
        found = {"id": 7, "version": 1, "subject": "flights-value", "schema": json.dumps(DEPARTURE)}
        registry.answers["/subjects/flights-value/versions/latest"] = document(found)
        registry.answers["/schemas/ids/7"] = document(found)
        connection = {"conn_type": "http", "extra": {"url": registry.url}}
        stage.flights.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = json.dumps(connection)
        yield
        _, _, history = yield
        assert "forward-1-2" in history
        assert len(stage.flights.quarantined()) == 3
        yield
        checked, _, dry, done = yield
        assert "0 with findings" in checked
        assert "1 batch, 3 offsets" in dry
        assert "backfill-1-1: 3 records" in done
        stage.send([framed("A3")], hour=6)
        stage.console.does(RUN)
        refused = stage.console.refuses("sluice reprocess flights --batch forward-1-1")
        assert "2 of 2 records are undecodable, and were not before" in refused
        stage.flights.write_spec(quarantine={"max_ratio": 1})
        stage.console.does("sluice reprocess flights --batch forward-1-1")
        assert {row["_offset"] for row in stage.flights.rows()} == {2, 3, 4, 5, 6}
        stage.flights.write_spec(format=DELAYS, quarantine={"max_ratio": 0})
        stage.console.does("sluice quarantine replay flights --all")
    carriers = {row["_offset"]: row["carrier"] for row in stage.flights.rows()}
    assert carriers == dict(enumerate(["UA", "UA", "UA", "A0", "A1", "A2", "A3"]))
    return stage.exact(7, decode=json_or_framed)


def framed(carrier: str) -> bytes:
    """A departure in Avro, as a registry's serialiser frames it."""
    body = io.BytesIO()
    fastavro.schemaless_writer(body, DEPARTURE, {"carrier": carrier, "dep_delay": 4.0})
    return b"\0\0\0\0\7" + body.getvalue()


def json_or_framed(value: bytes) -> dict[str, Any]:
    if value[:1] == b"\0":
        read: Any = fastavro.schemaless_reader(io.BytesIO(value[5:]), DEPARTURE, None)
        return dict(read)
    sent = json.loads(value)
    return {"carrier": sent["carrier"], "dep_delay": float(sent["dep_delay"])}


def dropped(stage: Stage) -> Scene:
    values = [*departures(2), b"{broken", *departures(1, dep_delay="late")]
    stage.landed_from(values, format=DELAYS, quarantine={"max_ratio": 1})
    shown, done = yield
    assert "flights[0] [2, 3) of forward-1-1" in shown
    assert "1 record dropped, and recorded as lost" in done
    (loss,) = stage.flights.offsets("loss")
    assert loss["reason"].endswith("test messages of the producer")
    return stage.exact(2, quarantined=1, dropped=frozenset({(0, 2)}))


def aside_lost(stage: Stage) -> Scene:
    values = [*departures(2), b"{broken", *departures(1)]
    stage.landed_from(values, format=DELAYS, quarantine={"max_ratio": 1})
    version = stage.flights.version()
    assert version is not None
    shutil.rmtree(stage.flights.warehouse / "flights__quarantine")
    assert "sluice quarantine recover" in stage.console.refuses(RUN)
    shown, done = yield
    assert "flights[0] [2, 3): read again" in shown
    assert "backfill-1-1: 0 records, 1 quarantined" in done
    stage.flights.run()
    # Nobody has any more what that version had in quarantine.
    return stage.exact(3, quarantined=1, altered=frozenset({version}))


def state_refused(stage: Stage) -> Scene:
    stage.landed(format=DELAYS, state={"key": ["carrier"], "order_by": ["_timestamp"]})
    stage.flights.open().refresh()
    shutil.rmtree(stage.flights.warehouse / "flights__state")
    assert "the state table that Sluice made, found none" in stage.console.refuses(RUN)
    preview, done = yield
    assert "14 rows" in preview
    assert "a row for each carrier: the newest by _timestamp" in preview
    assert "made anew from version" in done
    assert stage.flights.open().refresh() == []
    return stage.exact(14)


def restored(stage: Stage) -> Scene:
    stage.landed()
    version = DeltaTable(stage.flights.data).version()
    stage.send(departures(5), hour=10)
    stage.flights.run()
    DeltaTable(stage.flights.data).restore(version)
    assert "found forward-1-2 undone" in stage.console.refuses(RUN)
    yield
    stage.flights.run()
    assert stage.batch("forward-2-1") == {"[0]": (10, 15), "[1]": (4, 4)}
    return stage.exact(19)


def put_back(stage: Stage) -> Scene:
    stage.landed()
    backup = stage.flights.folder / "backup"
    shutil.copytree(stage.flights.data, backup)
    stage.send(departures(5), hour=10)
    stage.flights.run()
    shutil.rmtree(stage.flights.data)
    backup.rename(stage.flights.data)
    assert "an older copy was put back" in stage.console.refuses(RUN)
    yield
    stage.flights.run()
    assert stage.batch("forward-2-1") == {"[0]": (10, 15), "[1]": (4, 4)}
    return stage.exact(19)


def offsets_lost(stage: Stage) -> Scene:
    stage.landed()
    shutil.rmtree(stage.flights.warehouse / "flights__offsets")
    stage.send(departures(5), hour=10)
    assert "the offsets table is an older one, or lost" in stage.console.refuses(RUN)
    preview, done = yield
    assert "1 batch from the data table's log: forward-1-1 … forward-1-1" in preview
    assert "generation 2 is open" in done
    stage.flights.run()
    assert stage.batch("forward-2-1") == {"[0]": (10, 15), "[1]": (4, 4)}
    return stage.exact(19)


def table_gone(stage: Stage) -> Scene:
    stage.landed()
    shutil.rmtree(stage.flights.data)
    assert "found no table" in stage.console.refuses(RUN)
    yield
    assert len(list(stage.flights.warehouse.glob("flights__offsets__*"))) == 1
    return stage.exact(14)


def new_cluster(stage: Stage) -> Scene:
    stage.landed()
    before = read_truth(stage.broker.bootstrap, ["flights"])
    moved = stage.besides.enter_context(Broker(stage.flights.folder / "moved"))
    assert create_topic(moved.bootstrap, "flights", 2, {"retention.ms": "-1"})
    produce(moved.bootstrap, "flights", departures(5))
    stage.flights.bootstrap = moved.bootstrap
    assert "behind the same connection" in stage.console.refuses(RUN)
    yield
    assert stage.batch("forward-2-1") == {"[0]": (0, 5), "[1]": (0, 0)}
    return stage.exact(19, remembered=before, group=None)


def records_lost(stage: Stage) -> Scene:
    stage.landed_from(departures(5))
    stage.send(departures(4), hour=5)
    before = read_truth(stage.broker.bootstrap, ["flights"])
    delete_records(stage.broker.bootstrap, "flights", 7)
    refused = stage.console.refuses(RUN)
    assert "expected to go on at 5, found the log starting at 7: 2 offsets lost" in refused
    yield
    plan, _, status = yield
    assert "2 offsets lost" in plan
    assert "lost: 2 offsets in 1 loss record\n" in status
    return stage.exact(7, remembered=before)


def unexplained_gap(stage: Stage) -> Scene:
    stage.topic(1, segment_ms=HOUR_MS // 2)
    for hour in range(3):
        values, at = departures(5), stamp(hour)
        produce(stage.broker.bootstrap, "flights", values, timestamp=at)
    before = lost(stage.flights, stage.broker)
    assert "5 offsets are not accounted for" in stage.console.refuses(RUN)
    (verified,) = yield
    assert "lost: 5 offsets in 1 loss record\n" in verified
    assert "nothing new" in stage.console.does(RUN)
    return stage.exact(10, remembered=before)


def rows_differ(stage: Stage) -> Scene:
    stage.landed_from(departures(4))
    rows = DeltaTable(stage.flights.data).to_pyarrow_table()
    repeated = rows.filter(pc.equal(rows["_offset"], 1))
    write_deltalake(stage.flights.data, repeated, mode="append")
    red = stage.console.refuses("sluice verify flights")
    assert "`sluice reprocess flights --range 'flights[0] [1, 2)'` puts right" in red
    said, verified = yield
    assert "backfill-1-1: 1 record" in said
    assert "FAILED" not in verified
    return stage.exact(4, altered=frozenset({2}))


def maintained(stage: Stage) -> Scene:
    stage.landed()
    stage.send(departures(2), hour=10)
    stage.flights.run()
    (said,) = yield
    assert "removed from the quarantine" in said
    assert len(DeltaTable(stage.flights.data).file_uris()) == 1
    return stage.exact(16)


SCENES: dict[str, Callable[[Stage], Scene]] = {
    "Look": look,
    "Look at all pipelines": look_at_all,
    "Call a person": call_a_person,
    "Fill a topic to try things out": topic_filled,
    "Write a spec for a topic": spec_of_a_topic,
    "Check specs before they are deployed": check_specs,
    "Many topics, a table each": table_for_each,
    "Fetch Spark's jars": jars_fetched,
    "See which spec a batch was read with": which_spec,
    "Remove a pipeline": removed,
    "Rename a pipeline": renamed,
    "Backfill a time window": backfill_a_window,
    "Read again after a mended schema": read_again_after_a_mended_schema,
    "An unfinished backfill": unfinished_backfill,
    "Give an unfinished backfill up": unfinished_backfill_given_up,
    "Move the cursor": move_the_cursor,
    "A record that stops the line": record_that_stops_the_line,
    "Where a new pipeline begins": new_pipeline,
    "Take over from a streaming query": streaming_query,
    "Take over from kafka-delta-ingest": kafka_delta_ingest,
    "A changed start": changed_start,
    "A topic is gone": topic_is_gone,
    "A topic was created anew": topic_created_anew,
    "Look into the quarantine": quarantine,
    "Too many malformed records": too_many_malformed,
    "Replay quarantined records": replayed,
    "A number became text": number_became_text,
    "A field is gone": field_is_gone,
    "A topic changes to another format": format_changes,
    "Drop quarantined records": dropped,
    "The quarantine table lost rows": aside_lost,
    "The state table is refused": state_refused,
    "The table was restored": restored,
    "The table was put back from a backup": put_back,
    "The offsets table is lost, or another table is in its place": offsets_lost,
    "The table is gone for good": table_gone,
    "Kafka has moved to a new cluster": new_cluster,
    "Kafka has lost records": records_lost,
    "A gap that nothing explains": unexplained_gap,
    "Rows differ from Kafka": rows_differ,
    "Maintenance": maintained,
}
