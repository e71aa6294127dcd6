"""Declarations: what the keys `schema` and `schema_file` of a format declare. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence

from sluice.columns.columns import parse_columns
from sluice.columns.names import BAD_NAME, ELSEWHERE, OWN_NAME, TWIN, require_not_ours
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import Kind, RegisteredSchema
from sluice.schemas.spec_files import EXPECTED, SpecFiles


def require_declarable(schema: str, ours: Container[str] = ()) -> None:
    """Raises ValueError for text that cannot be parsed, or has columns that no table can have.

    `ours` are further names of Sluice's own.
    """
    try:
        require_not_ours((each.name for each in parse_columns(schema)), ours)
    except ValueError as problem:
        of_name = any(each in str(problem) for each in (BAD_NAME, OWN_NAME, TWIN))
        raise ValueError(f"{problem}. {ELSEWHERE}" if of_name else problem) from None


def schema_of_file(
    names: Sequence[str], files: SpecFiles, of: Kind, record: str | None
) -> RegisteredSchema:
    """The schema in the first of these files, with those in the further ones. Raises ValueError."""
    (name, *further), kind = names, kind_of(of)
    content = files.get(name)
    if content is None:
        raise ValueError(f"schema_file: found {name!r}; {EXPECTED}")
    found = kind.of_file(name, content)
    try:
        found = kind.with_files(found, further, files)
        kind.declared(found, record)
    except ValueError as problem:
        # Else a mistake in the file is looked for in the spec.
        named = any(each in str(problem) for each in (name, "schema_files:"))
        raise ValueError(f"{'' if named else f'schema_file {name}: '}{problem}") from None
    return found
