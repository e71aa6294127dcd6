"""A record's formats: that of its value, and that of its key where keys are decoded. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sluice.columns.columns import Column, parse_columns
from sluice.columns.declared import told
from sluice.columns.names import KEY_PREFIX
from sluice.columns.undeclared import Undeclared
from sluice.derived.derived_columns import OURS
from sluice.errors import did_you_mean
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import KEY_OF, Format, RegisteredFormat, Source
from sluice.spec_file.key_formats import KeyFormat
from sluice.spec_file.places import place_of

_PREFIX: Mapping[Source, str] = {"value": "", "key": KEY_PREFIX}
_PART = re.compile(r"[.\[{]")


@dataclass(frozen=True)
class RecordFormats:
    """How records are decoded. Without `key`, keys stay bytes.

    With `rescue`, the value's fields that no column declares are kept. A record without a value in
    one of the columns `required` is undecodable. With `apart` that is told apart from other
    errors: a condition decides first which records have to have one.
    """

    value: Format
    key: KeyFormat | None = None
    rescue: bool = False
    required: tuple[str, ...] = ()
    apart: bool = False

    @property
    def by_source(self) -> Mapping[Source, KeyFormat]:
        """The formats, by the part of a record that they decode."""
        value: Mapping[Source, KeyFormat] = {"value": self.value}
        return value if self.key is None else {**value, "key": self.key}

    def rescues(self, source: Source) -> bool:
        """Whether fields that no column declares are kept."""
        return self.rescue and source == "value"

    def required_of(self, source: Source) -> tuple[str, ...]:
        """The columns of a value, or of a key, in which a record has values."""
        keys = {each for each in self.required if each.startswith(KEY_PREFIX)}
        if source == "value":
            return tuple(each for each in self.required if each not in keys)
        return tuple(each.removeprefix(KEY_PREFIX) for each in self.required if each in keys)

    def require(self) -> None:
        """Raises ValueError where columns that are known, taken or required do not fit together."""
        known: list[str] = []
        for source, form in self.by_source.items():
            if isinstance(form, RegisteredFormat):
                form.require_apart()
            if not form.awaits_reader:
                known += (f"{_PREFIX[source]}{each.name}" for each in form.columns)
        for name in self.required:
            decoded = self.key if name.startswith(KEY_PREFIX) else self.value
            awaits = decoded is not None and decoded.awaits_reader
            if name not in known and not awaits:
                meant = did_you_mean(name, known)
                raise ValueError(
                    f"required: found {name}{meant}; expected a column of the records, not a"
                    f" derived one; allowed: {', '.join(known)}"
                )

    @property
    def registered(self) -> Mapping[Source, RegisteredFormat]:
        """Those whose records name their schema in a registry."""
        return {
            source: form
            for source, form in self.by_source.items()
            if isinstance(form, RegisteredFormat) and form.registry is not None
        }

    @property
    def registries(self) -> tuple[str, ...]:
        """The ids of their registries' connections, each once."""
        return tuple(dict.fromkeys(str(form.registry) for form in self.registered.values()))

    @property
    def awaits_reader(self) -> bool:
        """Whether the columns are known only when a schema registry is asked."""
        return any(form.awaits_reader for form in self.by_source.values())

    def read_as(self, readers: Mapping[Source, RegisteredSchema]) -> Mapping[str, RegisteredFormat]:
        """The formats that read as these schemas, by their keys in a spec."""
        return {
            KEY_OF[source]: form.read_as(readers[source])
            for source, form in self.registered.items()
            if source in readers
        }

    def told(self) -> Iterator[str]:
        """A line for all that a schema declares and no column holds as it is.

        And for each column whose field a JSON schema should declare, and does not. Nothing where a
        schema registry has yet to give the columns.
        """
        for source, form in self.by_source.items():
            if not form.awaits_reader:
                yield from (f"{KEY_OF[source]}: {line}" for line in told(form.declared))
                yield from _undeclared(form)

    @property
    def decided(self) -> Mapping[str, Mapping[str, str]]:
        """What decides rows, by the spec's keys. A key that has its default is as none."""
        return {
            KEY_OF[source]: form.model_dump(
                # The reader's digest tells which texts they are, also of files found by themselves.
                mode="json",
                by_alias=True,
                exclude_defaults=True,
                exclude={"schema_files"},
            )
            | dict(form.decided)
            for source, form in self.by_source.items()
        }

    @property
    def key_columns(self) -> tuple[Column, ...]:
        """The decoded fields of the key, named `_key_<field>`."""
        keys = () if self.key is None else self.key.columns
        return tuple(Column(f"{KEY_PREFIX}{each.name}", each.type) for each in keys)

    def declared_at(self, column: str) -> str:
        """Where the type of a decoded column, or of a part of one, is declared."""
        of_key = _PART.split(column)[0] in {each.name for each in self.key_columns}
        key, form = ("key_format", self.key) if self.key and of_key else ("format", self.value)
        return f"{key}.{form.declared_by}: {column}"

    @property
    def further_columns(self) -> tuple[Column, ...]:
        """The decoded fields of the key, then what is rescued."""
        return (*self.key_columns, *(parse_columns("_rescued STRING") if self.rescue else ()))

    @property
    def our_columns(self) -> tuple[Column, ...]:
        """The columns that Sluice adds: the coordinates, and what follows them."""
        return (*OURS, *self.further_columns)


def _undeclared(form: KeyFormat) -> Iterator[str]:
    """A line for each column that is taken from a field which may never be found."""
    if isinstance(form, RegisteredFormat) and kind_of(form.kind).opens:
        # Only a format that may read records within others has the key.
        written: str | None = getattr(form, "at", None)
        at = () if written is None else place_of(written)
        # The schema of a registry changes, and with it what its fields are called.
        known = Undeclared(form.declared_by, form.declared.fields, at, form.follows_registry)
        yield from known.told(form.taken_types)
