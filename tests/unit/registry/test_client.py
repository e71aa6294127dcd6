"""What a registry answers, and what each way of not answering means; each call is bounded."""

from __future__ import annotations

import gc
import json
import socket
import time
import traceback
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sluice.connections import Connection
from sluice.errors import RegistryUnavailable, SettingsError, UnknownSchema
from sluice.registry.client import Registry
from sluice.registry.registry_settings import RegistrySettings
from sluice.schemas.registered import Reference, RegisteredSchema

from tests.worlds.scripted_http import (
    Answering,
    ScriptedServer,
    document,
    dripping,
    hang_up,
    plain,
    silence,
)

SECRET = "hunter2"
LIMIT = 1.5
BY_ID = "/schemas/ids/7"
LATEST = "/subjects/orders-value/versions/latest"
TYPES = "/schemas/types"
INT = RegisteredSchema("7", "AVRO", '"int"')
GUID = "89791762-2336-4186-9674-299b90a802e2"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        running.answers[TYPES] = document(["AVRO"])
        yield running


def registry(url: str, limit: float = LIMIT) -> Registry:
    found = {"extra": {"url": url}, "login": "alice", "password": SECRET}
    return Registry(
        RegistrySettings.from_connection(Connection.from_json("registry_a", found)), limit
    )


def refusal(kind: type[Exception], call: Callable[[], object]) -> str:
    """The text of an error that repeats no secret, neither itself nor in its traceback."""
    with pytest.raises(kind) as refused:
        call()
    assert SECRET not in "".join(traceback.format_exception(refused.value))
    return str(refused.value)


def test_by_number(server: ScriptedServer) -> None:
    server.answers[BY_ID] = document({"schema": '"int"'})
    assert registry(server.url).schema("7") == INT
    assert server.headers[0]["Authorization"].startswith("Basic ")


def test_by_guid(server: ScriptedServer) -> None:
    server.answers[f"/schemas/guids/{GUID}"] = document({"schema": "{}", "schemaType": "JSON"})
    assert registry(server.url).schema(GUID) == RegisteredSchema(GUID, "JSON", "{}")


def test_the_latest_of_a_subject_whose_name_is_quoted(server: ScriptedServer) -> None:
    answer = {"subject": "a/b c", "id": 7, "version": 3, "schema": '"int"'}
    server.answers["/subjects/a%2Fb%20c/versions/latest"] = document(answer)
    assert registry(server.url).latest("a/b c") == INT


def test_the_subjects_of_numbers_where_the_registry_tells_them(server: ScriptedServer) -> None:
    versions = [{"subject": each, "version": 1} for each in ("orders-value", "a", "a", 7)]
    server.answers[f"{BY_ID}/versions"] = document([*versions, "other"])
    server.answers["/schemas/ids/8/versions"] = document({"no": "list"})
    found = registry(server.url).subjects(["7", "8", "9", GUID, "2147483648"])
    assert found == {
        "7": ("a", "orders-value"),
        **dict.fromkeys(("8", "9", GUID, "2147483648"), ()),
    }
    assert registry(server.url).subjects([]) == {}


def referring(*names: str) -> list[dict[str, object]]:
    return [{"name": each, "subject": f"{each}-s", "version": 1} for each in names]


def version(of: str) -> str:
    return f"/subjects/{of}-s/versions/1?deleted=true"


def test_references_come_before_those_that_use_them(server: ScriptedServer) -> None:
    server.answers[BY_ID] = document({"schema": "top", "references": referring("b", "c", "a")})
    server.answers[version("a")] = document({"schema": "A"})
    server.answers[version("b")] = document({"schema": "B", "references": referring("a")})
    server.answers[version("c")] = document({"schema": "C", "references": referring("b")})
    found = registry(server.url).schema("7")
    assert found.references == (Reference("a", "A"), Reference("b", "B"), Reference("c", "C"))


def test_a_reference_with_two_texts_is_not_guessed(server: ScriptedServer) -> None:
    twice = [*referring("a"), {"name": "a", "subject": "a-s", "version": 2}]
    server.answers[BY_ID] = document({"schema": "top", "references": twice})
    server.answers[version("a")] = document({"schema": "A"})
    server.answers["/subjects/a-s/versions/2?deleted=true"] = document({"schema": "A2"})
    said = refusal(UnknownSchema, lambda: registry(server.url).schema("7"))
    assert "expected one text for its reference 'a', found two" in said


def test_references_in_a_circle_end(server: ScriptedServer) -> None:
    server.answers[BY_ID] = document({"schema": "top", "references": referring("a")})
    server.answers[version("a")] = document({"schema": "A", "references": referring("a")})
    said = refusal(UnknownSchema, lambda: registry(server.url).schema("7"))
    assert "expected references without a circle, found 'a' in one" in said


