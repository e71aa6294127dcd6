"""The demo's state table: its figures say whether each plane has its newest flight there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from local.demo.planes import Planes, print_planes, read_planes

Row = dict[str, Any]
TYPES = pa.schema(
    [
        ("tailnum", pa.string()),
        ("dest", pa.string()),
        ("_topic", pa.string()),
        ("_topic_id", pa.string()),
        ("_partition", pa.int32()),
        ("_offset", pa.int64()),
        ("_timestamp", pa.timestamp("us", "UTC")),
        ("_headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("_batch", pa.string()),
    ]
)
LEFT = [each for each in TYPES if each.name not in ("_headers", "_batch")]
STATE = pa.schema([*LEFT, ("_deleted", pa.bool_())])
VERDICT = {
    "stands_at": 3,
    "behind": 0,
    "differing": 0,
    "last_refresh": {"updated": 1_204, "superseded": 165_000, "unkeyed": 1_234},
}


def flight(plane: str | None, day: int, partition: int = 0, offset: int = 0) -> Row:
    place = {"_topic": "flights", "_topic_id": "A", "_partition": partition, "_offset": offset}
    at = datetime(2013, 1, day, tzinfo=UTC)
    return {"tailnum": plane, "dest": "IAH", **place, "_timestamp": at, "_batch": "forward-1-1"}


LOG = [
    flight("N1", 3, partition=1),
    flight("N1", 2, offset=9),
    flight("N2", 2, offset=7),
    flight("N2", 2, offset=8),
    flight(None, 4, offset=10),
]
RIGHT = [{**LOG[0], "_deleted": False}, {**LOG[3], "_deleted": False}]


def found(folder: Path, state: list[Row]) -> Planes:
    write_deltalake(folder / "flights", pa.Table.from_pylist(LOG, TYPES))
    rows = pa.Table.from_pylist(state, STATE)
    write_deltalake(folder / "flights__state", rows)
    return read_planes(folder)


def off(planes: Planes, **more: Any) -> list[str]:
    """The names of the figures that are not as expected."""
    figures = planes.figures({**VERDICT, **more})
    return [name for name, (expected, seen) in figures.items() if expected != seen]


def test_the_newest_flight_of_each_plane_is_right(tmp_path: Path) -> None:
    planes = found(tmp_path, RIGHT)
    assert planes == Planes(rows=2, keys=2, in_the_log=2, deleted=0, outdated=0)
    assert off(planes) == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (lambda rows: rows[:1], ["planes in the log = rows of the state", "not their newest"]),
        (lambda rows: [*rows, rows[0]], ["planes in the log = rows", "more than one row"]),
        (lambda rows: [rows[0], {**rows[1], "_offset": 7}], ["not their newest"]),
        (lambda rows: [rows[0], {**rows[1], "dest": "ORD"}], ["not their newest"]),
    ],
    ids=["a plane is missing", "a plane is there twice", "an older flight", "another value"],
)
def test_what_is_wrong_is_a_figure(
    tmp_path: Path, fault: Callable[[list[Row]], list[Row]], told: list[str]
) -> None:
    names = off(found(tmp_path, fault(RIGHT)))
    assert [text for text in told if not any(text in name for name in names)] == []
    assert len(names) == len(told)


@pytest.mark.parametrize("said", ["behind", "differing"])
@pytest.mark.parametrize("value", [1, None])
def test_a_state_that_is_behind_or_differs_or_was_not_compared_is_a_figure(
    said: str, value: int | None
) -> None:
    assert len(off(Planes(2, 2, 2, 0, 0), **{said: value})) == 1


def test_the_report_says_where_it_stands_and_what_the_last_refresh_did(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_planes(Planes(4_043, 4_043, 4_043, 0, 0), VERDICT)
    shown = capsys.readouterr().out
    assert "flights__state" in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("4,043")]
    counts = "1,204 updated, 165,000 superseded, 1,234 unkeyed"
    assert row.split() == ["4,043", "0", "3", *counts.split()]
