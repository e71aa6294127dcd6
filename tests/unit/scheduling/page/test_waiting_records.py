"""The section of the quarantine: what waits, by reason, and what to do about it."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

import click
from sluice.cli import command_line
from sluice.offsets.error_groups import group_errors
from sluice.offsets.notation import parse_range
from sluice.offsets.quarantined import (
    QuarantinedRecord,
    RecordFilter,
    RecordState,
    error_pattern,
)
from sluice.operations.quarantine.listing import QuarantineListing
from sluice.progress.quarantined_records import Record
from sluice.scheduling.page.waiting_records import read_again_conf, waiting_records

from tests.unit.builders import TOPIC_ID, partition

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def row(offset: int, error: str, state: RecordState = RecordState.LIVE) -> QuarantinedRecord:
    return QuarantinedRecord(partition(), offset, TOPIC_ID, "forward-1-1", error, NOW, state)


BAD = [row(at, 'value: it\'s "cut" off') for at in (3, 4, 9)]
WORSE = row(20, "no JSON")
LISTING = QuarantineListing(
    tuple(group_errors([*BAD, WORSE])),
    tuple(group_errors([row(30, "no JSON", RecordState.WAITING)])),
    {WORSE: Record(WORSE, NOW, None, (), b"{<b>")},
    (),
    *(0, 0, None),
)


def test_reasons_come_with_their_number_a_sample_and_what_to_do() -> None:
    found = waiting_records("flights", LISTING)
    first, second = found.reasons
    assert (found.records, found.uncommitted, found.more) == (4, 1, 0)
    assert (first.records, first.sample) == (3, "flights[0]@9")
    assert second.sample == "flights[0]@20: {<b>"
    assert str(second.replay) == "sluice quarantine replay flights --reason-like 'no JSON'"
    assert str(second.drop).endswith("--reason-like 'no JSON' --reason …")


def test_the_commands_choose_these_records_and_exist() -> None:
    for each in waiting_records("flights", LISTING).reasons:
        for move in (each.replay, each.drop):
            _, *words = shlex.split(str(move))
            group, command, *_ = words
            quarantine = command_line.get_command(click.Context(command_line), group)
            assert isinstance(quarantine, click.Group)
            assert command in quarantine.list_commands(click.Context(quarantine))
            asked = RecordFilter(reason_like=words[words.index("--reason-like") + 1])
            chosen = [row for row in [*BAD, WORSE] if row in asked]
            assert {error_pattern(row.error) for row in chosen} == {each.text}
            assert len(chosen) == each.records


def test_the_form_reads_exactly_their_offsets_again() -> None:
    conf = read_again_conf([*BAD, WORSE])
    assert conf is not None
    assert conf["dry_run"] is True
    ranges = conf["reprocess_ranges"]
    assert ranges == ["flights[0] [3, 5)", "flights[0] [9, 10)", "flights[0] [20, 21)"]
    assert all(parse_range(each).span for each in ranges)


def test_the_form_has_no_room_for_very_many_ranges() -> None:
    apart = [row(2 * each, "no JSON") for each in range(1001)]
    assert read_again_conf(apart) is None
    assert read_again_conf(apart[:1000]) is not None
    assert read_again_conf([]) is None


def test_of_many_reasons_the_most_frequent_are_shown() -> None:
    words = [row(at, f"kind {chr(97 + at // 26)}{chr(97 + at % 26)}") for at in range(30)]
    listing = QuarantineListing(tuple(group_errors(words)), (), {}, (), 0, 0, None)
    found = waiting_records("flights", listing)
    assert (len(found.reasons), found.more, found.records) == (20, 10, 30)


def test_each_batch_has_the_places_of_its_reasons() -> None:
    found = waiting_records("flights", LISTING)
    assert found.by_batch == {"forward-1-1": {0: 3, 1: 1}}
    many = [row(at, f"kind {chr(97 + at)}") for at in range(9)]
    listing = QuarantineListing(tuple(group_errors(many)), (), {}, (), 0, 0, None)
    assert waiting_records("flights", listing).by_batch == {
        "forward-1-1": {0: 1, 1: 1, 2: 1, 3: 1, 4: 5}
    }
