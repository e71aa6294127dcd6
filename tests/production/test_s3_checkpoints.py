"""A checkpoint that an S3 server does not give out is no damage: nothing is to be moved away."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from deltalake import DeltaTable
from sluice.errors import StoreUnavailable
from sluice.tables.commits import transaction_versions
from sluice.tables.removed_files import removed_files
from sluice.tables.rows import removed_rows

from local.embedded.spark_server import SparkServer
from tests.production.worlds.answers import Answers
from tests.production.worlds.bucket_pipelines import InBucket
from tests.production.worlds.network import Network
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

CHECKPOINT = r"\.checkpoint\.parquet$"
# What delta-rs says only in an error's text.
SAID = {401: "lacked valid authentication", 403: "lacked the necessary privileges", 503: "S3 error"}


@pytest.fixture
def trips(
    in_bucket: Callable[..., InBucket],
    topic: Callable[..., str],
    network: Network,
    s3_server: SparkServer,
) -> InBucket:
    """A pipeline with a landed batch, checkpoints of both tables, and ten more records."""
    made = in_bucket(topic(), port=network.listens)
    made.server = s3_server
    produce(made.bootstrap, made.topics[0], numbered(10))
    done = made.process("run")
    assert done.returncode == 0, done.stderr
    for table in ("trips", "trips__offsets"):
        DeltaTable(f"{made.uri}/{table}").create_checkpoint()
    produce(made.bootstrap, made.topics[0], numbered(10, 10))
    return made


def test_a_table_whose_checkpoint_is_not_given_out_is_read_again_later(
    trips: InBucket, answers: Answers
) -> None:
    for table, answer in product(("trips", "trips__offsets"), SAID):
        with answers.to("GET", f"/{table}/_delta_log/.*{CHECKPOINT}", answer=answer):
            refused = [trips.sluice(command) for command in ("plan", "recover")]
            assert answers.met()
        for done in refused:
            assert done.returncode == 1
            assert f"{table}: its files cannot be read: " in done.stderr
            assert SAID[answer] in done.stderr
            assert "run again when the store answers" in done.stderr
            assert "move its folder" not in done.stderr
            assert "copy of the table" not in done.stderr
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert trips.judge().facts.rows == 20


def test_rows_that_somebody_deleted_are_not_given_up_for_it(
    trips: InBucket, answers: Answers
) -> None:
    """Nothing would be known of them then, and a reset would be refused as bringing them back."""
    data = f"{trips.uri}/trips"
    columns, keys = ["_topic_id", "_partition", "_offset"], ["_partition", "_offset"]
    DeltaTable(data).delete("_offset < 3")
    deleted = DeltaTable(data).version()
    with answers.to("GET", f"/trips/_delta_log/.*{CHECKPOINT}", answer=503):
        for ask in (
            lambda: removed_rows(data, deleted, columns, keys),
            lambda: removed_files(data, deleted),
            lambda: transaction_versions(data),
        ):
            with pytest.raises(StoreUnavailable, match=r"its files cannot be read: .*503"):
                ask()
    found = removed_rows(data, deleted, columns, keys)
    assert found is not None
    assert sorted(found["_offset"].to_pylist()) == [0, 1, 2]