def test_references_that_are_too_deep_end(server: ScriptedServer) -> None:
    server.answers[BY_ID] = document({"schema": "top", "references": referring("n0")})
    for number in range(60):
        found = {"schema": f"{number}", "references": referring(f"n{number + 1}")}
        server.answers[version(f"n{number}")] = document(found)
    said = refusal(UnknownSchema, lambda: registry(server.url, 10).schema("7"))
    assert "expected references of 50 levels, found more" in said


@pytest.mark.parametrize(
    "key",
    [
        "",
        "-1",
        "2147483648",
        "99999999999",
        "7.0",
        "x",
        "../subjects",
        "\N{ARABIC-INDIC DIGIT SEVEN}",
        GUID[:-1],
    ],
)
def test_a_key_that_none_can_have_is_not_asked_for(server: ScriptedServer, key: str) -> None:
    refusal(UnknownSchema, lambda: registry(server.url).schema(key))
    assert server.asked == []


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (404, {"error_code": 40403, "message": "Schema 7 not found"}),
        (404, {"error_code": 404, "message": "HTTP 404 Not Found"}),
        (400, {"error_code": 400, "message": "no"}),
        (422, {"error_code": 42201, "message": "no"}),
    ],
)
def test_a_number_that_is_unknown(server: ScriptedServer, status: int, found: object) -> None:
    server.answers[BY_ID] = document(found, status)
    said = refusal(UnknownSchema, lambda: registry(server.url).schema("7"))
    assert f"connection registry_a: {server.url}: schema 7: expected one" in said
    assert f"HTTP {status}" in said
    assert server.asked.count(BY_ID) == 1


def test_a_subject_that_is_unknown(server: ScriptedServer) -> None:
    server.answers[LATEST] = document({"error_code": 40401, "message": "no such"}, 404)
    said = refusal(UnknownSchema, lambda: registry(server.url).latest("orders-value"))
    assert "subject 'orders-value'" in said


def test_a_kind_of_schema_that_no_format_reads(server: ScriptedServer) -> None:
    server.answers[BY_ID] = document({"schema": "<a/>", "schemaType": "XML"})
    assert "'XML'" in refusal(UnknownSchema, lambda: registry(server.url).schema("7"))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            {"error_code": 40403, "message": "No content with ID '7'."},
            "40403: No content with ID '7'. R",
        ),
        ({"error_code": 40403}, "404, 40403. R"),
    ],
)
def test_what_a_registry_says_is_told_once_and_whole(
    server: ScriptedServer, answer: object, told: str
) -> None:
    server.answers[BY_ID] = document(answer, 404)
    assert told in refusal(UnknownSchema, lambda: registry(server.url).schema("7"))


def test_an_answer_that_says_nothing_adds_nothing(server: ScriptedServer) -> None:
    server.answers[BY_ID] = document({"detail": "Not Found"}, 404)
    said = refusal(UnknownSchema, lambda: registry(server.url).schema("7"))
    assert "answers HTTP 404. Register it" in said


@pytest.mark.parametrize("call", ["schema", "latest"])
def test_an_address_where_no_registry_is(server: ScriptedServer, call: str) -> None:
    """Else every record would be taken for one of an unknown schema."""
    asked = registry(f"{server.url}/apis")
    said = refusal(
        SettingsError,
        (lambda: asked.schema("7")) if call == "schema" else (lambda: asked.latest("a")),
    )
    assert "expected a schema registry, found that" in said
    assert f"{server.url}/apis answers HTTP 404" in said


@pytest.mark.parametrize(
    "answer",
    [
        plain(200, b"<html>log in</html>"),
        plain(200, b"[" * 100_000),
        plain(302, b"", Location="http://127.0.0.1:1/"),
        plain(204, b""),
        document([]),
        document({"schema": 7}),
        document({"schema": "{}", "references": [{"name": "a"}]}),
        document({"schema": "{}", "references": "a"}),
        document({"schema": "{}", "version": 1}),
        plain(200, b'{"schema": "' + b"x" * 17_000_000 + b'"}'),
    ],
)
def test_an_answer_that_no_registry_gives(server: ScriptedServer, answer: Answering) -> None:
    server.answers[LATEST] = answer
    said = refusal(SettingsError, lambda: registry(server.url, 10).latest("orders-value"))
    assert "expected a schema registry" in said
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_who_asks_is_refused_at_once(server: ScriptedServer, status: int) -> None:
    server.answers[BY_ID] = document({"error_code": status, "message": f"{SECRET}?"}, status)
    said = refusal(SettingsError, lambda: registry(server.url).schema("7"))
    assert f"{server.url} answers HTTP {status}, (it repeats a secret)" in said
    assert "basic.auth.user.info" in said
    assert server.asked == [BY_ID]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_what_passes_is_asked_again(server: ScriptedServer, status: int) -> None:
    server.answers[BY_ID] = [plain(status, b"busy"), hang_up, document({"schema": '"int"'})]
    assert registry(server.url).schema("7") == INT
    assert server.asked == [BY_ID] * 3


