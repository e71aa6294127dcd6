"""The client: what a schema registry says of a schema's key, or of a subject."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sluice.errors import UnknownSchema
from sluice.registry.asking import Answer, Asking, in_time, wrong_address
from sluice.registry.proto_sources import as_descriptors
from sluice.registry.registry_settings import RegistrySettings
from sluice.schemas.registered import KINDS, Reference, RegisteredSchema

LIMIT_SECONDS = 30.0
_LARGEST_ID = 2**31 - 1
_DEEPEST = 50
# Requests at a time; a registry serves others too.
_AT_ONCE = 8
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# A registry has answered it for as long as there is more than Avro.
_ANY_REGISTRY = "schemas/types"


@dataclass(frozen=True)
class NotGiven:
    """Why a registry gives no schema for a key; `gone` where it says that it has none."""

    why: str
    gone: bool


class Registry:
    """A schema registry with Confluent's interface. Each call ends within `limit` seconds.

    Every method raises RegistryUnavailable where it gives no answer, SettingsError if it
    refuses the login or is not a registry, and UnknownSchema.
    """

    def __init__(self, settings: RegistrySettings, limit: float = LIMIT_SECONDS) -> None:
        self._settings = settings
        self._limit = limit

    @property
    def connection(self) -> str:
        """The id of its Airflow connection."""
        return self._settings.connection

    def schema(self, key: str) -> RegisteredSchema:
        """The schema with a number in decimal digits, or with a GUID.

        Raises UnknownSchema where there is none, or where the registry knows no GUIDs.
        """
        what, path = f"schema {key}", _path_of(key)
        if path is None:
            raise self._unknown(what, f"a number up to {_LARGEST_ID}, or a GUID", "another key")

        async def ask(asking: Asking) -> RegisteredSchema:
            answer = await asking.get(path, what)
            return await self._registered(asking, answer, key, what)

        return as_descriptors(in_time(self._settings, self._limit, what, ask))

    def several(self, keys: Sequence[str]) -> Mapping[str, RegisteredSchema | NotGiven]:
        """What each key stands for, asked within the time of one question."""

        async def ask(asking: Asking) -> list[RegisteredSchema | NotGiven]:
            turns = asyncio.Semaphore(_AT_ONCE)
            return await asyncio.gather(*(self._given(asking, turns, each) for each in keys))

        found = in_time(self._settings, self._limit, f"schemas {', '.join(keys)}", ask)
        as_read = (each if isinstance(each, NotGiven) else as_descriptors(each) for each in found)
        return dict(zip(keys, as_read, strict=True))

    async def _given(
        self, asking: Asking, turns: asyncio.Semaphore, key: str
    ) -> RegisteredSchema | NotGiven:
        what, path = f"schema {key}", _path_of(key)
        assert path is not None
        async with turns:
            answer = await asking.get(path, what)
            try:
                return await self._registered(asking, answer, key, what)
            except UnknownSchema as problem:
                return NotGiven(str(problem), gone=bool(answer.missing))

    def subjects(self, keys: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """The subjects that have the schema of each number; none where the registry tells none."""

        async def ask(asking: Asking) -> list[Sequence[str]]:
            turns = asyncio.Semaphore(_AT_ONCE)
            return await asyncio.gather(*(self._subjects(asking, turns, each) for each in keys))

        what = f"the subjects of schemas {', '.join(keys)}"
        found = in_time(self._settings, self._limit, what, ask) if keys else []
        return dict(zip(keys, found, strict=True))

    async def _subjects(self, asking: Asking, turns: asyncio.Semaphore, key: str) -> Sequence[str]:
        path = _path_of(key)
        if path is None or _GUID.fullmatch(key):
            return ()
        async with turns:
            answer = await asking.get(f"{path}/versions", f"the subjects of schema {key}")
        listed = answer.document if isinstance(answer.document, list) else []
        named = (each.get("subject") for each in listed if isinstance(each, dict))
        return tuple(sorted({each for each in named if isinstance(each, str)}))

    def latest(self, subject: str) -> RegisteredSchema:
        """The latest version of a subject. Raises UnknownSchema where there is none."""
        what = f"subject {subject!r}"

        async def ask(asking: Asking) -> RegisteredSchema:
            answer = await asking.get(f"subjects/{_quoted(subject)}/versions/latest", what)
            return await self._registered(asking, answer, None, what)

        return as_descriptors(in_time(self._settings, self._limit, what, ask))

    async def _registered(
        self, asking: Asking, answer: Answer, key: str | None, what: str
    ) -> RegisteredSchema:
        found = await self._checked(asking, answer, what)
        texts: dict[str, str] = {}
        await self._resolve(asking, found, texts, what, ())
        references = tuple(Reference(name, text) for name, text in texts.items())
        number = str(found.get("id")) if key is None else key
        if _path_of(number) is None:
            raise wrong_address(self._settings, what, f"{answer.url} answers without an id")
        return RegisteredSchema(number, found["schemaType"], found["schema"], references)

    async def _resolve(
        self,
        asking: Asking,
        schema: dict[str, Any],
        texts: dict[str, str],
        what: str,
        within: tuple[str, ...],
    ) -> None:
        """Add the texts that a schema refers to, those that they refer to before themselves."""
        for each in schema["references"]:
            name, subject, version = each["name"], each["subject"], each["version"]
            if name in within:
                raise self._unknown(what, "references without a circle", f"{name!r} in one")
            if len(within) == _DEEPEST:
                raise self._unknown(what, f"references of {_DEEPEST} levels", "more")
            path = f"subjects/{_quoted(subject)}/versions/{version}?deleted=true"
            of = f"{what}, its reference {name!r}: subject {subject!r}, version {version}"
            answer = await asking.get(path, of)
            found = await self._checked(asking, answer, of)
            if texts.get(name, found["schema"]) != found["schema"]:
                raise self._unknown(what, f"one text for its reference {name!r}", "two")
            if name not in texts:
                await self._resolve(asking, found, texts, what, (*within, name))
                texts[name] = found["schema"]

    async def _checked(self, asking: Asking, answer: Answer, what: str) -> dict[str, Any]:
        """A schema as the registry has it, with what it leaves out."""
        if answer.missing:
            await self._require_registry(asking, answer, what)
            raise self._unknown(what, "one that is registered", f"that {answer.missing}")
        found = answer.document
        if not isinstance(found, dict) or not isinstance(found.get("schema"), str):
            raise wrong_address(self._settings, what, f"{answer.url} answers with no schema")
        # These two are left out of the usual answer: Avro without references.
        kind, references = found.get("schemaType") or "AVRO", found.get("references") or []
        if kind not in KINDS:
            raise self._unknown(what, f"one of the kinds {', '.join(KINDS)}", f"{kind!r}")
        if not isinstance(references, list) or not all(map(_is_reference, references)):
            raise wrong_address(self._settings, what, f"{answer.url} answers with other references")
        return {**found, "schemaType": kind, "references": references}

    async def _require_registry(self, asking: Asking, answer: Answer, what: str) -> None:
        """Raises SettingsError where it is not a registry that says so.

        Else every record would be taken for one of an unknown schema.
        """
        if not answer.by_code:
            types = await asking.get(_ANY_REGISTRY, what)
            if not isinstance(types.document, list):
                raise wrong_address(self._settings, what, answer.missing)

    def _unknown(self, what: str, expected: str, found: str) -> UnknownSchema:
        return UnknownSchema(
            f"connection {self.connection}: {', '.join(self._settings.urls)}: {what}: expected"
            f" {expected}, found {found}. Register it, or correct who wrote it or the connection."
        )


def _path_of(key: str) -> str | None:
    """Where a registry has the schema of a key; None for a key that none can have."""
    if _GUID.fullmatch(key):
        return f"schemas/guids/{key.lower()}"
    if re.fullmatch(r"[0-9]{1,10}", key) and int(key) <= _LARGEST_ID:
        return f"schemas/ids/{int(key)}"
    return None


def _quoted(subject: str) -> str:
    return quote(subject, safe="", errors="surrogatepass")


def _is_reference(found: Any) -> bool:
    kinds = {"name": str, "subject": str, "version": int}
    return isinstance(found, dict) and all(
        isinstance(found.get(key), kind) for key, kind in kinds.items()
    )
