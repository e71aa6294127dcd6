"""Causes of losses: their texts never change, and what was stored reads as what it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.loss_causes import LossCause, LossKind, format_cause, parse_cause

# As they stand in offsets tables. Never edit one: add a form, and keep reading these.
STORED = [
    ("retention or deleted records", LossCause(LossKind.RETENTION)),
    (
        "retention or deleted records, after planning",
        LossCause(LossKind.RETENTION_AFTER_PLANNING),
    ),
    ("gone before the first batch was planned", LossCause(LossKind.BEFORE_FIRST_PLAN)),
    ("gone before the new partition was first seen", LossCause(LossKind.BEFORE_NEW_PARTITION)),
    (
        "gone before a recovery: why it was not read is no longer known",
        LossCause(LossKind.BEFORE_RECOVERY),
    ),
    ("gone with the data table, and no longer in the log", LossCause(LossKind.WITH_TABLE)),
    (
        "not in the copy of the table that a recovery went on with; accepted by ana: a copy",
        LossCause(LossKind.LEFT_BEHIND, "ana", "a copy"),
    ),
    ("present in the log but not in the table", LossCause(LossKind.PRESENT)),
    ("not in the log, and the topic does not compact", LossCause(LossKind.ABSENT)),
    (
        "below the log start: what was there can no longer be told",
        LossCause(LossKind.DELETED),
    ),
    ("beyond the end of the log", LossCause(LossKind.BEYOND)),
    ("the topic is gone: what was there can no longer be told", LossCause(LossKind.GONE)),
    (
        "the topic is gone: what was there can no longer be told; accepted by ana: for good",
        LossCause(LossKind.GONE, "ana", "for good"),
    ),
    (
        "not counted: rows of it may be in the table; accepted by ana: the log was cleaned up",
        LossCause(LossKind.UNCOUNTED, "ana", "the log was cleaned up"),
    ),
    (
        "below the log start: what was there can no longer be told; not read again, the rows that"
        " were there stay",
        LossCause(LossKind.NOT_READ_AGAIN),
    ),
    (
        "not in the log, and the topic does not compact; accepted by ana: a broker died: its disk",
        LossCause(LossKind.ABSENT, "ana", "a broker died: its disk"),
    ),
    (
        "below the log start: what was there can no longer be told; accepted by ana: too late",
        LossCause(LossKind.DELETED, "ana", "too late"),
    ),
    (
        "present in the log but not in the table; accepted by ana: x",
        LossCause(LossKind.PRESENT, "ana", "x"),
    ),
    ("beyond the end of the log; accepted by ana: ", LossCause(LossKind.BEYOND, "ana", "")),
    ("skipped by ana: it breaks", LossCause(LossKind.SKIPPED, "ana", "it breaks")),
    ("skipped by ana: why: two\nlines", LossCause(LossKind.SKIPPED, "ana", "why: two\nlines")),
    ("skipped by a person", LossCause(LossKind.SKIPPED, "a person")),
    ("skipped by ", LossCause(LossKind.SKIPPED, "")),
    (
        "dropped from quarantine by ana: no use",
        LossCause(LossKind.DROPPED, "ana", "no use"),
    ),
    (
        "gone from quarantine, and from the log; accepted by ana: no copy",
        LossCause(LossKind.ASIDE_GONE, "ana", "no copy"),
    ),
]


@pytest.mark.parametrize(("text", "cause"), STORED, ids=lambda case: str(case)[-40:])
def test_what_was_stored_reads_as_it_was_meant_and_is_written_the_same(
    text: str, cause: LossCause
) -> None:
    assert parse_cause(text) == cause
    assert format_cause(cause) == text
    assert str(cause) == text.removesuffix(": "), "without a reason that is not given yet"


def test_every_kind_has_a_stored_text_that_is_pinned() -> None:
    assert {cause.kind for _, cause in STORED} == set(LossKind) - {LossKind.UNKNOWN}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "unknown",
        "skipped",
        "skipped over",
        "Skipped by ana: why",
        "retention",
        "retention or deleted records; accepted by ana: why",
        "a reset skipped by ana: why",
        "dropped from quarantine",
    ],
)
def test_an_unknown_text_is_kept_as_it_is(text: str) -> None:
    assert parse_cause(text) == LossCause(LossKind.UNKNOWN, reason=text)
    assert str(parse_cause(text)) == text


@pytest.mark.parametrize(
    ("kind", "actor"),
    [
        (LossKind.SKIPPED, None),
        (LossKind.DROPPED, None),
        (LossKind.UNCOUNTED, None),
        (LossKind.RETENTION, "ana"),
        (LossKind.NOT_READ_AGAIN, "ana"),
        (LossKind.UNKNOWN, "ana"),
    ],
)
def test_a_person_is_named_where_a_person_decides_and_nowhere_else(
    kind: LossKind, actor: str | None
) -> None:
    with pytest.raises(ValueError, match=f"{kind}: actor {actor!r} does not go with it"):
        LossCause(kind, actor)


actors = st.text().filter(lambda text: ": " not in text)
PERSONS = [
    *(LossKind.SKIPPED, LossKind.DROPPED, LossKind.ASIDE_GONE),
    *(LossKind.UNCOUNTED, LossKind.LEFT_BEHIND),
]
GAPS = [
    LossKind.PRESENT,
    LossKind.ABSENT,
    LossKind.DELETED,
    LossKind.BEYOND,
    LossKind.GONE,
]
causes = st.one_of(
    st.builds(
        LossCause,
        st.sampled_from([*LossKind]).filter(lambda kind: kind not in (*PERSONS, LossKind.UNKNOWN)),
    ),
    st.builds(LossCause, st.sampled_from([*PERSONS, *GAPS]), actors, st.none() | st.text()),
)


@given(causes)
def test_every_cause_is_read_back_as_itself(cause: LossCause) -> None:
    assert parse_cause(format_cause(cause)) == cause


@given(
    st.text()
    | st.text().map("skipped by {}".format)
    | st.text().map("beyond the end of the log; accepted by {}".format)
    | causes.map(format_cause)
)
def test_every_text_is_written_back_as_itself(text: str) -> None:
    assert format_cause(parse_cause(text)) == text
