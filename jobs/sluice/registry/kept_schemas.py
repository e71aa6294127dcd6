"""Kept schemas: the schemas that a pipeline's records were read with, beside its offsets table.

A rerun reads them here, whatever has become of the registry:

    <table>__offsets/_schemas/<connection>/ids/<key>.json              what a number stands for
    <table>__offsets/_schemas/<connection>/readers/<subject>/<n>.json  the reader schemas, in order
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from sluice.errors import OffsetsDamaged, SchemaChanged
from sluice.moves import Move
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import RegisteredSchema
from sluice.tables.storage import KEPT
from sluice.tables.write_once import WriteOnceFiles, versioned_json

FORMAT_VERSION = 1
# A file system has no names of more than 255 bytes.
_LONGEST_NAME = 200


class KeptSchemas:
    """The schemas kept beside an offsets table; `registry` is a connection's id in every method.

    What is kept is never changed. Every method raises StoreUnavailable or CommitUnknown where
    the files cannot be asked, OffsetsDamaged for a file of another form, NewerFormat.
    """

    def __init__(self, offsets_uri: str, pipeline: str) -> None:
        self._pipeline = pipeline
        self._uri = f"{offsets_uri}/{KEPT}"
        self._files = WriteOnceFiles(offsets_uri, KEPT)

    def get(self, registry: str, key: str) -> RegisteredSchema | None:
        """The schema that a key stands for; None where it was never met."""
        path = _path_of(registry, key)
        text = self._files.text(path)
        return None if text is None else self._schema(path, text)

    def all(self, registry: str) -> Mapping[str, RegisteredSchema]:
        """All that were met, by their keys."""
        folder = f"{_name_of(registry)}/ids"
        found = (self._schema(f"{folder}/{n}", t) for n, t in self._files.texts(folder).items())
        return {each.key: each for each in found}

    def others(self, registry: str) -> bool:
        """Whether anything is kept of another connection."""
        return any(each != _name_of(registry) for each in self._files.folders())

    def knows(self, registry: str) -> bool:
        """Whether any schema is kept of a connection."""
        return bool(self._files.names(f"{_name_of(registry)}/ids"))

    def numbers(self, registry: str) -> list[str]:
        """The numbers that were met, lowest first, without GUIDs."""
        stems = (n.partition(".")[0] for n in self._files.names(f"{_name_of(registry)}/ids"))
        return sorted((each for each in stems if each.isdecimal()), key=int)

    def keep(self, registry: str, schema: RegisteredSchema) -> None:
        """Keep a schema that the registry has given.

        Raises SchemaChanged where its key already stands for another.
        """
        path = _path_of(registry, schema.key)
        content = {"format_version": FORMAT_VERSION, **schema.as_dict()}
        if not self._files.put(path, json.dumps(content)):
            self.require_same(registry, schema)

    def require_same(self, registry: str, schema: RegisteredSchema) -> None:
        """Raises SchemaChanged where the key of a schema already stands for another."""
        kept = self.get(registry, schema.key)
        if kept is not None and not _same(kept, schema):
            raise self.changed(registry, kept, f"the registry now gives another ({schema.kind})")

    def changed(self, registry: str, kept: RegisteredSchema, found: str) -> SchemaChanged:
        """The refusal of a registry that is not the one of which a schema was kept."""
        return SchemaChanged(
            f"connection {registry}: schema {kept.key}: expected the {kept.kind} schema that"
            f" {self._uri}/{_path_of(registry, kept.key)} holds, found that {found}: it was"
            " rebuilt, or is another one. Bring its old content back, each schema under its old"
            " number. Or, if the records that are still to be read were written with the new one,"
            " give the registry a connection with another id, and name that in the spec; ",
            Move("plan", (self._pipeline,)),
            " shows what it gives.",
        )

    def reader(self, registry: str, subject: str) -> RegisteredSchema | None:
        """The newest reader schema of a subject; None where there was none yet."""
        numbers = self._in_order(registry, subject)
        return self._reader(registry, subject, numbers[-1]) if numbers else None

    def advance(self, registry: str, subject: str, schema: RegisteredSchema) -> RegisteredSchema:
        """Make a schema the reader of its subject, unless it is; which one it is now.

        If two processes do this at once, the second one gets the schema that the first has stored.
        """
        self.keep(registry, schema)
        before = self._in_order(registry, subject)
        if before and (newest := self._reader(registry, subject, before[-1])).key == schema.key:
            return newest
        path = f"{_readers_of(registry, subject)}/{(before or [0])[-1] + 1}.json"
        content = {"format_version": FORMAT_VERSION, "subject": subject, "key": schema.key}
        kept = {"kept": schema.kept} if schema.kept else {}
        if self._files.put(path, json.dumps(content | kept)):
            return schema
        newest_now = self.reader(registry, subject)
        assert newest_now is not None
        return newest_now

    def _in_order(self, registry: str, subject: str) -> list[int]:
        stems = (n.partition(".")[0] for n in self._files.names(_readers_of(registry, subject)))
        return sorted(int(each) for each in stems if each.isdecimal())

    def _reader(self, registry: str, subject: str, number: int) -> RegisteredSchema:
        path = f"{_readers_of(registry, subject)}/{number}.json"
        document = self._document(path, self._files.text(path) or "")
        key = document.get("key")
        if not isinstance(key, str):
            raise self._damaged(path, "the key of a kept schema", "none")
        schema = self.get(registry, key)
        if schema is None:
            # What the registry has of the key now would be read without a look at it.
            raise OffsetsDamaged(
                f"{self._uri}/{_path_of(registry, key)}: expected the schema that {path} names as"
                " the reader, found no file. Bring the file back from a backup. Or move"
                f" {self._uri}/{path} away as well: the newest schema of the registry is the reader"
                " then, whatever `evolution` says; ",
                Move("plan", (self._pipeline,)),
                " shows what that does to the table.",
            )
        try:
            return replace(schema, kept=tuple(map(tuple, document.get("kept", ()))))
        except TypeError:
            raise self._damaged(path, "lists of names under kept", "another value") from None

    def _schema(self, path: str, text: str) -> RegisteredSchema:
        try:
            return RegisteredSchema.from_dict(self._document(path, text))
        except ValueError as problem:
            raise self._damaged(path, "a registered schema", str(problem)) from None

    def _document(self, path: str, text: str) -> dict[str, Any]:
        found = versioned_json(f"{self._uri}/{path}", text, FORMAT_VERSION)
        if found is None:
            raise self._damaged(path, f"JSON of format_version {FORMAT_VERSION}", "another form")
        return found

    def _damaged(self, path: str, expected: str, found: str) -> OffsetsDamaged:
        return OffsetsDamaged(
            f"{self._uri}/{path}: expected {expected}, found {found}. Bring the file back from a"
            " backup. Or move it away, and the registry is asked again."
        )


def _path_of(registry: str, key: str) -> str:
    return f"{_name_of(registry)}/ids/{_name_of(key)}.json"


def _readers_of(registry: str, subject: str) -> str:
    return f"{_name_of(registry)}/readers/{_name_of(subject)}"


def _name_of(text: str) -> str:
    """A folder's name for any text, percent-quoted; of one that is too long, with a digest."""
    name = quote(text, safe="")
    if len(name) > _LONGEST_NAME:
        return f"{name[:_LONGEST_NAME]}~{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    return name.replace(".", "%2E") if name.strip(".") == "" else name


def _same(one: RegisteredSchema, other: RegisteredSchema) -> bool:
    return one.kind == other.kind and kind_of(one.kind).same(one, other)
