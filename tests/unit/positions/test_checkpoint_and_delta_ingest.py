"""What another system left is read exactly, or refused with file, expected and found."""

from __future__ import annotations

import pytest
from sluice.errors import SettingsError
from sluice.positions.checkpoint import read_checkpoint
from sluice.positions.delta_ingest import last_written

from tests.unit.builders import partition

META = '{"batchWatermarkMs":0,"batchTimestampMs":1502872590006,"conf":{}}'
COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


def planned(*sources: str) -> str:
    return "\n".join(["v1", META, *sources])


class Left(dict[str, str]):
    """The files of a checkpoint, by path."""

    def __str__(self) -> str:
        return "/old"

    def names(self, inside: str) -> list[str]:
        return [path.partition("/")[2] for path in self if path.startswith(f"{inside}/")]

    def text(self, path: str) -> str:
        if path not in self:
            raise SettingsError(f"{self}/{path}: expected a text file")
        return self[path]


def test_the_start_is_the_end_of_the_last_committed_batch() -> None:
    left = Left(
        {
            "offsets/8": planned('{"flights":{"0":10,"1":4}}'),
            "offsets/9": planned('{"flights":{"1":5,"0":12}}'),
            "offsets/.9.crc": "crc",
            "commits/8": COMMIT,
            "commits/9": COMMIT,
            "commits/.10.0f.tmp": "",
            "sources/0/0": "v1\n{}",
        }
    )
    assert read_checkpoint(left) == {partition(0): 12, partition(1): 5}


def test_batches_that_were_purged_before_it_are_not_missed() -> None:
    left = Left({"offsets/107": planned('{"flights":{"0":12}}'), "commits/107": "v2\n{}"})
    assert read_checkpoint(left) == {partition(0): 12}


def test_the_kafka_sources_of_a_query_are_told_from_those_of_other_kinds() -> None:
    kinds = [
        '{"flights":{"0":12}}',
        '{"delays":{"0":3}}',
        '{"flights":{"0":12}}',
        '{"sourceVersion":1,"reservoirId":"22ef","reservoirVersion":3,"index":-1}',
        '{"logOffset":4}',
        "1502872590006",
        "-",
    ]
    left = Left({"offsets/0": planned(*kinds), "commits/0": COMMIT})
    assert read_checkpoint(left) == {partition(0): 12, partition(0, "delays"): 3}


BOTH = (
    r"flights\[0\] 12 or 20, flights\[1\] at its start or 3\."
    r" The sink may or may not hold .* query again"
)


def test_a_batch_that_was_planned_and_not_committed_is_refused_with_both_positions() -> None:
    files = Left(
        {
            "offsets/0": planned('{"flights":{"0":12}}'),
            "offsets/1": planned('{"flights":{"0":20,"1":3}}'),
            "commits/0": COMMIT,
        }
    )
    with pytest.raises(SettingsError, match=rf"committed batch 0, planned up to batch 1: {BOTH}"):
        read_checkpoint(files)
    del files["offsets/0"], files["commits/0"]
    with pytest.raises(SettingsError, match=r"found committed no batch, .* at its start or 20"):
        read_checkpoint(files)


def test_a_planned_batch_that_reads_nothing_leaves_no_doubt() -> None:
    ends = planned('{"flights":{"0":12}}')
    left = Left({"offsets/0": ends, "offsets/1": ends, "commits/0": COMMIT})
    assert read_checkpoint(left) == {partition(0): 12}


GOOD = planned('{"flights":{"0":12}}')


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, r"/old: expected the checkpoint of a streaming query, found no files"),
        ({"commits/7": COMMIT}, r"/old/offsets/7: expected a text file"),
        ({"offsets/7": "v2\n{}", "commits/7": COMMIT}, r"/old/offsets/7: expected version v1, fo"),
        ({"offsets/7": GOOD, "commits/7": "v3\n{}"}, "/old/commits/7: expected version v1 or v2"),
        ({"offsets/7": GOOD, "commits/7": ""}, r"/old/commits/7: expected version .*, found ''"),
        ({"offsets/7.compact": GOOD}, r"/old/offsets: expected files named .*, found 7\.compact"),
        (
            {"offsets/7": planned('{"flights":{"0":'), "commits/7": COMMIT},
            r"/old/offsets/7: expected a source's offsets as JSON, found",
        ),
        (
            {"offsets/7": planned('{"flights":{"0":-2}}'), "commits/7": COMMIT},
            r"/old/offsets/7: flights\[0\]: expected an offset, found -2",
        ),
        (
            {"offsets/7": planned('{"a":{"0":1}}', '{"a":{"0":2}}'), "commits/7": COMMIT},
            r"/old/offsets/7: a\[0\]: expected one position, found 1 and 2: two sources",
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_whatever_leaves_a_doubt_is_refused(files: dict[str, str], expected: str) -> None:
    with pytest.raises(SettingsError, match=expected):
        read_checkpoint(Left(files))


WRITTEN = {"old-app-0": 11, "old-app-12": 4, "b5ad3b7e-1c1d-4a1e-9b57-123456789012": 7, "x": 1}


def test_the_transactions_of_an_app_id_are_told_by_partition() -> None:
    assert last_written("/t", WRITTEN, "old-app") == {0: 11, 12: 4}
    assert last_written("/t", WRITTEN, None) == {0: 11, 12: 4}, "the only app id there is"


@pytest.mark.parametrize(
    ("app_id", "found", "expected"),
    [
        ("app", WRITTEN, "expected transactions of app id 'app', found those of 'old-app'"),
        (None, {**WRITTEN, "b-0": 1}, "expected one app id, found those of 'b', 'old-app'"),
        (None, {"x": 1}, "expected one app id, found those of none"),
    ],
)
def test_an_app_id_that_is_not_there_or_not_the_only_one_is_refused(
    app_id: str | None, found: dict[str, int], expected: str
) -> None:
    with pytest.raises(SettingsError, match=rf"/t: {expected}.*Name the `app_id`"):
        last_written("/t", found, app_id)
