"""docs/sources: the records of each scene land with its spec, and its queries find what it shows.

Each scene ends in a state that both the oracle and `sluice verify` accept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from local.embedded.broker import Broker
from local.embedded.topics import create_topic
from tests.worlds.pipelines import Installed
from tests.worlds.records import delete_topic
from tests.worlds.source_pages import Query, Scene, SourcePage, pages, read_page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker of its own: the topics have the names that the pages give them."""
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_a_page_shows_what_its_records_become(
    page: Path, kafka: Broker, spark: SparkSession, tmp_path: Path
) -> None:
    found = read_page(page.read_text(encoding="utf-8"))
    for number, scene in enumerate(found.scenes, 1):
        topics = sent(scene, kafka.bootstrap)
        read = [each for each in topics if is_read(each, scene.spec)]
        name = scene.spec["pipeline"]
        trips = Installed(tmp_path / str(number), kafka.bootstrap, read, lambda: spark, name=name)
        try:
            land(scene, found, trips)
            shown(scene, trips, spark)
            exact(scene, trips)
        finally:
            for each in topics:
                delete_topic(kafka.bootstrap, each)


def sent(scene: Scene, bootstrap: str) -> list[str]:
    """Produce the records into new topics. Returns the names of the topics."""
    named = scene.spec.get("topics", [])
    places = [each.topic or named[0] for each in scene.records]
    topics = [*dict.fromkeys([*named, *places])]
    for each in topics:
        assert create_topic(bootstrap, each, 1, {"retention.ms": "-1"}), f"{each} exists"
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for topic, each in zip(places, scene.records, strict=True):
        more: dict[str, Any] = {"headers": [*each.headers], "timestamp": each.timestamp}
        producer.produce(topic, each.value, each.key, partition=0, **more)
    assert producer.flush(60) == 0
    return topics


def is_read(topic: str, spec: Any) -> bool:
    if topic in spec.get("except_topics", []):
        return False
    pattern = spec.get("topic_pattern")
    return topic in spec["topics"] if pattern is None else bool(re.fullmatch(pattern, topic))


def land(scene: Scene, page: SourcePage, trips: Installed) -> None:
    """Run the pipeline. Of so few records, any number may go to quarantine."""
    trips.write_spec(**{"quarantine": {"max_ratio": 1}, **scene.spec})
    page.write_files(trips.spec_file.parent)
    trips.run()
    trips.open().refresh()


def shown(scene: Scene, trips: Installed, spark: SparkSession) -> None:
    """The queries find the results of the page, which shows what is in quarantine, too."""
    quarantine, state = f"{trips.name}__quarantine", f"{trips.name}__state"
    besides = [quarantine] * bool(trips.quarantined()) + [state] * ("state" in scene.spec)
    for name in [trips.name, *besides]:
        frame = spark.read.format("delta").load(str(trips.warehouse / name))
        frame.createOrReplaceTempView(name)
    for query in scene.queries:
        assert answer(query, spark) == [*query.result], query.statements[-1]
    told = any(quarantine in each.statements[-1] for each in scene.queries)
    errors = [each["error"] for each in trips.quarantined()]
    assert told or not errors, f"expected a query of {quarantine}, as these are there: {errors}"


def answer(query: Query, spark: SparkSession) -> list[str]:
    """The last statement's result, as Spark writes each value as text."""
    *before, last = (partial(spark.sql, each) for each in query.statements)
    for each in before:
        each()
    frame = last()
    texts = frame.toDF(*map(str, range(len(frame.columns)))).selectExpr(
        *(f"CAST(`{number}` AS STRING)" for number in range(len(frame.columns)))
    )
    rows = [["null" if text is None else text for text in row] for row in texts.collect()]
    return [" | ".join(cells).rstrip() for cells in [frame.columns, *rows]]


def exact(scene: Scene, trips: Installed) -> None:
    """The queries have compared the fields; here, each record is in one of the tables, once.

    A state table is compared with its data table.
    """
    refused = {each["value"] for each in trips.quarantined()}
    stored = {each["_offset"] for each in trips.rows() + trips.quarantined()}
    kinds: dict[str, Any] = {}
    if "only" in scene.spec:
        kinds = {"keeps": lambda record: record["offset"] in stored}
    trips.judge(decode=lambda value: None if value in refused else {}, fields=False, **kinds)
    verdict = trips.open().verify(lambda wanted, offset: None)
    assert verdict.is_exact, verdict
    assert (verdict.state is not None) == ("state" in scene.spec)
