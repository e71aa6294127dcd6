"""Schemas that are kept beside an offsets table in a bucket: as on a disk, written once."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.errors import SchemaChanged, StoreUnavailable
from sluice.registry.kept_schemas import KeptSchemas
from sluice.schemas.registered import RegisteredSchema

from local.embedded.gateway import BUCKET, Gateway, reached
from tests.production.worlds.network import Network

REGISTRY = "schema_registry_default"
SEVEN = RegisteredSchema("7", "AVRO", '"int"')


@pytest.fixture
def uri(gateway: Gateway, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An offsets table's place in the bucket, which this process reaches."""
    reach(monkeypatch, gateway.connection())
    return f"s3a://{BUCKET}/{request.node.name}/orders__offsets"


def reach(monkeypatch: pytest.MonkeyPatch, connection: str) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, text in reached({"AIRFLOW_CONN_SLUICE_WAREHOUSE": connection}).items():
        monkeypatch.setenv(name, text)


def test_what_was_kept_comes_back_and_is_never_changed(uri: str) -> None:
    kept = KeptSchemas(uri, "orders")
    assert kept.get(REGISTRY, "7") is None
    assert kept.all(REGISTRY) == {}
    assert kept.reader(REGISTRY, ":.team:a/b-value") is None
    for number in range(1, 12):
        made = RegisteredSchema(str(number), "AVRO", json.dumps({"type": "int", "n": number}))
        kept.advance(REGISTRY, ":.team:a/b-value", made)
        assert kept.reader(REGISTRY, ":.team:a/b-value") == made
    assert len(kept.all(REGISTRY)) == 11
    with pytest.raises(SchemaChanged):
        kept.keep(REGISTRY, SEVEN)


def test_of_many_at_once_one_text_stays(uri: str) -> None:
    several, started = 8, Barrier(8)

    def keep(number: int) -> bool:
        made = RegisteredSchema("7", "AVRO", json.dumps({"type": "int", "n": number}))
        started.wait()
        try:
            KeptSchemas(uri, "orders").keep(REGISTRY, made)
        except SchemaChanged:
            return False
        return True

    with ThreadPoolExecutor(several) as pool:
        won = [n for n, kept in enumerate(pool.map(keep, range(several))) if kept]
    found = KeptSchemas(uri, "orders").get(REGISTRY, "7")
    assert found is not None
    assert won == [json.loads(found.text)["n"]]


def test_vacuum_leaves_them_alone(uri: str) -> None:
    kept = KeptSchemas(uri, "orders")
    kept.advance(REGISTRY, "orders-value", SEVEN)
    for mode in ("append", "overwrite"):
        write_deltalake(uri, pa.table({"a": [1]}), mode=mode)
    removed = DeltaTable(uri).vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)
    assert len(removed) == 1
    assert kept.reader(REGISTRY, "orders-value") == SEVEN


def test_a_store_that_does_not_answer_is_not_one_without_schemas(
    uri: str, gateway: Gateway, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    KeptSchemas(uri, "orders").advance(REGISTRY, "orders-value", SEVEN)
    reach(monkeypatch, gateway.connection(network.listens))
    kept = KeptSchemas(uri, "orders")
    with network.down():
        for look in (
            lambda: kept.get(REGISTRY, "7"),
            lambda: kept.all(REGISTRY),
            lambda: kept.reader(REGISTRY, "orders-value"),
            lambda: kept.keep(REGISTRY, SEVEN),
        ):
            with pytest.raises(StoreUnavailable, match="run again when the store answers"):
                look()
    assert kept.reader(REGISTRY, "orders-value") == SEVEN
