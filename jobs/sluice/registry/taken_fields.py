"""Taken fields: how a newer reader has those that the spec's `columns` takes. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.columns.declared import path_of
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import RegisteredFormat


def changed_fields(
    form: RegisteredFormat, before: RegisteredSchema, now: RegisteredSchema
) -> Iterator[str]:
    """A line for each that the newer schema has no more, or as another type.

    Only of columns with a type of their own: the types of others are compared as columns.
    """
    after = form.read_as(now).taken_types
    for taken, had in form.read_as(before).taken_types.items():
        has, path = after[taken], path_of(taken.path)
        if taken.type is None or had is None or had == has:
            continue
        if has is None:
            yield (
                f"schema {now.key} has no field {path} any more, which columns.{taken.name} takes:"
                " it is null in records without the field"
            )
        else:
            yield (
                f"schema {now.key} has {path} as {has}, and schema {before.key} as {had}:"
                f" columns.{taken.name} still reads it as {taken.type}, and records that do not"
                " fit go to quarantine"
            )
