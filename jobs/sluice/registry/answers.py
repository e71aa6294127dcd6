"""Answers: what registries say now, each held against what was kept of it before."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sluice.errors import RegistryUnavailable, SettingsError, UnknownSchema
from sluice.registry.kept_schemas import KeptSchemas
from sluice.spec.registered import RegisteredSchema

if TYPE_CHECKING:
    from sluice.registry.client import Registry

log = logging.getLogger(__name__)

# Of the schemas that a registry does not have.
_MOST_TOLD = 10

FindRegistry = Callable[[str], "Registry"]
"""The registry of a connection. Raises SettingsError where it is not defined, or unusable."""


def no_registry(connection: str) -> Registry:
    """For what only reads tables. Raises SettingsError."""
    raise SettingsError(f"connection {connection}: no schema registry is asked here")


class Answers:
    """Questions to the registries of a pipeline; a schema by its key is asked for once."""

    def __init__(self, kept: KeptSchemas, find_registry: FindRegistry) -> None:
        self._kept = kept
        self._find = find_registry
        # What registries have said that they do not have, in this process.
        self._absent: set[tuple[str, str]] = set()

    def absent(self, registry: str) -> frozenset[str]:
        """The keys that a registry has said, to this process, that it does not have."""
        return frozenset(key for asked, key in self._absent if asked == registry)

    def schema(self, registry: str, key: str) -> RegisteredSchema | None:
        """What a key stands for, kept from now on; None where the registry does not have it."""
        kept = self._kept.get(registry, key)
        if kept is not None or (registry, key) in self._absent:
            return kept
        try:
            found = self._find(registry).schema(key)
        except UnknownSchema as problem:
            self._absent.add((registry, key))
            self._tell_absent(registry, problem)
            return None
        self._kept.keep(registry, found)
        log.info("connection %s: schema %s is kept from now on", registry, key)
        return found

    def _tell_absent(self, registry: str, problem: UnknownSchema) -> None:
        """Bytes that only look like a frame may name a thousand numbers: not a line for each."""
        count = len(self.absent(registry))
        if count <= _MOST_TOLD:
            log.warning("%s", problem)
        elif count == _MOST_TOLD + 1:
            log.warning(
                "connection %s: further schemas that it does not have are asked for and no longer"
                " named here; `sluice quarantine show` names them, record by record",
                registry,
            )

    def newest(
        self,
        registry: str,
        subjects: Sequence[str],
        reader: RegisteredSchema | None,
        told: list[str],
    ) -> dict[str, RegisteredSchema]:
        """The newest schema of each subject that has one, oldest first; nothing is kept.

        What has none is told, if there is a reader or another subject has one; else raised, as is
        all that a registry refuses while there is no reader. Raises SchemaChanged.
        """
        found: dict[str, RegisteredSchema] = {}
        missing: list[UnknownSchema] = []
        before = f"records are read as schema {reader.key}, as before: " if reader else ""
        for subject in subjects:
            try:
                found[subject] = self._latest(registry, subject)
            except UnknownSchema as problem:
                missing.append(problem)
            except (RegistryUnavailable, SettingsError) as problem:
                if reader is None:
                    raise
                told.append(f"{before}{problem}")
                # Each question has its time; that of all is limited, too.
                break
        else:
            if reader is not None and reader.key not in {each.key for each in found.values()}:
                self.require_same(registry, reader, told)
        if missing and reader is None and not found:
            raise missing[0]
        told += [f"{before}{each}" for each in missing]
        return dict(sorted(found.items(), key=lambda each: each[1].age))

    def require_same(self, registry: str, kept: RegisteredSchema, told: list[str]) -> None:
        """Ask whether a key still stands for what was kept of it: a registry may be another one.

        That it gives no answer is told. Raises SchemaChanged.
        """
        try:
            self._kept.require_same(registry, self._find(registry).schema(kept.key))
        except UnknownSchema as problem:
            told.append(
                f"what was kept of schema {kept.key} is used, but the registry has it no more: it"
                f" was deleted for good, or the registry is another one: {problem}"
            )
        except (RegistryUnavailable, SettingsError) as problem:
            told.append(f"what was kept of schema {kept.key} is used, as before: {problem}")

    def _latest(self, registry: str, subject: str) -> RegisteredSchema:
        found = self._find(registry).latest(subject)
        self._kept.require_same(registry, found)
        return found
