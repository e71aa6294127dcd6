"""`sluice peek` on a real topic: what it shows, what it proposes, and that it leaves no trace."""

from __future__ import annotations

import json
import re
from subprocess import CompletedProcess
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from sluice.spec_folder import load_spec

from tests.worlds.command_line import run_main
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, produce
from tests.worlds.registered_topic import avro, framed, record
from tests.worlds.scripted_http import ScriptedServer, document, plain

pytestmark = pytest.mark.integration

REGISTRY = "schema_registry_default"
SECRET = "hunter2"
ORDER = record("Order", id="long")
JSON = [f'{{"id": {number}, "name": "{"ä" * 300}"}}'.encode() for number in range(30)]


@pytest.fixture
def orders(topic: Topic, pipeline: Pipelines) -> Installed:
    made = pipeline(topic(3))
    produce(made.bootstrap, made.topics[0], JSON, 0)
    produce(made.bootstrap, made.topics[0], JSON[:2], 1)
    return made


def peek(orders: Installed, *options: str, topic: str = "") -> CompletedProcess[str]:
    words = ["sluice", "peek", topic or orders.topics[0], *options]
    return run_main(words, orders.environment, orders.folder)


def records(orders: Installed, *options: str) -> list[tuple[int, int]]:
    done = peek(orders, "--json", *options)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["topic"] == orders.topics[0]
    return [(each["partition"], each["offset"]) for each in found["records"]]


def test_which_records_are_shown(orders: Installed) -> None:
    topic = orders.topics[0]
    assert records(orders) == [(0, each) for each in range(22, 30)] + [(1, 0), (1, 1)]
    assert records(orders, "--from", "earliest", "-n", "3") == [(0, 0), (1, 0), (1, 1)]
    assert records(orders, "--from", f"{topic}[0]@28") == [(0, 28), (0, 29)]
    delete_records(orders.bootstrap, topic, 29)
    assert records(orders) == [(0, 29), (1, 0), (1, 1)]


def test_people_see_records_cut_and_a_spec_that_loads(orders: Installed) -> None:
    produce(orders.bootstrap, orders.topics[0], [b"\x1b[2J\n", None], 2)
    shown = peek(orders, "-n", "5").stdout
    assert f"{orders.topics[0]}[2]@0" in shown
    assert "\x1b" not in shown
    assert r"\x1b[2J\n" in shown
    assert re.search(r"\[0\]@29 .*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d .*ä… \(\d+ bytes\)", shown)
    assert "1 of 4 values would be quarantined: " in shown
    assert r"not one JSON object: expected {, found a control character at byte 0" in shown
    file = orders.spec_file
    file.write_text(peek(orders, "--spec", "--from", f"{orders.topics[0]}[0]@0").stdout)
    spec = load_spec(file)
    found = [(each.name, str(each.type)) for each in spec.columns]
    assert found == [("id", "BIGINT"), ("name", "STRING")]


def test_it_leaves_no_trace(orders: Installed) -> None:
    before = sorted(orders.folder.rglob("*"))
    peek(orders)
    assert sorted(orders.folder.rglob("*")) == before
    admin = AdminClient({"bootstrap.servers": orders.bootstrap})
    groups = admin.list_consumer_groups().result()
    assert "sluice-reader" not in {each.group_id for each in groups.valid}


def test_an_empty_topic(topic: Topic, pipeline: Pipelines) -> None:
    shown = peek(pipeline(topic()))
    assert (shown.returncode, "0 records of 0 offsets" in shown.stdout) == (0, True)
    assert "No record was found" in shown.stdout


def test_mistakes_are_answered_with_what_is_there(orders: Installed) -> None:
    topic = orders.topics[0]
    unknown = peek(orders, topic=topic[:-1])
    assert unknown.returncode == 1
    assert f"did you mean {topic}?" in unknown.stderr
    for position, answer in (("[7]@0", "no such partition"), ("[0]@31", "[0, 30), found 31")):
        done = peek(orders, "--from", f"{topic}{position}")
        assert (done.returncode, answer in done.stderr) == (1, True), done.stderr
    for wrong in (
        ["--from", "newest"],
        ["--from", "other[0]@1"],
        ["-n", "0"],
        ["--spec", "--json"],
    ):
        assert peek(orders, *wrong).returncode == 2, wrong
    unset = peek(orders, "--kafka", "other")
    assert "AIRFLOW_CONN_OTHER is not set" in unset.stderr


