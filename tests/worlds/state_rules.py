"""The rules of a state as a spec has them, in the oracle's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.oracle import StateRules
from tests.oracle.delta_log import read_log
from tests.oracle.state import Row, never

Deletes = Callable[[Row], bool]


def rules_of(spec: Mapping[str, Any], data: Path, deletes: Deletes | None = None) -> StateRules:
    """`spec` has the keys of its file, `data` is the data table; expressions are not read here.

    Of change events the key is that of the record, `d` deletes a key, `t` truncates and `m` is a
    message.
    Raises ValueError if no key is said.
    """
    state = spec["state"]
    events = spec.get("format", {}).get("envelope") == "debezium"
    of_record = [name for name in read_log(data, vectors=True).schema if name.startswith("_key_")]
    return StateRules(
        key=tuple(state.get("key", of_record if events else ())),
        order_by=tuple(state.get("order_by", ())),
        deletes=deletes or (deletes_row if events else never),
        truncates=truncates_table if events else never,
        messages=is_message if events else never,
        unavailable=state.get("unavailable"),
        unkeyed=state.get("unkeyed", "stop"),
    )


def deletes_row(row: Row) -> bool:
    return bool(row["_op"] == "d")


def is_message(row: Row) -> bool:
    return bool(row["_op"] == "m")


def truncates_table(row: Row) -> bool:
    return bool(row["_op"] == "t")
