"""Spans: they tile the versions of the log, each of one kind, with the files that they changed."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.state_table.spans import FileBounds, LogChange, Span, next_span, whole

MOST = 10


def files(*paths: str) -> tuple[FileBounds, ...]:
    return tuple(FileBounds(each) for each in paths)


def added(version: int, *paths: str, rows: int | None = 1) -> LogChange:
    return LogChange(version, files(*paths), rows=rows)


def paths(found: tuple[FileBounds, ...]) -> list[str]:
    return [each.path for each in found]


@dataclass
class History:
    """A log of versions 1 and on; `live` are its files after each, with how often each was marked.

    `live[0]` is what it began with.
    """

    changes: list[LogChange] = field(default_factory=list)
    live: list[dict[str, int]] = field(default_factory=lambda: [{"old": 0, "older": 0}])


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Appends, removals, marks, rewritings, compactions and versions that changed no row."""
    history = History()
    for version in range(1, draw(st.integers(0, 12)) + 1):
        live = dict(history.live[-1])
        names = sorted(live)
        some = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
        verb = draw(st.sampled_from(["append", "append", "remove", "mark", "rewrite", "move", "-"]))
        new: tuple[str, ...] = (f"v{version}",)
        gone: tuple[str, ...] = tuple(some)
        if verb == "append":
            gone = ()
        elif verb == "remove":
            new = ()
        elif verb == "mark":
            new = gone
        elif verb in ("move", "-"):
            new = gone = ()
        for each in gone:
            marks = live.pop(each)
            if each in new:
                live[each] = marks + 1
        live.update((each, 0) for each in new if each not in gone)
        if verb == "move":
            # A compaction: other files, the same rows. It tells none of them.
            live = {f"c{version}-{each}": 0 for each in live}
        rows = draw(st.none() | st.integers(1, MOST))
        change = LogChange(version, files(*new), files(*gone), rows if new else 0, verb == "move")
        history.changes.append(change)
        history.live.append(live)
    return history


def spans_of(history: History) -> list[Span]:
    found: list[Span] = []
    at = 0
    while at < len(history.changes):
        found.append(next_span(at, history.changes[at:], MOST))
        assert found[-1].upto > at, "no span is empty"
        at = found[-1].upto
    return found


@given(histories())
def test_spans_tile_the_versions_each_of_one_kind(history: History) -> None:
    spans = spans_of(history)
    ends = [each.upto for each in spans]
    assert [each.after for each in spans] == [0, *ends][: len(spans)]
    assert ends[-1:] == [each.version for each in history.changes][-1:]
    for span in spans:
        kinds = {each.kind for each in history.changes[span.after : span.upto]} - {"nothing"}
        assert kinds == {span.kind} - {"nothing"}


@given(histories())
def test_a_span_has_at_most_so_many_rows_but_for_one_version(history: History) -> None:
    for span in spans_of(history):
        changes = history.changes[span.after : span.upto]
        counts = [each.rows for each in changes if each.kind != "nothing"]
        assert len(counts) < 2 or None not in counts[1:]
        assert len(counts) < 2 or sum(each or 0 for each in counts) <= MOST


@given(histories())
def test_what_a_span_names_is_where_it_is_read(history: History) -> None:
    for span in spans_of(history):
        assert {*paths(span.added)} <= history.live[span.upto].keys()
        if span.kind != "nothing":
            assert {*paths(span.removed)} <= history.live[span.after].keys()


@given(histories())
def test_a_span_names_just_the_files_that_are_others_than_before(history: History) -> None:
    for span in spans_of(history):
        if any(each.moved for each in history.changes[span.after : span.upto]):
            continue
        before, after = history.live[span.after].items(), history.live[span.upto].items()
        assert sorted(paths(span.added)) == sorted(dict(after - before))
        assert sorted(paths(span.removed)) == sorted(dict(before - after))


def test_a_file_that_came_and_went_is_neither_added_nor_removed() -> None:
    changes = [
        LogChange(1, files("b"), files("a"), 1),
        LogChange(2, (), files("b"), 0),
    ]
    span = next_span(0, changes, MOST)
    assert (paths(span.added), paths(span.removed)) == ([], ["a"])


def test_a_file_whose_rows_were_marked_twice_is_both() -> None:
    changes = [LogChange(each, files("a"), files("a"), 1) for each in (1, 2)]
    span = next_span(0, changes, MOST)
    assert (paths(span.added), paths(span.removed)) == (["a"], ["a"])


def test_a_file_that_is_marked_twice_is_read_as_it_was_before_and_as_it_is_behind() -> None:
    first, second, third = (FileBounds("a", vector=each) for each in ("v1", "v2", "v3"))
    changes = [LogChange(1, (second,), (first,), 1), LogChange(2, (third,), (second,), 1)]
    span = next_span(0, changes, MOST)
    assert (span.added, span.removed) == ((third,), (first,))


def test_a_first_version_of_any_size_is_a_span() -> None:
    span = next_span(0, [added(1, "a", rows=MOST + 1), added(2, "b")], MOST)
    assert (span.upto, paths(span.added)) == (1, ["a"])


def test_versions_without_rows_join_before_between_and_behind() -> None:
    changes = [LogChange(1), added(2, "a"), LogChange(3), added(4, "b"), LogChange(5)]
    span = next_span(0, changes, MOST)
    assert (span.upto, span.kind, paths(span.added)) == (5, "appended", ["a", "b"])


def test_a_compaction_ends_a_span_that_has_files_and_joins_one_that_has_none() -> None:
    compacted = LogChange(2, moved=True)
    assert next_span(0, [added(1, "a"), compacted], MOST).upto == 1
    span = next_span(1, [compacted, added(3, "b")], MOST)
    assert (span.upto, span.kind) == (3, "appended")


def test_what_was_moved_and_then_removed_is_read_behind_the_move() -> None:
    changes = [LogChange(1, moved=True), LogChange(2, (), files("moved"), 0)]
    assert next_span(0, changes, MOST) == Span(0, 1, "nothing", rows=0)


def test_a_span_says_how_many_rows_it_adds_where_the_log_does() -> None:
    changes = [added(1, "a"), LogChange(2), added(3, "b")]
    assert next_span(0, changes, MOST).rows == sum(each.rows or 0 for each in changes)
    unsaid = LogChange(1, files("a"), rows=None)
    assert next_span(0, [unsaid, LogChange(2)], MOST).rows is None


def test_no_versions_are_a_span_of_nothing() -> None:
    assert next_span(4, [], MOST) == Span(4, 4, "nothing", rows=0)


def test_all_of_a_log_that_was_put_back_is_a_span() -> None:
    assert whole(9, 4) == Span(4, 4, "everything")
    assert whole(-1, 4) == Span(-1, 4, "everything")


def test_a_span_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\(3, 2\] is not a span"):
        Span(3, 2, "nothing")


def test_a_span_is_told_by_its_first_and_last_version() -> None:
    assert str(Span(3, 7, "appended")) == "versions 4 to 7"
    assert str(whole(7, 7)) == "version 7"
