"""Known registries: what a pipeline's registries say now, compared with what was kept of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from sluice.errors import RegistryUnavailable, SettingsError, UnknownSchema
from sluice.registry.kept_schemas import KeptSchemas
from sluice.registry.noted import Noted, Notes
from sluice.schemas.registered import RegisteredSchema

if TYPE_CHECKING:
    from sluice.registry.client import NotGiven, Registry

log = logging.getLogger(__name__)

# Keys that are asked for together: a registry that fails at one of them answers none of these.
_TOGETHER = 16
# Schemas that a registry does not have, in one message.
_MOST_NAMED = 10

FindRegistry = Callable[[str], "Registry"]
"""The registry of a connection. Raises SettingsError where it is not defined, or unusable."""


def no_registry(connection: str) -> Registry:
    """For commands that read only tables. Raises SettingsError."""
    raise SettingsError(f"connection {connection}: no schema registry is asked here")


class KnownRegistries:
    """The registries of a pipeline; what a key stands for is kept for good."""

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
            self._report_absent(registry, problem)
            return None
        self._kept.keep(registry, found)
        log.info("connection %s: schema %s is kept from now on", registry, key)
        return found

    def schemas(self, registry: str, keys: Sequence[str]) -> Noted[Mapping[str, RegisteredSchema]]:
        """What keys stand for; what the registry does not have is left out.

        Whether those that were kept before still do is asked. Raises SchemaChanged.
        """
        before = {each: kept for each in keys if (kept := self._kept.get(registry, each))}
        notes = self.require_same(registry, [*before.values()])
        found = {each: before.get(each) or self.schema(registry, each) for each in keys}
        return Noted({key: each for key, each in found.items() if each is not None}, notes)

    def _report_absent(self, registry: str, problem: UnknownSchema) -> None:
        """Bytes that only look like a frame may name a thousand numbers: not a line for each."""
        count = len(self.absent(registry))
        if count <= _MOST_NAMED:
            log.warning("%s", problem)
        elif count == _MOST_NAMED + 1:
            log.warning(
                "connection %s: further schemas that it does not have are asked for and no longer"
                " named here; `sluice quarantine show` names them, record by record",
                registry,
            )

    def newest(
        self, registry: str, subjects: Sequence[str], reader: RegisteredSchema | None
    ) -> Noted[dict[str, RegisteredSchema]]:
        """The newest schema of each subject that has one, oldest first; nothing is kept.

        A subject without one is noted, if there is a reader or another subject has one; else
        raised, as is all that a registry refuses while there is no reader. Raises SchemaChanged.
        """
        found: dict[str, RegisteredSchema] = {}
        missing: list[UnknownSchema] = []
        notes: Notes = ()
        before = f"records are read as schema {reader.key}, as before: " if reader else ""
        for subject in subjects:
            try:
                found[subject] = self._latest(registry, subject)
            except UnknownSchema as problem:
                missing.append(problem)
            except (RegistryUnavailable, SettingsError) as problem:
                if reader is None:
                    raise
                notes = (f"{before}{problem}",)
                # Each question has its time; that of all is limited, too.
                break
        else:
            notes = self.require_known(registry, reader, [each.key for each in found.values()])
        if missing and reader is None and not found:
            raise missing[0]
        by_age = dict(sorted(found.items(), key=lambda each: each[1].age))
        return Noted(by_age, (*notes, *(f"{before}{each}" for each in missing)))

    def require_same(
        self,
        registry: str,
        kept: Sequence[RegisteredSchema],
        known_by: RegisteredSchema | None = None,
    ) -> Notes:
        """Ask whether keys still stand for what was kept of them: a registry may be another one.

        The key that it is known by comes first, then the newest. Where keys get no answer, the
        older ones are not asked either.

        One that has lost the number it is known by is another one: what is deleted softly still
        answers by its number. Others may have been deleted for good, and then no new record has
        them. That it gives no answer is noted. Raises SchemaChanged.
        """
        if not kept:
            return ()
        first = [each for each in kept if each == known_by]
        newest = [*first, *(each for each in reversed(kept) if each != known_by)]
        for place in range(0, len(newest), _TOGETHER):
            some = newest[place : place + _TOGETHER]
            try:
                found = self._find(registry).several([each.key for each in some])
            except (RegistryUnavailable, SettingsError) as problem:
                left = {each.key for each in newest[place:]}
                named = _named([each.key for each in kept if each.key in left])
                return (f"what was kept of {named} is used, as before: {problem}",)
            self._compare(registry, some, found, known_by)
        return ()

    def _compare(
        self,
        registry: str,
        kept: Sequence[RegisteredSchema],
        found: Mapping[str, RegisteredSchema | NotGiven],
        known_by: RegisteredSchema | None,
    ) -> None:
        for each in kept:
            now = found[each.key]
            if isinstance(now, RegisteredSchema):
                self._kept.require_same(registry, now)
            elif now.gone and each == known_by and each.key.isdecimal():
                raise self._kept.changed(registry, each, "the registry has no such number any more")
            else:
                log.info("what was kept of schema %s is used, as before: %s", each.key, now.why)

    def require_known(
        self, registry: str, reader: RegisteredSchema | None, seen: Sequence[str] = ()
    ) -> Notes:
        """Ask whether the registry is the one of before, by three numbers that were kept of it.

        That of the reader, or without one the highest, the lowest and the highest; not those that
        were `seen` just now. Raises SchemaChanged.
        """
        numbers = self._kept.numbers(registry)
        known_by = reader or (self._kept.get(registry, numbers[-1]) if numbers else None)
        wanted = [each for each in dict.fromkeys([*numbers[:1], *numbers[-1:]]) if each not in seen]
        others = [self._kept.get(registry, each) for each in wanted]
        first = [] if known_by is None or known_by.key in seen else [known_by]
        asked = {each.key: each for each in (*first, *others) if each is not None}
        return self.require_same(registry, [*asked.values()], known_by)

    def _latest(self, registry: str, subject: str) -> RegisteredSchema:
        found = self._find(registry).latest(subject)
        self._kept.require_same(registry, found)
        return found


def _named(keys: Sequence[str]) -> str:
    return f"schema{'s' if len(keys) > 1 else ''} {', '.join(keys)}"
