"""What people change in the pipeline's spec."""

from __future__ import annotations

from tests.simulation.actions.registry import action, pick
from tests.simulation.history import Draws
from tests.simulation.settings import LOOSE, RAW, STRICT
from tests.simulation.world import World


def _set(world: World, key: str, value: object) -> None:
    world.keys = {**world.keys, key: value}
    world.tell(f"spec: {key}: {value}")


@action(8)
def the_schema_changes(world: World, draws: Draws) -> None:
    """A column is declared no longer, or once more."""
    if world.keys["format"] != RAW:
        _set(world, "format", LOOSE if world.keys["format"] == STRICT else STRICT)
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
    strict = {"max_ratio": 0.1}
    now = world.keys["quarantine"]
    _set(world, "quarantine", strict if now != strict else {"max_ratio": 1.0})
