"""Taking: columns that a spec takes from fields of records, by name or by path. Pure.

A field that is taken is not kept under its own name as well; what is left of a struct is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sluice.columns.columns import Column, ColumnType, Decimal, Primitive, Struct
from sluice.columns.declared import Declared, Note, path_of, possible
from sluice.columns.names import OWN_NAME, TAKEN, TWIN, as_compared, is_ours, unfit
from sluice.columns.near_fields import meant
from sluice.errors import did_you_mean

Path = tuple[str, ...]
_STEP = re.compile(r"\.(?P<plain>[^.\[\]'\"]+)|\['(?P<quoted>(?:[^'\\]|\\.)*)'\]")
# The types of a schema's field whose numbers, texts or bytes are read as what a spec says.
_COUNTS = (Primitive("INT"), Primitive("BIGINT"), Decimal(20, 0))
_HOLDS = {"base64": Primitive("STRING"), "connect_decimal": Primitive("BINARY")}
_VARIANT = Primitive("VARIANT")


@dataclass(frozen=True)
class Taken:
    """A column, the path of its field, and what the schema does not say of the field's values.

    `unit` is what a number counts: s, ms, us, ns or days. `encoding` is how text or bytes hold the
    value: base64, or connect_decimal, an unscaled number. `type` is None where the schema has it.
    `prefix` is what the spec has before the column's name: `_key_` of keys. `by_name` tells a field
    that the spec has by its name alone from one by a path.
    """

    column: str
    path: Path
    type: ColumnType | None = None
    unit: str | None = None
    encoding: str | None = None
    prefix: str = ""
    by_name: bool = field(default=False, compare=False)

    @property
    def name(self) -> str:
        """The column, as the spec names it."""
        return f"{self.prefix}{self.column}"

    @property
    def place(self) -> str:
        """The column and its field, for messages."""
        return f"columns.{self.name}: {path_of(self.path)}"


@dataclass(frozen=True)
class Field:
    """A field of the records, as what it is read; `taken` into `column`, if it is."""

    name: str
    type: ColumnType
    taken: Taken | None = None
    column: Column | None = None
    within: tuple[Field, ...] = ()
    """The fields of a struct of which columns take some; else empty."""


@dataclass(frozen=True)
class Reading:
    """What a record is read as: its fields, and the columns that are made of them."""

    fields: tuple[Field, ...]
    declared: Declared


def parse_path(text: str) -> Path:
    """A field's exact name, or a path from the record: `$.a.b`, `$['a.b'].c`. Raises ValueError."""
    if not text.startswith("$"):
        if not text:
            raise ValueError("expected a field's name, or a path such as $.a.b; found none")
        return (text,)
    at, found = 1, list[str]()
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise ValueError(
                f"found {text!r}; expected a path such as $.a.b or $['a.b'].c, without [0] and [*]"
            )
        plain = step["plain"]
        found.append(plain if plain is not None else re.sub(r"\\(.)", r"\1", step["quoted"]))
        at = step.end()
    if not found:
        raise ValueError("found '$'; expected a field of the record, such as $.a")
    return tuple(found)


def taking(
    declared: Declared, taken: Sequence[Taken], opens: bool, ours: Container[str] = ()
) -> Reading:
    """The record with these columns taken out of it.

    `opens`: whether records may have fields that are not declared, and a field is read as what its
    column is, as in JSON. `ours` are further names of Sluice's own. Raises ValueError for a path
    that leads nowhere.
    """
    require_apart(taken, ours)
    texts = {each.place for each in declared.as_text}
    found = [_field_of(declared.fields, each, opens, each.path in texts) for each in taken]
    paths = [each.path for each in taken]
    lost: list[Note] = []
    rest = possible(_without(declared.fields, paths, (), lost), ours)
    names = {as_compared(each.column) for each in taken}
    kept = tuple(each for each in rest.columns if as_compared(each.name) not in names)
    rivals = (Note((each.name,), TAKEN) for each in rest.columns if each not in kept)
    columns = (*kept, *(each.column for each in found if each.column))
    of_names = possible(declared.fields, ours).unread
    others = [x for x in declared.unread if x not in of_names and not _is_within(x, paths)]
    notes = Declared(
        columns,
        (*rest.unread, *rivals, *lost, *others),
        tuple(each for each in declared.as_text if each.place not in paths),
        declared.fields,
    )
    return Reading(_fields(kept, list(zip(paths, found, strict=True))), notes)


def type_at(fields: Sequence[Column], path: Path) -> ColumnType | None:
    """The type of the field that a path leads to; None where it leads to none."""
    found: ColumnType | None = Struct(tuple(fields))
    for name in path:
        below = found.fields if isinstance(found, Struct) else ()
        found = next((each.type for each in below if each.name == name), None)
    return found


def _is_within(note: Note, paths: Iterable[Path]) -> bool:
    return any(note.place[: len(each)] == each for each in paths)


