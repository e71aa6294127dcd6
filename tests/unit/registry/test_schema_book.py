"""What a pipeline knows of schemas: asked once, kept, and a reader that only grows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.connections import Connection
from sluice.errors import RegistryUnavailable, SchemaChanged, SpecError, UnknownSchema
from sluice.registry.client import Registry
from sluice.registry.kept_schemas import KeptSchemas
from sluice.registry.registry_settings import RegistrySettings
from sluice.registry.schema_book import SchemaBook
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import RegisteredFormat
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import spec_keys
from tests.worlds.scripted_http import ScriptedServer, document, plain

FORM = {"type": "json", "registry": "registry_a"}


def text(*fields: str) -> str:
    properties = {each: {"type": "integer"} for each in fields}
    return json.dumps({"type": "object", "properties": properties})


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        running.otherwise = document({"error_code": 40403, "message": "none"}, 404)
        yield running


@pytest.fixture
def book(tmp_path: Path, server: ScriptedServer) -> SchemaBook:
    """That of a pipeline; another one of the same folder knows what this one has kept."""
    return book_of(tmp_path, server)


def book_of(folder: Path, server: ScriptedServer) -> SchemaBook:
    def find(connection: str) -> Registry:
        found = {"extra": {"url": server.url}}
        return Registry(
            RegistrySettings.from_connection(Connection.from_json(connection, found)), limit=10
        )

    return SchemaBook(KeptSchemas(str(folder / "orders__offsets"), "orders"), find)


def spec(**keys: Any) -> PipelineSpec:
    return PipelineSpec.model_validate(spec_keys(**{"topics": ["a"], "format": FORM, **keys}))


def latest(server: ScriptedServer, topic: str, number: int, *fields: str) -> None:
    answer = {"id": number, "version": 1, "schemaType": "JSON", "schema": text(*fields)}
    server.answers[f"/subjects/{topic}-value/versions/latest"] = document(answer)
    by_number(server, number, *fields)


def by_number(server: ScriptedServer, number: int, *fields: str) -> None:
    answer = {"schemaType": "JSON", "schema": text(*fields)}
    server.answers[f"/schemas/ids/{number}"] = document(answer)


def columns(found: PipelineSpec) -> list[str]:
    return [each.name for each in found.columns]


def test_the_reader_is_the_newest_schema_and_stays_known(
    tmp_path: Path, server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 7, "x")
    found, told = book.as_registered(spec(), ["a"], ())
    assert (columns(found), told) == (["x"], ())
    assert book.as_kept(spec()).formats.awaits_reader
    book.keep(found)
    assert columns(book_of(tmp_path, server).as_kept(spec())) == ["x"]


def test_a_new_twin_of_a_column_has_none_also_for_the_next_process(
    tmp_path: Path, server: ScriptedServer, book: SchemaBook
) -> None:
    asked = spec(evolution="add_columns")
    latest(server, "a", 7, "id")
    book.keep(book.as_registered(asked, ["a"], ())[0])
    latest(server, "a", 8, "ID", "id", "new")
    found, told = book.as_registered(asked, ["a"], ())
    assert (sorted(columns(book.keep(found))), told) == (["id", "new"], ())
    for each in (book_of(tmp_path, server), book):
        assert sorted(columns(each.as_kept(asked))) == ["id", "new"]
        assert sorted(columns(each.as_registered(asked, ["a"], ())[0])) == ["id", "new"]
    (line,) = book.as_kept(asked).formats.told()
    assert line.startswith("format: no column holds $.ID: declared twice")


def test_a_registry_that_does_not_answer_stops_only_who_knows_no_reader(
    server: ScriptedServer, book: SchemaBook
) -> None:
    path = "/subjects/a-value/versions/latest"
    server.answers[path] = plain(503, b"")
    with pytest.raises(RegistryUnavailable):
        book.as_registered(spec(), ["a"], ())
    latest(server, "a", 7, "x")
    book.keep(book.as_registered(spec(), ["a"], ())[0])
    server.answers[path] = plain(503, b"")
    found, (told,) = book.as_registered(spec(), ["a"], ())
    assert columns(found) == ["x"]
    assert told.startswith("records are read as schema 7, as before: ")


def test_a_subject_without_a_schema_is_named(server: ScriptedServer, book: SchemaBook) -> None:
    with pytest.raises(UnknownSchema, match="subject 'a-value'"):
        book.as_registered(spec(), ["a"], ())


def test_several_topics_are_read_as_the_schema_that_holds_the_others(
    server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 9, "x")
    latest(server, "b", 7, "x", "y")
    found, told = book.as_registered(spec(topics=["a", "b"]), ["a", "b"], ())
    assert (columns(found), told) == (["x", "y"], ())


def test_a_number_is_learnt_once_and_then_asked_whether_it_still_stands(
    tmp_path: Path, server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 7, "x")
    by_number(server, 8, "x")
    found = book.keep(book.as_registered(spec(), ["a"], ())[0])
    for each in (book, book_of(tmp_path, server)):
        _, learnt = each.learn(found, {"value": ["8", "9"]}, ())
        assert list(learnt["value"]) == ["8"]
    assert server.asked.count("/schemas/ids/8") == 2
    del server.answers["/schemas/ids/8"]
    _, learnt = book_of(tmp_path, server).learn(found, {"value": ["8"]}, ())
    assert list(learnt["value"]) == ["8"]
    _, learnt = book.learn(found, {"value": ["9"]}, ())
    assert not learnt["value"]
    assert server.asked.count("/schemas/ids/9") == 2


def test_what_records_name_moves_the_reader_only_as_evolution_allows(
    tmp_path: Path, server: ScriptedServer
) -> None:
    latest(server, "a", 7, "x")
    by_number(server, 8, "x", "y")
    for evolution, expected in (("strict", ["x"]), ("add_columns", ["x", "y"])):
        book, asked = book_of(tmp_path / evolution, server), spec(evolution=evolution)
        found = book.keep(book.as_registered(asked, ["a"], ())[0])
        grown, learnt = book.learn(found, {"value": ["8"]}, ())
        assert (columns(grown), list(learnt["value"])) == (expected, ["8"])
        assert columns(book.as_kept(asked)) == expected
        assert grown.edition.keys["format"]["reader"] == ("7" if evolution == "strict" else "8")


def test_a_process_that_knows_an_older_reader_does_not_bring_it_back(
    tmp_path: Path, server: ScriptedServer, book: SchemaBook
) -> None:
    asked = spec(evolution="add_columns")
    latest(server, "a", 7, "x")
    old = book.keep(book.as_registered(asked, ["a"], ())[0])
    latest(server, "a", 8, "x", "y")
    other = book_of(tmp_path, server)
    other.keep(other.as_registered(asked, ["a"], ())[0])
    assert columns(book.keep(old)) == ["x", "y"]
    assert columns(book.as_kept(asked)) == ["x", "y"]


def test_a_schema_that_the_spec_does_not_fit_is_told_and_stops_nothing(
    server: ScriptedServer, book: SchemaBook
) -> None:
    asked = spec(evolution="add_columns", derived={"day": "upper(_topic)"})
    latest(server, "a", 7, "x")
    found = book.keep(book.as_registered(asked, ["a"], ())[0])
    latest(server, "a", 8, "x", "day")
    again, (told,) = book.as_registered(asked, ["a"], ())
    assert columns(again) == ["x"]
    assert "and not as 8: derived.day: expected another name" in told
    by_number(server, 8, "x", "day")
    grown, _ = book.learn(found, {"value": ["8"]}, ())
    assert columns(grown) == ["x"]


def test_a_column_of_the_table_with_another_type_is_a_clash(
    server: ScriptedServer, book: SchemaBook
) -> None:
    asked = spec(evolution="add_columns")
    latest(server, "a", 7, "x")
    book.keep(book.as_registered(asked, ["a"], ())[0])
    latest(server, "a", 8, "x", "y")
    stored = parse_columns("x BIGINT, y STRING")
    again, (told,) = book.as_registered(asked, ["a"], stored)
    assert columns(again) == ["x"]
    assert "it changes y from STRING to BIGINT" in told
    left_out = spec(evolution="add_columns", exclude=["y"])
    assert columns(book.as_registered(left_out, ["a"], stored)[0]) == ["x", "y"]


def test_a_registry_that_was_rebuilt_is_noticed_by_its_newest_schema(
    server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 7, "x")
    book.keep(book.as_registered(spec(), ["a"], ())[0])
    latest(server, "a", 7, "z")
    with pytest.raises(SchemaChanged, match="schema 7"):
        book.as_registered(spec(), ["a"], ())


def test_a_registry_that_was_rebuilt_is_noticed_by_the_number_of_the_reader(
    server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 7, "x")
    book.keep(book.as_registered(spec(), ["a"], ())[0])
    latest(server, "a", 9, "z")
    by_number(server, 7, "other")
    with pytest.raises(SchemaChanged, match="schema 7"):
        book.as_registered(spec(), ["a"], ())


def test_a_registry_that_was_rebuilt_is_noticed_where_a_file_has_the_reader(
    server: ScriptedServer, book: SchemaBook
) -> None:
    asked = spec(format={**FORM, "schema": "x BIGINT"})
    by_number(server, 7, "x")
    assert book.as_registered(asked, (), ()) == (asked, ())
    book.learn(asked, {"value": ["7"]}, ())
    assert book.as_registered(asked, (), ()) == (asked, ())
    by_number(server, 7, "z")
    with pytest.raises(SchemaChanged, match="schema 7"):
        book.as_registered(asked, (), ())
    server.answers["/schemas/ids/7"] = plain(503, b"")
    _, (told,) = book.as_registered(asked, (), ())
    assert told.startswith("what was kept of schema 7 is used, as before: ")


def test_the_reader_itself_is_asked_for_only_where_the_newest_schema_is_another(
    server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 7, "x")
    book.keep(book.as_registered(spec(), ["a"], ())[0])
    book.as_registered(spec(), ["a"], ())
    assert "/schemas/ids/7" not in server.asked
    latest(server, "a", 8, "x", "y")
    book.as_registered(spec(), ["a"], ())
    assert server.asked.count("/schemas/ids/7") == 1


def test_the_newest_schema_of_a_subject_may_have_a_lower_number(
    tmp_path: Path, server: ScriptedServer
) -> None:
    for evolution, expected in (("strict", ["x"]), ("add_columns", ["x", "y"])):
        book, asked = book_of(tmp_path / evolution, server), spec(evolution=evolution)
        latest(server, "a", 7, "x")
        book.keep(book.as_registered(asked, ["a"], ())[0])
        latest(server, "a", 3, "x", "y")
        found, told = book.as_registered(asked, ["a"], ())
        assert columns(found) == columns(book.keep(found)) == expected
        assert [*map(str, told)] == [each for each in told if "and not as 3: evolution is" in each]
        assert len(told) == (evolution == "strict")
        assert columns(book.as_kept(asked)) == expected


def test_an_older_schema_that_records_name_brings_nothing_back(
    server: ScriptedServer, book: SchemaBook
) -> None:
    asked = spec(evolution="add_columns")
    latest(server, "a", 7, "x")
    found = book.keep(book.as_registered(asked, ["a"], ())[0])
    by_number(server, 3, "x", "dropped")
    grown, learnt = book.learn(found, {"value": ["3"]}, ())
    assert (columns(grown), list(learnt["value"])) == (["x"], ["3"])
    assert columns(book.with_writers(found, ())[0]) == ["x"]


def test_the_first_reader_of_another_connection_holds_the_columns_of_the_table(
    tmp_path: Path, server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 7, "x", "y")
    book.keep(book.as_registered(spec(), ["a"], ())[0])
    stored = parse_columns("x BIGINT, y BIGINT, was STRING, _topic STRING, _key_id BIGINT")
    elsewhere = spec(format={**FORM, "registry": "registry_b"}, evolution="add_columns")
    with pytest.raises(SpecError, match=r"registry_b: schema 7: .* for was STRING: new rows"):
        book.as_registered(elsewhere, ["a"], stored)
    latest(server, "a", 9, "x", "y", "was", "z")
    assert columns(book.as_registered(elsewhere, ["a"], stored)[0]) == ["x", "y", "was", "z"]
    left_out = spec(format=elsewhere.format.model_dump(exclude_none=True), exclude=["was"])
    book.as_registered(left_out, ["a"], stored)


def test_a_topic_without_a_schema_does_not_stop_the_others(
    server: ScriptedServer, book: SchemaBook
) -> None:
    asked = spec(topics=["a", "b"])
    with pytest.raises(UnknownSchema, match="subject 'a-value'"):
        book.as_registered(asked, ["a", "b"], ())
    latest(server, "b", 7, "x")
    found, (told,) = book.as_registered(asked, ["a", "b"], ())
    assert columns(found) == ["x"]
    assert "subject 'a-value'" in told


def test_a_subject_of_another_kind_is_no_reader(server: ScriptedServer, book: SchemaBook) -> None:
    latest(server, "a", 7, "x")
    avro = spec(format={"type": "avro", "registry": "registry_a"})
    with pytest.raises(SpecError, match="expected a schema of kind AVRO, found JSON"):
        book.as_registered(avro, ["a"], ())


def test_of_several_subjects_the_one_of_another_kind_is_named(
    server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "b", 7, "x")
    answer = {"id": 8, "version": 1, "schema": '{"type": "int"}'}
    server.answers["/subjects/a-value/versions/latest"] = document(answer)
    avro = spec(topics=["a", "b"], format={"type": "avro", "registry": "registry_a"})
    with pytest.raises(SpecError, match="subject b-value: expected a schema of kind AVRO"):
        book.as_registered(avro, ["a", "b"], ())


def test_a_registry_that_is_down_is_asked_once_for_many_topics(
    server: ScriptedServer, book: SchemaBook
) -> None:
    topics = [f"t{n}" for n in range(9)]
    latest(server, "t0", 7, "x")
    book.keep(book.as_registered(spec(topics=topics[:1]), topics[:1], ())[0])
    server.otherwise = server.answers["/subjects/t0-value/versions/latest"] = plain(503, b"")
    _, told = book.as_registered(spec(topics=topics), topics, ())
    assert len(told) == 1


@pytest.mark.patient
def test_a_thousand_numbers_that_nobody_knows_are_not_a_thousand_lines(
    server: ScriptedServer, book: SchemaBook, caplog: pytest.LogCaptureFixture
) -> None:
    latest(server, "a", 7, "x")
    found = book.keep(book.as_registered(spec(), ["a"], ())[0])
    book.learn(found, {"value": [str(each) for each in range(100, 130)]}, ())
    told = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert len(told) == 11
    assert "schema 100: expected one that is registered" in told[0]
    assert "no longer named here" in told[-1]
    assert isinstance(found.format, RegisteredFormat)
    assert len(book.absent(found.format)) == 30


def with_thirty_kept(tmp_path: Path, server: ScriptedServer, book: SchemaBook) -> PipelineSpec:
    """Schemas 90 to 119, of which the last is the reader."""
    latest(server, "a", 119, "x")
    found = book.keep(book.as_registered(spec(), ["a"], ())[0])
    kept = KeptSchemas(str(tmp_path / "orders__offsets"), "orders")
    for number in range(90, 119):
        kept.keep("registry_a", RegisteredSchema(str(number), "JSON", text("x")))
    return found


def test_the_writers_known_are_all_that_were_kept(
    tmp_path: Path, server: ScriptedServer, book: SchemaBook
) -> None:
    found = with_thirty_kept(tmp_path, server, book)
    _, known = book.with_writers(found, ())
    assert {*known["value"]} == {*map(str, range(90, 120))}
    assert sum(path.startswith("/schemas/ids/") for path in server.asked) == 30


def test_an_old_schema_that_fails_to_answer_hides_no_newer_one_that_has_changed(
    tmp_path: Path, server: ScriptedServer, book: SchemaBook
) -> None:
    found = with_thirty_kept(tmp_path, server, book)
    server.answers["/schemas/ids/90"] = plain(200, b"no document")
    by_number(server, 110, "x", "y")
    with pytest.raises(SchemaChanged, match="schema 110"):
        book.with_writers(found, ())


def test_what_another_process_keeps_is_learnt_before_it_is_read(
    tmp_path: Path, server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 7, "x")
    by_number(server, 8, "x", "y")
    KeptSchemas(str(tmp_path / "orders__offsets"), "orders").keep(
        "registry_a", RegisteredSchema("8", "JSON", text("x", "y"))
    )
    for evolution, expected in (("strict", {"7", "8"}), ("add_columns", {"7"})):
        asked = spec(evolution=evolution)
        found = book.keep(book.as_registered(asked, ["a"], ())[0])
        same, known = book.with_writers(found, ())
        assert (columns(same), {*known["value"]}) == (["x"], expected)
    assert columns(book.learn(same, {"value": ["8"]}, ())[0]) == ["x", "y"]
    behind, known = book.with_writers(found, ())
    assert (columns(behind), {*known["value"]}) == (["x", "y"], {"7", "8"})


def test_the_schema_of_values_is_none_of_the_keys(server: ScriptedServer, book: SchemaBook) -> None:
    asked = spec(evolution="add_columns", key_format=FORM)
    latest(server, "a", 7, "id", "amount")
    key = {"id": 6, "version": 1, "schemaType": "JSON", "schema": text("id")}
    server.answers["/subjects/a-key/versions/latest"] = document(key)
    by_number(server, 6, "id")
    found = book.keep(book.as_registered(asked, ["a"], ())[0])
    read, known = book.with_writers(found, ())
    assert [each.name for each in read.formats.key_columns] == ["_key_id"]
    assert {source: {*each} for source, each in known.items()} == {
        "value": {"6", "7"},
        "key": {"6"},
    }


def test_a_spec_that_the_columns_do_not_fit_is_refused(
    server: ScriptedServer, book: SchemaBook
) -> None:
    latest(server, "a", 7, "x")
    with pytest.raises(SpecError, match="schema 7: partition_by: found 'day'"):
        book.as_registered(spec(partition_by=["day"]), ["a"], ())


def test_a_taken_field_that_a_newer_schema_lacks_is_told_each_time(
    server: ScriptedServer, book: SchemaBook
) -> None:
    sources = {"ts": {"from": "at", "unit": "ms"}, "n": {"from": "n", "type": "BIGINT"}}
    asked = spec(evolution="add_columns", columns=sources)
    latest(server, "a", 7, "id", "at", "n")
    first = book.keep(book.as_registered(asked, ["a"], ())[0])
    assert list(first.formats.told()) == []
    latest(server, "a", 8, "id", "created", "n")
    book.keep(book.as_registered(asked, ["a"], ())[0])
    planned, again = book.as_registered(asked, ["a"], ())
    assert again == (), "as the reader changes, it is told once"
    for read in (planned, book.as_kept(asked)):
        (line,) = read.formats.told()
        assert line.startswith(
            "columns.ts: $.at: registry registry_a, schema 8 does not declare this field: the"
        )
        assert "`required: [ts]`" in line


def test_a_field_that_only_a_newer_schema_has_may_be_excluded_beside_its_derived_column(
    server: ScriptedServer, book: SchemaBook
) -> None:
    """What a plan asks for has to be valid for `check`, which knows the stored reader only."""
    keys: dict[str, Any] = {"evolution": "add_columns", "derived": {"day": "try_add(x, 1)"}}
    latest(server, "a", 7, "x")
    book.keep(book.as_registered(spec(**keys), ["a"], ())[0])
    latest(server, "a", 8, "x", "day")
    _, (told,) = book.as_registered(spec(**keys), ["a"], ())
    assert "leave the field out with `exclude: [day]`" in told
    changed = spec(**keys, exclude=["day"])
    assert [each.name for each in book.as_kept(changed).shape.columns] == ["x", "day"]
    planned, notes = book.as_registered(changed, ["a"], ())
    assert (columns(planned), notes) == (["x", "day"], ())
    with pytest.raises(SpecError, match="exclude: found 'dya'"):
        book.as_kept(spec(**keys, exclude=["dya"]))
