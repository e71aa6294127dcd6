"""Only: which kind of record a pipeline lands, of a topic that holds several. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from sluice.columns.columns import Column
from sluice.derived.derived_columns import read_condition
from sluice.errors import did_you_mean
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import Kind, RegisteredSchema
from sluice.spec_file.formats import KEY_OF, RECORD, Format, RegisteredFormat
from sluice.strict_model import Model

# A commit names the records that it leaves out with a bit for each offset: at most some megabytes.
MOST_RECORDS = 10_000_000
_WAYS = ("record", "schema_ids", "header", "where")
_LARGEST = 2**31 - 1
_GUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def _schema_id(given: Any) -> int | str:
    """A schema's number, or its GUID in small letters. Raises ValueError."""
    if type(given) is int and 1 <= given <= _LARGEST:
        return given
    if isinstance(given, str) and re.fullmatch(_GUID, given):
        return given.lower()
    raise ValueError(f"expected a schema's number, from 1 to {_LARGEST}, or its GUID")


_NUMBER_OR_GUID = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": _LARGEST},
        {"type": "string", "pattern": f"^{_GUID}$"},
    ]
}
SchemaId = Annotated[int | str, PlainValidator(_schema_id), WithJsonSchema(_NUMBER_OR_GUID)]


class Only(Model):
    """One way to tell a kind of record: what is of another kind is left out, and counted.

    All but `where` go by a record's bytes, before it is decoded.
    """

    record: str | None = Field(default=None, pattern=RECORD)
    schema_ids: list[SchemaId] | None = Field(default=None, min_length=1, max_length=1000)
    header: str | None = Field(default=None, min_length=1)
    value: str | None = None
    where: str | None = None

    @model_validator(mode="after")
    def _is_one_way(self) -> Only:
        found = [each for each in _WAYS if getattr(self, each) is not None]
        if len(found) != 1:
            named = " and ".join(found) or "none"
            raise ValueError(f"expected exactly one of the keys {', '.join(_WAYS)}; found {named}")
        if (self.header is None) != (self.value is None):
            raise ValueError("header and value go together: the header's name, and what it says")
        return self

    @property
    def by_bytes(self) -> bool:
        """Whether it is decided before a record is decoded."""
        return self.where is None

    def lists(self, kind: type[int | str]) -> bool:
        """Whether it lists schemas by their numbers, or by their GUIDs."""
        return any(isinstance(each, kind) for each in self.schema_ids or ())

    def require(self, form: Format) -> None:
        """Raises ValueError where records of the format do not tell their kind in this way."""
        registry = isinstance(form, RegisteredFormat) and form.registry is not None
        for key in ("record", "schema_ids"):
            if getattr(self, key) is not None and not registry:
                raise ValueError(
                    f"only.{key} goes with {KEY_OF['value']}.registry: its records name the schema"
                    " that they were written with; others can be told apart by header or where"
                )
            if getattr(self, key) is not None and form.compression is not None:
                raise ValueError(
                    f"only.{key}: expected no compression, found {form.compression}: it hides the"
                    " schema that a record names; write header or where"
                )
        if self.record is None:
            return
        if form.type == "json":
            raise ValueError(
                "only.record goes with type avro or protobuf, whose schemas have full names; found"
                " type: json: write schema_ids, header or where"
            )
        wanted = getattr(form, "record", None)
        if wanted is not None and wanted != self.record:
            raise ValueError(
                f"only.record: expected {wanted}, as in format.record, found {self.record}"
            )

    def require_reader(self, form: Format) -> None:
        """Raises ValueError where the registry's newest schema is of another record."""
        if self.record is None or not isinstance(form, RegisteredFormat):
            return
        if not form.follows_registry or form.reader is None:
            return
        names = [*kind_of(form.kind).record_names(form.reader).values()]
        if self.record not in names:
            raise ValueError(
                f"only.record: expected a record of schema {form.reader.key}, as which records are"
                f" read ({', '.join(names) or 'none'}), found"
                f" {self.record}{did_you_mean(self.record, names)}: correct it; or write"
                f" subject_strategy: record and record: {self.record} in format, or a schema_file"
            )

    def leaves_out(self, kind: Kind, schema: RegisteredSchema) -> bool:
        """Whether it leaves out each record of a schema by the name of the record."""
        if self.record is None:
            return False
        names = kind_of(kind).record_names(schema).values()
        return bool(names) and self.record not in names

    def condition(self, columns: Iterable[Column]) -> str:
        """The expression of `where`, as Spark is given it. Raises ValueError."""
        try:
            return read_condition(str(self.where), columns)
        except ValueError as problem:
            raise ValueError(f"only.where: {problem}") from None

    def __str__(self) -> str:
        if self.record is not None:
            return f"record {self.record}"
        if self.schema_ids is not None:
            return f"schema ids {', '.join(map(str, self.schema_ids))}"
        return f"header {self.header} = {self.value}" if self.header else f"where {self.where}"
