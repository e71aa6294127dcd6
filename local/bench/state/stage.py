"""The stage of this bench: who competes, on which Spark."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property

from local.bench.stage import Stage
from local.bench.state.contenders import ByHand, Contender, Kept, Ours, remote
from local.bench.state.feed import Feed
from local.bench.world import World
from local.embedded.spark_server import SparkServer

_HOW = {
    "cold": "a Spark of its own",
    "warm": "a process on a warm Spark server",
    "kept": "a session that is kept",
}
_BY_HAND = {
    "log-merge": "foreachBatch: append, MERGE",
    "merge": "foreachBatch: MERGE, no log",
}
OURS, LIKE, LESS = "ours", *_BY_HAND
CONTENDERS = {
    **{f"{OURS}-{how}": f"`sluice run`; {_HOW[how]}" for how in ("cold", "warm")},
    **{f"{kind}-{how}": f"{what}; {_HOW[how]}" for kind, what in _BY_HAND.items() for how in _HOW},
}


class Servers(Stage):
    """A stage with one more server, for what is written by hand."""

    @cached_property
    def plain(self) -> str:
        """Its address. Its sessions have Spark's defaults, and what Delta needs."""
        plain = {"spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension"}
        server = SparkServer(self.folder / "plain", settings=plain)
        return remote(self.enter_context(server).connection)


def contender(name: str, world: World, feed: Feed, servers: Servers, kept: ExitStack) -> Contender:
    """The one of this name; its own process, if it has one, ends with `kept`."""
    kind, _, how = name.rpartition("-")
    match kind, how:
        case "ours", "warm":
            return Ours(world, name, feed, place=servers.server)
        case "ours", _:
            return Ours(world, name, feed)
        case _, "warm":
            return ByHand(world, name, feed, kind=kind, server=servers.plain)
        case _, "kept":
            return kept.enter_context(Kept(world, name, feed, kind=kind))
    return ByHand(world, name, feed, kind=kind)
