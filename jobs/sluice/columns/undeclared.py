"""Undeclared fields: remarks on paths that lead to no field of a schema. Pure.

JSON allows them: a record may have fields that no schema declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sluice.columns.columns import Column
from sluice.columns.declared import path_of
from sluice.columns.names import KEY_PREFIX
from sluice.columns.near_fields import near_path
from sluice.columns.taking import Path, Taken, type_at


@dataclass(frozen=True)
class Undeclared:
    """The fields of a record beside which others are taken.

    `schema` names what declares them. `at` are the names that lead to the record in its value. With
    `all`, there is a remark on each path that is not declared; else on probable mistakes.
    """

    schema: str
    fields: Sequence[Column]
    at: Path = ()
    all: bool = False

    def told(self, taken: Iterable[Taken]) -> Iterator[str]:
        """A line for each field that may never be found, and what may be meant."""
        for each in taken:
            if type_at(self.fields, each.path) is None and (line := self._line(each)):
                yield f"{each.place}: {line}"

    def _line(self, taken: Taken) -> str:
        path = taken.path
        if self.at and path[: len(self.at)] == self.at and len(path) > len(self.at):
            return self._begins_with_at(path)
        if path[0].startswith(KEY_PREFIX):
            return _begins_as_a_key(taken)
        within = tuple(path[0].split(".")) if taken.by_name else ()
        dotted = len(within) > 1 and all(within)
        near = near_path(self.fields, within) if dotted else None
        near = near or near_path(self.fields, path)
        if near is None and dotted:
            return (
                f"found {path[0]}, which is the name of one field; expected {path_of(within)} for a"
                f" field within another, or {path_of(path)} if its name has the dot:"
                f" {_without(taken)}"
            )
        if near is None and not self.all:
            return ""
        meant = "" if near is None else f" (did you mean {path_of(near)}?)"
        return f"{self.schema} does not declare this field{meant}: {_without(taken)}"

    def _begins_with_at(self, path: Path) -> str:
        rest = path[len(self.at) :]
        near = near_path(self.fields, rest) or rest
        return (
            f"found a path that begins with {path_of(self.at)}; expected {path_of(near)}, as paths"
            " begin at the record that `at` has opened"
        )


def _without(taken: Taken) -> str:
    return (
        "the column is null in records without it, and"
        f" `required: [{taken.name}]` sends them to quarantine"
    )


def _begins_as_a_key(taken: Taken) -> str:
    name = taken.path[0].removeprefix(KEY_PREFIX)
    meant = path_of((name, *taken.path[1:]))
    if taken.prefix:
        return (
            f"found a field of the key named {taken.path[0]}; expected {meant}: only columns have"
            f" {KEY_PREFIX} before their names"
        )
    return (
        f"found a field of the value named {taken.path[0]}; expected a column whose name begins"
        f" with {KEY_PREFIX} for a field of the key: columns: {{{taken.path[0]}: {{from: {name}}}}}"
    )
