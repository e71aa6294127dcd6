"""The swarm: each history draws from some of the actions only, so that rare ones meet each other.

After Groce et al., "Swarm Testing" (ISSTA 2012): leaving features out finds more than having all.
"""

from __future__ import annotations

import random

from tests.simulation.actions import ACTIONS
from tests.simulation.history import Draws, History, Step

_CORE = ("produce", "run")
_SETTINGS = 384
# What lies together: half of the histories draw from one of these.
THEMES: dict[str, tuple[str, ...]] = {
    "tables put back": (
        "tables copied",
        "the data table is put back",
        "the offsets table is put back",
        "all tables are put back",
        "others restore the data table",
        "others restore the offsets table",
        "reset",
        "begin",
        "go on",
        "follow the message",
    ),
    "fences": (
        "tables copied",
        "the data table is put back",
        "begin",
        "go on",
        "reset",
        "follow the message",
        "the batch size changes",
    ),
    "recover": (
        "recover",
        "follow the message",
        "the offsets table is dropped",
        "the data table is cloned",
        "others restore the data table",
        "others restore the offsets table",
        "retention deletes",
        "a segment is lost",
        "skip",
        "reset",
        "others delete a row",
        "loss is decided",
        "transaction aborts",
        "aborted records",
        "the reader leaves out a record",
    ),
    "another log": (
        "brokers copied",
        "brokers put back",
        "topic created anew",
        "topic deleted",
        "aborted records",
        "transaction begins",
        "transaction commits",
        "an unclean election",
        "a segment is lost",
        "reset",
        "reset of a topic",
        "follow the message",
        "begin",
        "go on",
        "the reader leaves out a record",
    ),
    "topics and tables": (
        "topic created anew",
        "tables copied",
        "the data table is put back",
        "all tables are put back",
        "follow the message",
        "reset of a topic",
        "another cluster",
        "new cluster",
        "recover",
    ),
    "zombies": (
        "begin",
        "go on",
        "kill",
        "reset",
        "topic created anew",
        "the batch size changes",
        "tables copied",
        "the data table is put back",
        "others restore the data table",
        "the schema changes",
        "the log cleaner comes",
        "retention deletes",
        "loss is decided",
        "follow the message",
    ),
    "quarantine": (
        "replay",
        "drop",
        "the schema changes",
        "the quarantine is dropped",
        "others restore the quarantine",
        "the quarantine is put back",
        "tables copied",
        "maintain",
        "begin",
        "go on",
        "others delete a row",
        "reprocess",
        "the log cleaner comes",
        "retention deletes",
    ),
    "reading again": (
        "reprocess",
        "backfill",
        "reset",
        "others delete a row",
        "others update a row",
        "retention deletes",
        "rows vanish from a file",
        "the log cleaner comes",
        "aborted records",
        "begin",
        "go on",
        "the schema changes",
    ),
    "Kafka": (
        "retention deletes",
        "topic created anew",
        "topic deleted",
        "partition added",
        "another leader",
        "an unclean election",
        "transaction begins",
        "transaction commits",
        "transaction aborts",
        "brokers copied",
        "brokers put back",
        "loss is decided",
        "begin",
        "go on",
        "kill",
        "reset",
        "skip",
    ),
}


def draw_history(seed: str) -> History:
    """The history of a seed."""
    chance = random.Random(seed)
    chosen = _some(chance)
    weights = [ACTIONS[name].weight for name in chosen]
    steps = chance.choices(chosen, weights, k=chance.randint(6, 30))
    first = [Step("produce", _draws(chance)), Step("run", _draws(chance))]
    drawn = [Step(name, _draws(chance)) for name in steps]
    return History(seed, chance.randrange(_SETTINGS), (*first, *drawn))


def _some(chance: random.Random) -> list[str]:
    """Half of all actions, or of a theme's and a few others."""
    everything = sorted(ACTIONS)
    if chance.random() < 0.3:
        return sorted({*_CORE, *chance.sample(everything, len(everything) // 2)})
    theme = THEMES[chance.choice(sorted(THEMES))]
    kept = chance.sample(theme, max(3, len(theme) * chance.choice((4, 6, 8)) // 10))
    return sorted({*_CORE, *kept, *chance.sample(everything, chance.randint(0, 3))})


def _draws(chance: random.Random) -> Draws:
    return (
        chance.randrange(65536),
        chance.randrange(65536),
        chance.randrange(65536),
        chance.randrange(65536),
    )
