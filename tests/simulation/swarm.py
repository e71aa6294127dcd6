"""The swarm: each history draws from some of the actions only, so that rare ones meet each other.

After Groce et al., "Swarm Testing" (ISSTA 2012): leaving features out finds more than having all.
"""

from __future__ import annotations

import random

from tests.simulation.actions import ACTIONS
from tests.simulation.history import Draws, History, Step
from tests.simulation.settings import PLAIN_SETTINGS, STATES

# What lies together: most histories draw from one of these, each as often as the others in it.
THEMES: dict[str, tuple[str, ...]] = {
    "fences": (
        *("tables copied", "the data table is put back", "begin", "go on", "reset"),
        *("follow the message", "the batch size changes"),
    ),
    "in flight over a restore": (
        *("begin", "go on", "reset", "others restore the data table", "follow the message"),
        "the batch size changes",
    ),
    "created anew while it is read": (
        *("begin", "go on", "topic created anew", "follow the message"),
        "a topic is left out",
    ),
    "topics and tables": (
        *("topic created anew", "tables copied", "the data table is put back"),
        *("follow the message", "another cluster", "new cluster", "recover"),
    ),
    "another log": (
        *("brokers copied", "brokers put back", "aborted records", "follow the message"),
        *("transaction begins", "transaction commits", "the reader leaves out a record"),
    ),
    "a log cut off": (
        *("an unclean election", "a segment is lost", "retention deletes", "begin", "go on"),
        *("follow the message", "loss is decided", "another leader", "transaction aborts"),
    ),
    "tables put back": (
        *("tables copied", "the data table is put back", "the offsets table is put back"),
        *("all tables are put back", "others restore the data table", "reset"),
        *("others restore the offsets table", "follow the message"),
    ),
    "recover": (
        *("recover", "follow the message", "the offsets table is dropped", "skip", "reset"),
        *("others restore the data table", "others restore the offsets table"),
        *("retention deletes", "loss is decided", "the reader leaves out a record"),
    ),
    "clones": (
        *("the data table is cloned", "others delete a row", "recover", "follow the message"),
        *("the offsets table is dropped", "others restore the offsets table"),
    ),
    "zombies in the quarantine": (
        *("begin", "go on", "the log cleaner comes", "retention deletes", "loss is decided"),
        *("the schema changes", "kill"),
    ),
    "quarantine": (
        *("replay", "drop", "the schema changes", "the quarantine is dropped", "maintain"),
        *("others restore the quarantine", "the quarantine is put back", "tables copied"),
        *("others delete a row", "reprocess", "retention deletes", "begin", "go on"),
    ),
    "a quarantine that is lost": (
        *("the quarantine is dropped", "the quarantine is put back", "tables copied"),
        *("others delete from the quarantine", "quarantine recover", "begin a recovery"),
        *("go on", "retention deletes", "follow the message", "reset", "replay", "drop"),
    ),
    "two tables lost": (
        *("the offsets table is dropped", "the quarantine is dropped", "recover", "tables copied"),
        *("the data table is cloned", "others restore the data table", "the data table is dropped"),
        *("begin a recovery", "go on", "retention deletes", "follow the message", "replay"),
        "the quarantine is put back",
    ),
    "doubts and recoveries": (
        *("topic created anew", "begin", "go on", "begin a recovery", "recover", "skip", "reset"),
        *("the offsets table is dropped", "others restore the data table", "a topic is left out"),
        "follow the message",
    ),
    "reading again": (
        *("reprocess", "backfill", "reset", "others delete a row", "others update a row"),
        "others merge a row away",
        *("retention deletes", "the log cleaner comes", "aborted records", "begin", "go on"),
    ),
    "rotten files": ("rows vanish from a file", "reprocess", "retention deletes", "backfill"),
    "evolution": (
        *("the schema changes", "replay", "reprocess", "backfill", "reset", "begin", "go on"),
        "retention deletes",
    ),
    "Kafka": (
        *("retention deletes", "topic created anew", "topic deleted", "partition added"),
        *("another leader", "transaction begins", "transaction commits", "transaction aborts"),
        *("loss is decided", "begin", "go on", "kill", "reset", "skip", "days pass"),
    ),
    "state": (
        *("refresh", "begin a refresh", "go on", "kill", "others delete a row", "reprocess"),
        *("others update a row", "others mask a name", "others restore the data table", "rebuild"),
        *("others optimize", "the batch size changes", "begin", "others optimize the state"),
    ),
    "state and topics": (
        *("refresh", "begin a refresh", "go on", "topic created anew", "follow the message"),
        *("reset", "a topic is left out", "the offsets table is dropped", "recover"),
        *("brokers copied", "brokers put back", "retention deletes", "the schema changes"),
    ),
    "a state that others touch": (
        *("refresh", "begin a refresh", "go on", "kill", "rebuild", "follow the message"),
        *("others delete from the state", "others append to the state", "the state is dropped"),
        *("others restore the state", "another table is in the place of the state"),
        *("the state is put back", "tables copied", "the rules of the state change"),
        "others optimize the state",
    ),
    "a state beside older tables": (
        *("refresh", "begin a refresh", "go on", "rebuild", "follow the message", "tables copied"),
        *("the data table is put back", "all tables are put back", "the data table is cloned"),
        *("others restore the data table", "the offsets table is put back", "recover", "reset"),
    ),
    "calm": (
        *("reset", "reset of a topic", "reset to a moment", "skip", "reprocess", "backfill"),
        *("replay", "drop", "maintain", "look", "only a plan", "only settle", "partition added"),
    ),
}
_OFTEN, _RARELY = 20, 5
_CORE_WEIGHTS = {"produce": 35, "run": 30}


def draw_history(seed: str, theme: str = "") -> History:
    """The history of a seed; of one theme, where it is named."""
    chance = random.Random(seed)
    weights = _weights(chance, theme)
    names = sorted(weights)
    steps = chance.choices(names, [weights[each] for each in names], k=chance.randint(6, 30))
    first = [Step("produce", _draws(chance)), Step("run", _draws(chance))]
    drawn = [Step(name, _draws(chance)) for name in steps]
    setting = chance.randrange(PLAIN_SETTINGS)
    if any("state" in name or "refresh" in name for name in weights):
        setting += PLAIN_SETTINGS * chance.randrange(1, len(STATES))
    return History(seed, setting, (*first, *drawn))


def _weights(chance: random.Random, named: str) -> dict[str, int]:
    """Half of all actions as often as they say, or most of a theme's and a few others rarely."""
    everything = sorted(ACTIONS)
    if not named and chance.random() < 0.2:
        chosen = {*_CORE_WEIGHTS, *chance.sample(everything, len(everything) // 2)}
        return {each: ACTIONS[each].weight for each in sorted(chosen)}
    theme = THEMES[named or chance.choice(sorted(THEMES))]
    kept = chance.sample(theme, max(3, len(theme) * chance.choice((6, 8, 10)) // 10))
    others = chance.sample(everything, chance.randint(0, 2))
    return {**dict.fromkeys(others, _RARELY), **dict.fromkeys(kept, _OFTEN), **_CORE_WEIGHTS}


def _draws(chance: random.Random) -> Draws:
    return (
        chance.randrange(65536),
        chance.randrange(65536),
        chance.randrange(65536),
        chance.randrange(65536),
    )
