"""A checkpoint that an S3 server does not give out is no damage: nothing is to be moved away."""

from __future__ import annotations

from itertools import product

import pytest
from deltalake import DeltaTable
from sluice.errors import StoreUnavailable
from sluice.tables.commits import transaction_versions
from sluice.tables.removed_files import removed_files
from sluice.tables.rows import removed_rows

from tests.production.worlds.answers import Answers
from tests.production.worlds.bucket_pipelines import InBucket

pytestmark = [pytest.mark.integration, pytest.mark.spark]

CHECKPOINT = r"\.checkpoint\.parquet$"
# What delta-rs says only in an error's text.
SAID = {401: "lacked valid authentication", 403: "lacked the necessary privileges", 503: "S3 error"}


@pytest.fixture
def trips(landed_in_bucket: InBucket) -> InBucket:
    """The pipeline, with checkpoints of both tables."""
    for table in ("trips", "trips__offsets"):
        DeltaTable(f"{landed_in_bucket.uri}/{table}").create_checkpoint()
    return landed_in_bucket


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
    trips.exact()


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
            lambda: removed_files(data, deleted),
            lambda: transaction_versions(data),
        ):
            with pytest.raises(StoreUnavailable, match=r"its files cannot be read: .*503"):
                ask()
    found = removed_rows(DeltaTable(data), deleted, columns, keys)
    assert found is not None
    assert sorted(found["_offset"].to_pylist()) == [0, 1, 2]
