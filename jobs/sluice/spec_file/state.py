"""State: the keys of a spec that ask for a table of the newest row of each key. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from sluice.columns.columns import Column
from sluice.columns.names import as_compared
from sluice.derived.casts import is_simple
from sluice.derived.derived_columns import COORDINATES, read_condition
from sluice.errors import did_you_mean
from sluice.state_table.rules import DELETED, StateRules
from sluice.strict_model import Model

_OP = "_op"
_DELETE_EVENT = f"{_OP} = 'd'"


class State(Model):
    """What the key of a row is, which row of a key is the newest, and what deletes a key."""

    key: list[str] = Field(default=[], max_length=32)
    order_by: list[str] = Field(default=[], max_length=32)
    deleted_when: str | None = Field(default=None, min_length=1)
    unavailable: str | None = Field(default=None, min_length=1)
    unkeyed: Literal["stop", "ignore"] = "stop"

    def rules(
        self, columns: Sequence[Column], key_columns: Sequence[Column], is_change: bool
    ) -> StateRules:
        """The rules over the columns of a table: the decoded and derived ones, those of the key.

        `is_change` if its records are change events. Raises ValueError with the key, what was found
        and what is allowed.
        """
        known = (*columns, *key_columns)
        for each in known:
            if as_compared(each.name) == DELETED:
                raise ValueError(
                    f"state: found a column {each.name}, and the state table has its own of that"
                    " name. Give it another one with `columns` or `derived`, or `exclude` it"
                )
        if is_change and not any(each.name == _OP for each in known):
            raise ValueError(
                f"state: expected the column {_OP}, which tells what an event does to its key,"
                " found none. Take it out of `exclude`"
            )
        key = self.key or ([each.name for each in key_columns] if is_change else [])
        if not key:
            beside = " (decoded by `key_format`)" if is_change else ""
            raise ValueError(f"state.key: expected the columns of the key{beside}, found none")
        _require("state.key", key, (*known, *COORDINATES))
        _require("state.order_by", self.order_by, (*known, *COORDINATES))
        written = self.deleted_when or (_DELETE_EVENT if is_change else None)
        return StateRules(
            key=tuple(key),
            order_by=tuple(self.order_by),
            deleted=None if written is None else _condition(written, known),
            deleted_when=written,
            unavailable=self.unavailable,
            ignores_unkeyed=self.unkeyed == "ignore",
            of_events=is_change,
        )


def _require(key: str, names: Sequence[str], columns: Iterable[Column]) -> None:
    known = {each.name: each.type for each in columns}
    allowed = [name for name, kind in known.items() if is_simple(kind)]
    for name in names:
        if name in known and name not in allowed:
            raise ValueError(
                f"{key}: found {name}, a {known[name]}, whose values cannot be compared; expected a"
                " column of a type without parts, such as a derived one"
            )
        if name not in allowed:
            meant = did_you_mean(name, allowed)
            raise ValueError(f"{key}: found {name!r}{meant}; allowed: {', '.join(allowed)}")
    if len(set(names)) < len(names):
        raise ValueError(f"{key}: a column is named twice")


def _condition(written: str, columns: Sequence[Column]) -> str:
    try:
        return read_condition(written, columns)
    except ValueError as problem:
        raise ValueError(f"state.deleted_when: {problem}") from None
