"""What people change in the pipeline's spec."""

from __future__ import annotations

from tests.simulation.actions.registry import action, pick
from tests.simulation.history import Draws
from tests.simulation.settings import (
    GONE,
    KEYED,
    KEYED_LOOSELY,
    LOOSE,
    RAW,
    STRICT,
    UNAVAILABLE,
)
from tests.simulation.world import World


def _set(world: World, key: str, value: object) -> None:
    world.keys = {**world.keys, key: value}
    world.tell(f"spec: {key}: {value}")


@action(8)
def the_schema_changes(world: World, draws: Draws) -> None:
    """A column is declared no longer, or once more."""
    if world.keys["format"] != RAW:
        strict, loose = (KEYED, KEYED_LOOSELY) if world.setting.has_state else (STRICT, LOOSE)
        _set(world, "format", loose if world.keys["format"] == strict else strict)
        world.has_been_loose = True


@action(6)
def the_batch_size_changes(world: World, draws: Draws) -> None:
    """Batches are smaller, or larger."""
    _set(world, "max_records_per_batch", pick((2, 3, 5, 1000), draws[0]))


@action(4)
def loss_is_decided(world: World, draws: Draws) -> None:
    """The policy about lost records changes."""
    now = world.keys.get("on_data_loss", "fail")
    _set(world, "on_data_loss", "record" if now == "fail" else "fail")


@action(4)
def a_topic_is_left_out(world: World, draws: Draws) -> None:
    """A topic is read no longer, or once more."""
    names = sorted(world.setting.topics)
    if len(names) > 1:
        _set(world, "topics", names if len(world.keys["topics"]) == 1 else names[:1])


@action(2)
def the_quarantine_gets_a_limit(world: World, draws: Draws) -> None:
    """Few records may be undecodable, or any number."""
    strict = {"max_ratio": 0.1, "max_records": 0}
    now = world.keys["quarantine"]
    _set(world, "quarantine", strict if now != strict else {"max_ratio": 1.0})


@action(6)
def the_rules_of_the_state_change(world: World, draws: Draws) -> None:
    """Another order, another condition, or other placeholders."""
    state = dict(world.keys.get("state", {}))
    if not state or world.keys["format"] == RAW:
        return
    name, values = pick(_RULES, draws[0])
    if state.get(name) is None:
        state[name] = pick(values, draws[1])
    elif name != "order_by":
        # Where the operator has named an order, keys may be in two partitions.
        del state[name]
    world.state_reasons.append("other rules")
    _set(world, "state", state)


_RULES: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("order_by", (["seq", "_topic"], ["_timestamp", "_topic"])),
    ("deleted_when", ("name = 'a'", f"name = '{GONE}'")),
    ("unavailable", (UNAVAILABLE, "b")),
)
