"""Bad input of every kind, to every format: no batch fails, and each record is in one table, once.

What decodes, and to which values, is said by other libraries, or by Protobuf's own parser.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.oracle.json_fields import same
from tests.worlds.bad_avro import AVRO
from tests.worlds.bad_bytes import FOREIGN, arbitrary, damaged, drawn_around
from tests.worlds.bad_json import JSON
from tests.worlds.bad_protobuf import PROTOBUF
from tests.worlds.corpus import RAW, Corpus
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce, send

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.seam]

ANYTHING = {"max_ratio": 1.0}
Rows = dict[tuple[int, int], dict[str, Any]]


def install(corpus: Corpus, topic: str, pipeline: Pipelines, **keys: Any) -> Installed:
    """A pipeline that may quarantine all, with the format's files beside its spec."""
    trips = pipeline(topic, quarantine=ANYTHING)
    for name, content in corpus.files.items():
        (trips.spec_file.parent / name).write_bytes(content)
    trips.write_spec(**{"format": dict(corpus.form), **keys})
    return trips


def bad(corpus: Corpus) -> list[bytes]:
    """All that is not known to be good; some of it happens to be."""
    good = [corpus.one(number) for number in (1, 300, -(2**40))]
    around = drawn_around([*good, *(each for each in corpus.odd if len(each) < 500)], 150)
    return [*corpus.odd, *damaged(good[1]), *FOREIGN, *arbitrary(17, 60), *around]


def by_place(rows: Iterable[dict[str, Any]]) -> Rows:
    found = [((row["_partition"], row["_offset"]), row) for row in rows]
    assert len(found) == len(dict(found))
    return dict(found)


def assert_as_decoded(corpus: Corpus, value: bytes | None, row: dict[str, Any]) -> None:
    """The row has what the record holds: of a tombstone nothing."""
    fields = {name: each for name, each in row.items() if not name.startswith("_")}
    expected = dict.fromkeys(fields) if value is None else corpus.decode(value)
    assert row["_tombstone"] == (value is None)
    assert same(expected, fields), f"{value!r}: {fields}, expected {expected}"


def assert_put_aside(value: bytes | None, row: dict[str, Any]) -> None:
    """The row has the bytes, and one line that says why, of a length that people read."""
    assert row["value"] == value
    assert 0 < len(row["error"]) < 400
    assert min(row["error"]) >= " "


@pytest.mark.parametrize("corpus", [RAW, JSON, AVRO, PROTOBUF], ids=lambda each: each.form["type"])
def test_each_record_is_either_decoded_or_put_aside_with_the_reason(
    corpus: Corpus, topic: Topic, pipeline: Pipelines
) -> None:
    trips = install(corpus, topic(2), pipeline)
    good = [corpus.one(number) for number in range(20)]
    assert all(map(corpus.decode, good))
    sent = [None, *good[:10], *bad(corpus), *good[10:], None]
    for partition, key in enumerate((b"\xff", None)):
        produce(trips.bootstrap, trips.topics[0], sent, partition, key=key)
    trips.run()

    data, aside = by_place(trips.rows()), by_place(trips.quarantined())
    assert not data.keys() & aside.keys()
    assert data.keys() | aside.keys() == {(n, at) for n in (0, 1) for at in range(len(sent))}
    for (_, offset), row in data.items():
        assert_as_decoded(corpus, sent[offset], row)
    for (_, offset), row in aside.items():
        value = sent[offset]
        assert_put_aside(value, row)
        assert value is not None
        assert corpus.decode(value) is None, f"{value!r}: {row['error']}"
    said = {sent[offset]: row["error"] for (_, offset), row in aside.items()}
    assert {value: said.get(value) for value in corpus.odd} == corpus.odd
    trips.judge(decode=corpus.decode)

    before = trips.version(), len(trips.rows()), len(trips.quarantined())
    assert trips.run() == []
    assert (trips.version(), len(trips.rows()), len(trips.quarantined())) == before


@pytest.mark.parametrize("corpus", [JSON, AVRO, PROTOBUF], ids=lambda each: each.form["type"])
def test_a_bad_key_puts_its_record_aside(corpus: Corpus, topic: Topic, pipeline: Pipelines) -> None:
    trips = install(corpus, topic(), pipeline, format=RAW.form, key_format=dict(corpus.form))
    keys = [None, *bad(corpus), corpus.one(7)]
    values = [RAW.one(number) for number in range(len(keys))]
    producer = Producer({"bootstrap.servers": trips.bootstrap, "log_level": 0})
    for key, value in zip(keys, values, strict=True):
        send(producer, trips.topics[0], [value], key=key)
    trips.run()

    data, aside = by_place(trips.rows()), by_place(trips.quarantined())
    for (_, offset), row in data.items():
        held = {name[5:]: each for name, each in row.items() if name.startswith("_key_")}
        key = keys[offset]
        expected = dict.fromkeys(held) if key is None else corpus.decode(key)
        assert same(expected, held), f"{key!r}: {held}, expected {expected}"
    for (_, offset), row in aside.items():
        assert_put_aside(values[offset], row)
        assert row["_key"] == keys[offset]
        assert row["error"].startswith("key: ")
        assert corpus.decode(row["_key"]) is None, f"{row['_key']!r}: {row['error']}"
    refused = {values[offset] for _, offset in aside}
    trips.judge(decode=lambda value: None if value in refused else RAW.decode(value))
