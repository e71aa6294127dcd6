"""Topics of compressed and framed records land, and what was quarantined before is replayed."""

from __future__ import annotations

import gzip
import json
import zlib
from functools import partial
from operator import itemgetter
from typing import Any

import pytest
from sluice.offsets.quarantined import RecordFilter
from sluice.operations.backfill.replay import quarantined_records

from tests.decoding import reference_avro
from tests.decoding.avro_decoding import encoded, record
from tests.oracle.json_fields import reference_decoder
from tests.worlds.packed import as_container, as_single_object
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

JSON = {"type": "json", "schema": "id BIGINT, name STRING"}
GZIPPED = {**JSON, "compression": "gzip"}
USER = record({"id": "long", "name": "string"})


def row(number: int) -> bytes:
    return json.dumps({"id": number, "name": "Köln " * number}).encode()


def unzipped(value: bytes) -> dict[str, Any] | None:
    """As the reference decodes what Python's own library reads."""
    try:
        return reference_decoder(JSON["schema"])(gzip.decompress(value))
    except (OSError, EOFError, zlib.error):
        return None


def replay(trips: Installed) -> None:
    again = trips.open().backfill(quarantined_records(RecordFilter()), "test", "pytest")
    assert again.work is not None
    trips.ingest(again.work)
    trips.settle()


def test_what_was_found_to_be_gzip_lands_with_the_key_that_reads_it(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=JSON, quarantine={"max_ratio": 1})
    zipped = [gzip.compress(row(each)) for each in range(20)]
    two = gzip.compress(row(20)[:5]) + gzip.compress(row(20)[5:])
    produce(trips.bootstrap, trips.topics[0], [*zipped, two, zipped[0][:-4], row(1), None])
    trips.run()
    errors = [each["error"] for each in trips.quarantined()]
    assert set(errors) == {"not strict UTF-8: found gzip"}
    assert len(trips.rows()) == 2

    trips.write_spec(format=GZIPPED, quarantine={"max_ratio": 1})
    replay(trips)
    rows = sorted(trips.rows(), key=itemgetter("_offset"))
    assert [each["id"] for each in rows] == [*range(21), 1, None]
    assert [each["_tombstone"] for each in rows] == [False] * 22 + [True]
    (cut,) = [each for each in trips.quarantined() if each["error"].startswith("not gzip")]
    assert (cut["value"], cut["_offset"]) == (zipped[0][:-4], 21)
    assert cut["error"] == f"not gzip: found the end at byte {len(cut['value'])}"
    assert trips.sluice("verify").returncode == 0


def test_a_bomb_is_quarantined_and_the_others_land(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format=GZIPPED, quarantine={"max_ratio": 1})
    bomb = gzip.compress(bytes(100 << 20))
    produce(trips.bootstrap, trips.topics[0], [*map(gzip.compress, map(row, range(5))), bomb, None])
    trips.run()
    assert sorted(each["id"] for each in trips.rows() if each["id"] is not None) == [*range(5)]
    (aside,) = trips.quarantined()
    assert aside["error"] == "gzip: expected at most 67,108,864 bytes, found more"
    assert aside["value"] == bomb
    facts = trips.judge(decode=unzipped).facts
    assert (facts.rows, facts.quarantined) == (6, 1)
    assert trips.sluice("verify").returncode == 0


def framed(payloads: dict[bytes, bytes], value: bytes, text: str) -> dict[str, Any] | None:
    """As the reference decodes the payload that the value was made of; None of others."""
    found = reference_avro.decode(payloads[value], text) if value in payloads else None
    return found if isinstance(found, dict) else None


@pytest.mark.parametrize("frame", ["container", "single_object"])
def test_values_and_keys_land_from_their_frames(
    topic: Topic, pipeline: Pipelines, frame: str
) -> None:
    form = {"type": "avro", "schema_file": "user.avsc", "frame": frame}
    trips = pipeline(topic(), quarantine={"max_ratio": 1})
    (trips.spec_file.parent / "user.avsc").write_text(json.dumps(USER))
    trips.write_spec(format=form, key_format={**form, "frame": "single_object"})
    rows = [{"id": each, "name": "x"} for each in range(10)]
    made = as_single_object if frame == "single_object" else lambda of, one: as_container(of, [one])
    values = {made(USER, each): encoded(USER, each) for each in rows}
    key = as_single_object(USER, {"id": -1, "name": "key"})
    bare, two = encoded(USER, rows[0]), as_container(USER, rows[:2])
    produce(trips.bootstrap, trips.topics[0], [*values, bare, two, None], key=key)
    trips.run()
    found = sorted(trips.rows(), key=itemgetter("_offset"))
    assert [each["id"] for each in found] == [*range(10), None]
    assert {(each["_key"], each["_key_id"], each["_key_name"]) for each in found} == {
        (key, -1, "key")
    }
    assert {each["value"] for each in trips.quarantined()} == {bare, two}
    facts = trips.judge(decode=partial(framed, values, text=json.dumps(USER))).facts
    assert (facts.rows, facts.quarantined) == (11, 2)
    assert trips.sluice("verify").returncode == 0