def require_apart(taken: Sequence[Taken], ours: Container[str] = ()) -> None:
    """Raises ValueError for what cannot be taken, whatever fields and columns there are."""
    seen: set[str] = set()
    for each in taken:
        if is_ours(each.column, ours):
            raise ValueError(f"columns.{each.name}: {OWN_NAME}")
        if why := unfit(each.column, seen):
            raise ValueError(f"columns.{each.name if why is TWIN else repr(each.name)}: {why}")
        seen.add(as_compared(each.column))
    for each in taken:
        for other in taken:
            if each is not other and each.path[: len(other.path)] == other.path:
                raise ValueError(
                    f"{each.place}: expected each field in one column, found that columns."
                    f"{other.name} takes {path_of(other.path)}: derive one of them (`derived`)"
                )


def require_no_rivals(reading: Reading) -> None:
    """Raises ValueError where a spec declares fields under the names of columns that it takes."""
    for each in reading.declared.unread:
        if each.why == TAKEN:
            raise ValueError(
                f"schema: found {each.place[-1]}, and a column of the same name in `columns` (Delta"
                " ignores case in column names): choose another name there, or leave the field out"
            )


def _field_of(fields: Sequence[Column], taken: Taken, opens: bool, is_text: bool) -> Field:
    """The field that is read, and its column. `is_text`: what no column can hold is JSON text."""
    found = _at(fields, taken, opens)
    converts = is_text and taken.type == _VARIANT
    column = Column(taken.column, _column_type(fields, taken, found, opens or converts))
    read = column.type if found is None or opens else found
    if opens and taken.encoding:
        read = Primitive("BINARY")
    elif not opens:
        _require_readable(taken, read)
    return Field(taken.path[-1], read, taken, column)


def _at(fields: Iterable[Column], taken: Taken, opens: bool) -> ColumnType | None:
    """The type at the path; None where the schema has no such field."""
    found: ColumnType = Struct(tuple(fields))
    for depth, name in enumerate(taken.path):
        here = path_of(taken.path[:depth])
        if not isinstance(found, Struct):
            raise ValueError(f"{taken.place}: {here} is {found}: {_other_way(found, here)}")
        below = next((each.type for each in found.fields if each.name == name), None)
        if below is None and opens:
            return None
        if below is None:
            near = did_you_mean(name, [each.name for each in found.fields])
            raise ValueError(f"{taken.place}: expected a field of {here}, found none{near}")
        found = below
    return found


def _other_way(found: ColumnType, here: str) -> str:
    if found == Primitive("STRING"):
        return (
            "read it in `derived`, with get_json_object; or do not declare it, and take each field"
            " that you need"
        )
    return f"only fields of a STRUCT can be taken; take {here} as a whole, and use `derived`"


def _column_type(
    fields: Sequence[Column], taken: Taken, found: ColumnType | None, decides: bool
) -> ColumnType:
    """The column's type. `decides`: the spec may say it, whatever the schema says."""
    known = taken.type or found
    if known is None:
        raise ValueError(
            f"{taken.place}: expected type, as no schema says the field's"
            f"{meant(fields, taken.path)}; for example"
            f" {taken.name}: {{from: {json.dumps(path_of(taken.path))}, type: STRING}}"
        )
    by_schema = decides or taken.unit or taken.encoding or found in (None, known)
    if not by_schema:
        raise ValueError(
            f"{taken.place}: found type {known}; expected {found}, as in the schema. Leave type"
            " out, and cast the column in `derived`"
        )
    return known


def _require_readable(taken: Taken, read: ColumnType) -> None:
    """Raises ValueError where a field of the schema's type has no such unit or encoding."""
    if taken.unit and read not in _COUNTS:
        raise ValueError(f"{taken.place}: unit goes with whole numbers, found {read}")
    if taken.encoding and read != (held := _HOLDS[taken.encoding]):
        raise ValueError(f"{taken.place}: {taken.encoding} goes with {held}, found {read}")


def _without(
    fields: Iterable[Column], paths: Sequence[Path], above: Path, lost: list[Note]
) -> Iterator[Column]:
    """What is left of the fields; what is left of a struct, and no column can have, is lost."""
    for each in fields:
        below, place = [path[1:] for path in paths if path[0] == each.name], (*above, each.name)
        if () in below:
            continue
        if not below or not isinstance(each.type, Struct):
            yield each
            continue
        left = tuple(_without(each.type.fields, below, place, lost))
        reasons = [unfit(inner.name, ()) for inner in left]
        if not all(reasons):
            yield Column(each.name, Struct(left))
        else:
            pairs = zip(left, reasons, strict=True)
            lost += (Note((*place, inner.name), why) for inner, why in pairs)


def _fields(kept: Iterable[Column], taken: Sequence[tuple[Path, Field]]) -> tuple[Field, ...]:
    """The fields that are read, each once: what is kept of it, and what is taken."""
    types = {each.name: each.type for each in kept}
    names = dict.fromkeys([*types, *(path[0] for path, _ in taken)])
    return tuple(
        _field(name, types.get(name), [(p[1:], each) for p, each in taken if p[0] == name])
        for name in names
    )


def _field(name: str, kept: ColumnType | None, taken: Sequence[tuple[Path, Field]]) -> Field:
    if taken and not taken[0][0]:
        return taken[0][1]
    left = kept if isinstance(kept, Struct) else Struct(())
    if taken:
        return Field(name, left, within=_fields(left.fields, taken))
    return Field(name, kept or left)