@pytest.fixture
def registered(topic: Topic, pipeline: Pipelines) -> Installed:
    """Three records of schema 7, and one of schema 9, which the registry does not have."""
    made = pipeline(topic())
    values = [avro(7, ORDER, {"id": each}) for each in range(3)]
    produce(made.bootstrap, made.topics[0], [*values, framed(9, b"\x02")])
    return made


def connect(made: Installed, url: str) -> None:
    found = {"conn_type": "http", "login": "alice", "password": SECRET, "extra": {"url": url}}
    made.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = json.dumps(found)


def test_the_registry_that_is_known_is_named(registered: Installed) -> None:
    name = registered.topics[0]
    assert f"`sluice peek {name} --registry CONNECTION` decodes" in peek(registered).stdout
    connect(registered, "http://nowhere:1")
    assert f"`sluice peek {name} --registry {REGISTRY}` decodes" in peek(registered).stdout
    registered.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = "no JSON"
    assert "--registry CONNECTION` decodes" in peek(registered).stdout


def test_records_are_shown_by_their_schemas(registered: Installed) -> None:
    name = registered.topics[0]
    with ScriptedServer() as server:
        connect(registered, server.url)
        server.otherwise = document({"error_code": 40403, "message": "none"}, 404)
        found = {"id": 7, "version": 1, "subject": f"{name}-value", "schema": json.dumps(ORDER)}
        server.answers["/schemas/ids/7"] = document(found)
        server.answers["/schemas/ids/7/versions"] = document([found])
        server.answers[f"/subjects/{name}-value/versions/latest"] = document(found)
        shown = peek(registered, "--registry", REGISTRY)
        document_of_it = json.loads(peek(registered, "--registry", REGISTRY, "--json").stdout)
    assert shown.returncode == 0
    assert re.search(r"@2 .* {\"id\": 2} *\n", shown.stdout)
    assert re.search(r"@3 .*\\x00\\x00\\x00\\x00\\t", shown.stdout)
    listed = rf"Schemas of {REGISTRY}\n.*\n7 +AVRO +shop.Order +value +3 +{name}-value"
    assert re.search(listed, shown.stdout)
    assert f"1 of 4 values would be quarantined: {name}[0]@3: connection" in shown.stdout
    assert f"\nformat: {{type: avro, registry: {REGISTRY}}}\n" in shown.stdout
    *good, unknown = [each["value_decoded"] for each in document_of_it["records"]]
    assert good[1] == {"schema": "7", "record": "shop.Order", "value": {"id": 1}}
    assert (unknown["schema"], "schema 9" in unknown["problem"]) == ("9", True)
    assert document_of_it["registry"]["connection"] == REGISTRY
    assert [each["schema"] for each in document_of_it["registry"]["schemas"]] == ["7", "9"]
    assert [each["key_decoded"] for each in document_of_it["records"]] == [None] * 4


def test_a_registry_that_refuses_is_told_and_the_records_are_shown(registered: Installed) -> None:
    with ScriptedServer() as server:
        connect(registered, server.url)
        server.otherwise = plain(401, json.dumps({"message": f"not {SECRET}"}).encode())
        refused = peek(registered, "--registry", REGISTRY)
        told = json.loads(peek(registered, "--registry", REGISTRY, "--json").stdout)["registry"]
    assert refused.returncode == 1
    # Both are asked for at once, and either may be refused first.
    reason = rf"connection {REGISTRY}: schema [79]: expected a login that may read it"
    assert re.search(reason, refused.stderr)
    assert "The records are shown without it" in refused.stderr
    assert f"{registered.topics[0]}[0]@3" in refused.stdout
    assert "may be framed: schema id 7, 9" in refused.stdout
    assert re.search(reason, told["refusal"])
    assert told["schemas"] == []
    assert SECRET not in refused.stdout + refused.stderr + told["refusal"]
    # Where no server listens.
    down = peek(registered, "--registry", REGISTRY)
    assert (down.returncode, "run again when the registry answers" in down.stderr) == (1, True)
    assert f"{registered.topics[0]}[0]@3" in down.stdout
    unset = peek(registered, "--registry", "other")
    assert (unset.returncode, unset.stdout) == (1, "")
    assert "AIRFLOW_CONN_OTHER is not set" in unset.stderr
