"""What a condition leaves out goes first; only then is asked what a record has to have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sluice.lake.batch_rows import error_of, judged_by_rules, marked_by
from sluice.lake.decoding.decode import decoder_of
from sluice.lake.left_out import LEFT_OUT
from sluice.lake.port import BatchAttempt
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit import builders

BASE = {"version": 1, "pipeline": "p", "topics": ["t"], "table": "p"}
COLUMNS = (
    "topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, key BINARY, value BINARY,"
    " headers ARRAY<STRUCT<key STRING, value BINARY>>"
)
FORM = {"type": "json", "schema": "kind STRING, id BIGINT"}
OTHER, LANDS = "left out", "lands"
ID_LACKS = "id: expected a value, as it is required, found none"
UNMATCHED = "expected one of the declared fields (kind, id), found "


def judged(
    spark: SparkSession,
    spec: Mapping[str, Any],
    values: Sequence[bytes | None],
    key: bytes | None = None,
) -> list[str]:
    """What becomes of each value: it is left out, it lands, or its error."""
    read = PipelineSpec.model_validate({**BASE, **spec})
    batch = builders.batch(builders.offsets(0, 9, topic="t"))
    attempt = BatchAttempt(batch, (), "attempt")
    records = [("t", 0, at, None, key, each, None) for at, each in enumerate(values)]
    decoded = spark.createDataFrame(records, COLUMNS)
    for source in read.formats.by_source:
        decoded = decoder_of(read.formats, source, {})(decoded)
    assert read.only is not None
    condition = read.only.condition(read.readable)
    marked = marked_by(decoded, read, attempt, condition, LEFT_OUT)
    ruled = judged_by_rules(marked, read, attempt, ())
    told = F.when(F.col(LEFT_OUT), F.lit(OTHER)).otherwise(F.coalesce(error_of(read), F.lit(LANDS)))
    rows = ruled.select("offset", told.alias("told")).orderBy("offset").collect()
    return [row["told"] for row in rows]


def test_a_record_of_another_kind_need_not_have_what_is_required(spark: SparkSession) -> None:
    spec = {"format": FORM, "only": {"where": "kind = 'order'"}, "required": ["id"]}
    values = [
        b'{"kind":"order","id":1}',
        b'{"kind":"click"}',
        b'{"kind":"order"}',
        # Its kind is unknown: it is asked what it lacks.
        b'{"kind":null}',
        b'{"id":7}',
        b'{"kind":"click","id":"x"}',
        None,
    ]
    assert judged(spark, spec, values) == [
        *(LANDS, OTHER, ID_LACKS, ID_LACKS, OTHER),
        'id: expected BIGINT, found "x"',
        LANDS,
    ]


def test_a_record_without_any_field_is_left_out_where_the_condition_says_so(
    spark: SparkSession,
) -> None:
    values = [b'{"ID":1}', b"{}"]
    told = [f"{UNMATCHED}ID", f"{UNMATCHED}an object without fields"]
    by_field = {"format": FORM, "only": {"where": "kind = 'order'"}}
    assert judged(spark, by_field, values) == told
    lacks = {"format": FORM, "only": {"where": "kind <> 'click'"}, "required": ["id"]}
    assert judged(spark, lacks, values) == told
    sure = {"format": FORM, "only": {"where": "coalesce(kind, '') = 'order'"}}
    assert judged(spark, sure, values) == [OTHER, OTHER]
    elsewhere = {"format": FORM, "only": {"where": "_partition > 0"}}
    assert judged(spark, elsewhere, values) == [OTHER, OTHER]
    kept = {"format": FORM, "only": {"where": "_partition = 0"}}
    assert judged(spark, kept, values) == told
    allowed = {**by_field, "format": {**FORM, "allow_unmatched": True}}
    assert judged(spark, allowed, values) == [OTHER, OTHER]


def test_what_a_key_lacks_is_asked_last_as_well(spark: SparkSession) -> None:
    spec = {
        "format": FORM,
        "key_format": {"type": "json", "schema": "k BIGINT"},
        "only": {"where": "kind = 'order'"},
        "required": ["_key_k"],
    }
    values = [b'{"kind":"order"}', b'{"kind":"click"}', b"{}"]
    lacks = "key: k: expected a value, as it is required, found none"
    found = judged(spark, spec, values)
    assert found == [lacks, OTHER, f"{UNMATCHED}an object without fields"]
    assert judged(spark, spec, values[:2], b'{"k":1}') == [LANDS, OTHER]
    # A key that cannot be read: as ever, the record's kind is unknown.
    assert judged(spark, spec, values[1:2], b"x")[0].startswith("key: ")


def test_other_formats_and_compressed_records_are_judged_alike(spark: SparkSession) -> None:
    packed = {"format": {**FORM, "compression": "gzip"}, "only": {"where": "kind = 'order'"}}
    assert judged(spark, packed, [b"no gzip"])[0] not in (LANDS, OTHER)
    raw = {"format": {"type": "raw"}, "only": {"where": "_partition = 0"}}
    assert judged(spark, raw, [b"x", None]) == [LANDS, LANDS]
    taken = {
        "format": FORM,
        "columns": {"at": {"from": "at", "type": "TIMESTAMP", "unit": "s"}},
        "only": {"where": "kind = 'order' AND at IS NOT NULL"},
        "required": ["at"],
    }
    values = [b'{"kind":"order","at":1}', b'{"kind":"click"}', b'{"kind":"order"}']
    assert judged(spark, taken, values) == [LANDS, OTHER, OTHER]


def test_deletes_are_left_out_though_their_rows_lack_fields(spark: SparkSession) -> None:
    spec = {
        "format": {**FORM, "envelope": "debezium"},
        "only": {"where": "_op <> 'd'"},
        "required": ["id"],
    }

    def event(**parts: Any) -> bytes:
        return json.dumps({"source": {"ts_ms": 1}, **parts}).encode()

    values = [
        event(op="c", after={"kind": "a", "id": 1}),
        event(op="d", before={"ID": 1}),
        event(op="d", before={"kind": "a"}),
        event(op="u", after={"kind": "a"}),
        event(op="u", after={"ID": 1}),
        b'{"ts_ms": 1}',
    ]
    assert judged(spark, spec, values) == [
        *(LANDS, OTHER, OTHER, ID_LACKS),
        f"after: {UNMATCHED}ID",
        "expected a change event of Debezium, found a heartbeat",
    ]
