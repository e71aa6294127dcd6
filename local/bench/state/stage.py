"""The stage of this bench: who competes, on which Spark."""

from __future__ import annotations

from contextlib import ExitStack

from local.bench.stage import Stage
from local.bench.state.contenders import ByHand, Contender, KeptByHand, Ours
from local.bench.state.feed import Feed
from local.bench.world import World

OURS, LIKE, LESS = "ours", "log-merge", "merge"
COLD, WARM = "cold", "warm"
_BY_HAND = {LIKE: "foreachBatch: append, MERGE", LESS: "foreachBatch: MERGE, no log"}
CONTENDERS = {
    f"{OURS}-{COLD}": "`sluice run`; a Spark of its own",
    f"{OURS}-{WARM}": "`sluice run`; a warm Spark server",
    **{f"{kind}-{COLD}": f"{what}; a Spark of its own" for kind, what in _BY_HAND.items()},
    **{f"{kind}-{WARM}": f"{what}; a session that is kept" for kind, what in _BY_HAND.items()},
}


def contender(name: str, world: World, feed: Feed, stage: Stage, kept: ExitStack) -> Contender:
    """The one of this name; its own process, if it has one, ends with `kept`."""
    kind, _, how = name.rpartition("-")
    if kind == OURS:
        return Ours(world, name, feed, stage.server) if how == WARM else Ours(world, name, feed)
    if how == WARM:
        return kept.enter_context(KeptByHand(world, name, feed, kind))
    return ByHand(world, name, feed, kind)
