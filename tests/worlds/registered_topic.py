"""A topic whose records name schemas, and the registry that has these, as a server of the tests."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastavro
from sluice.broker.port import Sample
from sluice.connections import Connection
from sluice.offsets.ranges import TopicPartition
from sluice.operations.peek.answers import Answers
from sluice.operations.peek.asking import ask
from sluice.operations.peek.packing import Unpacked, unpacked
from sluice.operations.peek.registered_proposal import propose_registered
from sluice.operations.peek.samples import Samples
from sluice.registry.client import Registry
from sluice.registry.kept_schemas import KeptSchemas
from sluice.registry.registry_settings import RegistrySettings
from sluice.registry.schema_book import SchemaBook
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import load_spec

from tests.worlds.scripted_http import ScriptedServer, document

AT = TopicPartition("orders", 0)
CONNECTION = "registry_a"


class RegisteredTopic:
    """`send` appends a record; `proposal` is what is proposed for all of them."""

    def __init__(self, server: ScriptedServer, folder: Path) -> None:
        self.server, self._folder = server, folder
        server.otherwise = document({"error_code": 40403, "message": "none"}, 404)
        self.samples: list[Sample] = []

    def register(self, number: int, schema: Any, *subjects: str, kind: str = "AVRO") -> None:
        """A schema, newest version of these subjects."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        found = {"schema": text, "schemaType": kind}
        answers = self.server.answers
        answers[f"/schemas/ids/{number}"] = document(found)
        versions = [{"subject": each, "version": 1} for each in subjects]
        answers[f"/schemas/ids/{number}/versions"] = document(versions)
        for each in subjects:
            newest = {**found, "id": number, "version": 1, "subject": each}
            answers[f"/subjects/{each}/versions/latest"] = document(newest)

    def send(
        self,
        value: bytes | None,
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        self.samples.append(Sample(AT, len(self.samples), None, key, value, tuple(headers)))

    def opened(self) -> Unpacked:
        return unpacked({str(each): each.value for each in self.samples})

    def registry(self) -> Registry:
        found = Connection.from_json(CONNECTION, {"extra": {"url": self.server.url}})
        return Registry(RegistrySettings.from_connection(found), limit=10)

    def answers(self) -> Answers:
        return ask(self.registry(), "orders", self.samples, self.opened().values)

    def proposal(self) -> str:
        opened = self.opened()
        samples = Samples(opened.values, opened.broken)
        return propose_registered("kafka_default", self.answers(), samples, opened.compression)

    def planned(self, text: str) -> PipelineSpec:
        """The spec of a text as `plan` reads it for the first time: the registry is asked."""
        file = self._folder / "proposed.yaml"
        file.write_text(text, encoding="utf-8")
        spec = load_spec(file)
        kept = KeptSchemas(str(self._folder / "orders__offsets"), spec.pipeline)
        book = SchemaBook(kept, lambda _: self.registry())
        return book.as_registered(spec, ["orders"], ()).value


def framed(number: int, body: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + body


def avro(number: int, schema: Any, value: Any) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(schema), value)
    return framed(number, body.getvalue())


def record(name: str, **fields: Any) -> dict[str, Any]:
    listed = [{"name": each, "type": found} for each, found in fields.items()]
    return {"type": "record", "name": name, "namespace": "shop", "fields": listed}
