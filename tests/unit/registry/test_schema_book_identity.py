"""A registry is the one that was asked before, or its numbers mean nothing: it is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sluice.errors import SchemaChanged
from sluice.registry.schema_book import SchemaBook
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.registry.test_schema_book import (
    FORM,
    book,
    book_of,
    by_number,
    latest,
    server,
    spec,
)
from tests.worlds.scripted_http import ScriptedServer, document, plain

__all__ = ["book", "server"]

Rebuild = Callable[[ScriptedServer], None]


def known(server: ScriptedServer, book: SchemaBook, asked: PipelineSpec) -> PipelineSpec:
    """The numbers 5, 6 and 7 are kept; where the registry is followed, 6 is the reader."""
    latest(server, "a", 6, "x")
    by_number(server, 5, "x")
    by_number(server, 7, "x", "y")
    found = book.keep(book.as_registered(asked, ["a"], ())[0])
    book.learn(found, {"value": ["5", "6", "7"]}, ())
    return found


def below_is_another(server: ScriptedServer) -> None:
    by_number(server, 5, "z")


def above_is_another(server: ScriptedServer) -> None:
    by_number(server, 7, "z")


def the_reader_is_lost(server: ScriptedServer) -> None:
    latest(server, "a", 9, "x")
    del server.answers["/schemas/ids/6"]


@pytest.mark.parametrize(
    ("rebuilt", "number"), [(below_is_another, 5), (above_is_another, 7), (the_reader_is_lost, 6)]
)
def test_a_registry_that_was_rebuilt_is_refused_when_a_run_is_planned(
    server: ScriptedServer, book: SchemaBook, rebuilt: Rebuild, number: int
) -> None:
    known(server, book, spec())
    rebuilt(server)
    with pytest.raises(
        SchemaChanged, match=f"schema {number}: .* rebuilt, or is another one"
    ) as why:
        book.as_registered(spec(), ["a"], ())
    assert [str(each) for each in why.value.moves] == ["sluice plan orders"]
    # What it says besides: a connection with another id. Then the plan is one.
    renamed = spec(format={**FORM, "registry": "of_another_id"})
    assert book.as_registered(renamed, ["a"], ())[1] == ()


@pytest.mark.parametrize(("rebuilt", "number"), [(below_is_another, 5), (above_is_another, 7)])
def test_it_is_refused_as_well_where_a_file_has_the_reader(
    server: ScriptedServer, book: SchemaBook, rebuilt: Rebuild, number: int
) -> None:
    asked = spec(format={**FORM, "schema": "x BIGINT"})
    known(server, book, asked)
    rebuilt(server)
    with pytest.raises(SchemaChanged, match=f"schema {number}"):
        book.as_registered(asked, (), ())


def test_without_a_reader_of_its_own_it_is_known_by_its_highest_number(
    server: ScriptedServer, book: SchemaBook
) -> None:
    asked = spec(format={**FORM, "schema": "x BIGINT"})
    known(server, book, asked)
    del server.answers["/schemas/ids/7"]
    with pytest.raises(SchemaChanged, match=r"schema 7: .* has no such number any more"):
        book.as_registered(asked, (), ())


def test_every_number_that_a_batch_is_decoded_with_is_asked_when_its_end_stands(
    server: ScriptedServer, book: SchemaBook, tmp_path: Path
) -> None:
    for number in (4, 8):
        by_number(server, number, "x")
    found = known(server, book, spec())
    book.learn(found, {"value": ["4", "8"]}, ())
    below_is_another(server)
    # Neither the lowest nor the highest nor the reader.
    book.as_registered(spec(), ["a"], ())
    with pytest.raises(SchemaChanged, match="schema 5"):
        book_of(tmp_path, server).with_writers(found, ())
    with pytest.raises(SchemaChanged, match="schema 5"):
        book_of(tmp_path, server).learn(found, {"value": ["5"]}, ())


def test_what_was_deleted_for_good_below_the_reader_is_still_read(
    server: ScriptedServer, book: SchemaBook
) -> None:
    found = known(server, book, spec())
    for number in (5, 7):
        del server.answers[f"/schemas/ids/{number}"]
    assert book.as_registered(spec(), ["a"], ())[1] == ()
    assert {*book.with_writers(found, ())[1]["value"]} == {"5", "6", "7"}


def test_a_schema_whose_reference_is_gone_makes_no_other_registry(
    server: ScriptedServer, book: SchemaBook
) -> None:
    known(server, book, spec())
    latest(server, "a", 9, "x")
    gone = {"name": "other", "subject": "other", "version": 1}
    answer = {"schemaType": "JSON", "schema": "{}", "references": [gone]}
    server.answers["/schemas/ids/6"] = document(answer)
    assert book.as_registered(spec(), ["a"], ())[1] == ()


def test_a_registry_that_is_down_stops_nothing_that_is_known(
    server: ScriptedServer, book: SchemaBook, caplog: pytest.LogCaptureFixture
) -> None:
    found = known(server, book, spec())
    server.answers.clear()
    server.otherwise = plain(503, b"")
    assert len(book.as_registered(spec(), ["a"], ())[1]) == 1
    assert {*book.with_writers(found, ())[1]["value"]} == {"5", "6", "7"}
    assert "what was kept of schemas 5, 6, 7 is used, as before" in caplog.text


def test_an_idle_run_asks_for_at_most_two_numbers_more(
    server: ScriptedServer, book: SchemaBook
) -> None:
    found = known(server, book, spec())
    for number in range(20, 30):
        by_number(server, number, "x")
    book.learn(found, {"value": [str(each) for each in range(20, 30)]}, ())
    before = len(server.asked)
    book.as_registered(spec(), ["a"], ())
    assert server.asked[before:][0] == "/subjects/a-value/versions/latest"
    assert {*server.asked[before + 1 :]} == {"/schemas/ids/5", "/schemas/ids/29"}