def test_what_does_not_pass_is_asked_three_times(server: ScriptedServer) -> None:
    server.answers[BY_ID] = document({"error_code": 50001, "message": "broken"}, 500)
    said = refusal(RegistryUnavailable, lambda: registry(server.url).schema("7"))
    assert "HTTP 500, 50001: broken" in said
    assert server.asked == [BY_ID] * 3


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


@pytest.mark.patient
@pytest.mark.parametrize(
    "answer",
    [silence, dripping(b"HTTP/1.1 2"), dripping(b"HTTP/1.1 200 OK\r\nX:"), dripping(HEAD)],
    ids=["never", "drips its first line", "drips a header", "drips a body"],
)
def test_a_server_that_never_ends_its_answer(server: ScriptedServer, answer: Answering) -> None:
    server.answers[BY_ID] = answer
    began = time.monotonic()
    said = refusal(RegistryUnavailable, lambda: registry(server.url).schema("7"))
    assert time.monotonic() - began < LIMIT + 1
    assert "schema 7: expected an answer of" in said
    assert "no whole answer within" in said


@pytest.mark.patient
def test_many_slow_references_share_the_time_of_one_call(server: ScriptedServer) -> None:
    def slow(to: object) -> None:
        time.sleep(0.3)
        document({"schema": '"int"'})(to)  # type: ignore[arg-type]

    names = [f"r{n}" for n in range(20)]
    server.answers[BY_ID] = document({"schema": "top", "references": referring(*names)})
    server.answers |= {version(each): slow for each in names}
    began = time.monotonic()
    refusal(RegistryUnavailable, lambda: registry(server.url).schema("7"))
    assert time.monotonic() - began < LIMIT + 1


def test_a_server_that_is_down() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        said = refusal(RegistryUnavailable, lambda: registry(url).schema("7"))
    assert f"{url}: ConnectError" in said


def test_a_host_that_has_no_address() -> None:
    refusal(RegistryUnavailable, lambda: registry("http://no-such-host.invalid").schema("7"))


def test_of_two_addresses_the_other_is_asked(server: ScriptedServer) -> None:
    server.answers[BY_ID] = document({"schema": '"int"'})
    assert registry(f"http://127.0.0.1:1,{server.url}").schema("7") == INT


def test_tls_to_a_server_that_speaks_none(server: ScriptedServer) -> None:
    url = server.url.replace("http:", "https:")
    refusal(SettingsError, lambda: registry(url).schema("7"))


@pytest.mark.patient
def test_a_server_that_is_silent_about_tls() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        said = refusal(RegistryUnavailable, lambda: registry(url).schema("7"))
    assert f"{url}: ConnectTimeout" in said
    # A connection that nobody has closed is told here.
    gc.collect()


TEXTS = st.text(st.characters(codec=None), max_size=5)
REFERENCES = st.lists(
    st.fixed_dictionaries({"name": TEXTS, "subject": TEXTS, "version": st.integers()}), max_size=2
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "schema": TEXTS | ODD,
        "schemaType": st.sampled_from(["AVRO", "JSON", "PROTOBUF", "XML"]) | ODD,
        "references": REFERENCES | ODD,
        "id": st.integers() | ODD,
        "error_code": st.integers(40400, 40499) | ODD,
        "message": TEXTS | ODD,
    },
)
BODIES = DOCUMENTS.map(lambda each: json.dumps(each).encode()) | st.binary(max_size=20)


@pytest.fixture(scope="module")
def odd_server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.mark.patient
@settings(max_examples=60, deadline=None)
@given(st.integers(200, 599).filter(lambda status: status not in (204, 205, 304)), BODIES)
def test_whatever_is_answered_is_a_schema_or_one_of_the_named_errors(
    odd_server: ScriptedServer, status: int, body: bytes
) -> None:
    odd_server.otherwise = plain(status, body)
    asked = registry(odd_server.url, 0.6)
    for call in (lambda: asked.schema("7"), lambda: asked.latest("orders-value")):
        try:
            assert isinstance(call(), RegisteredSchema)
        except (RegistryUnavailable, SettingsError, UnknownSchema) as refused:
            str(refused).encode()
