"""Commands: what people and the scheduler ask of the pipeline, as the command line would."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from sluice.offsets.batches import BatchReference
from sluice.offsets.notation import parse_positions, parse_range, parse_scope
from sluice.offsets.origin import Origin
from sluice.offsets.quarantined import RecordFilter
from sluice.operations.backfill.replay import quarantined_records
from sluice.operations.backfill.selection import Selection, parse_selection
from sluice.operations.history import read_history
from sluice.operations.quarantine.drop import drop
from sluice.operations.quarantine.listing import list_quarantine
from sluice.operations.quarantine.recover_rows import recover_quarantine
from sluice.operations.rebuild import rebuild
from sluice.operations.recover.recover import recover
from sluice.operations.reset.targets import named_target
from sluice.operations.verify.accept_gaps import accept_gaps
from sluice.pipeline import Pipeline

_ROUNDS = 12
_ACTOR = "simulation"
_FLAGS = frozenset({"--new-cluster", "--bring-back-erased", "--to-earliest", "--to-latest"}) | {
    "--to-table",
    "--execute",
    "--all",
}


@dataclass(frozen=True)
class Command:
    """A command line below `sluice`, without the pipeline's name: `("reset", "--to-table")`."""

    words: tuple[str, ...]
    reason: str = "simulated"

    def __str__(self) -> str:
        return shlex.join(self.words)

    @property
    def name(self) -> str:
        """What is done."""
        return self.words[0]

    @property
    def changes(self) -> bool:
        """Whether it may write anything."""
        if "--accept-gap" in self.words:
            return True
        return self.name not in ("status", "verify", "plan", "list", "history", "preview", "check")

    def also(self, *words: str) -> Command:
        """The same with further options."""
        return Command((*self.words, *words), self.reason)

    def options(self) -> dict[str, list[str]]:
        """The values of each option; a flag has one that is empty."""
        found: dict[str, list[str]] = {}
        words = iter(self.words[1:])
        for word in words:
            if word.startswith("--"):
                found.setdefault(word, []).append("" if word in _FLAGS else next(words))
        return found


def carry_out(pipeline: Pipeline, command: Command) -> object:
    """Do it; what it raises is the product's answer."""
    return _SCRIPTS[command.name](pipeline, command)


def _run(pipeline: Pipeline, command: Command) -> object:
    """The three tasks of a DAG run."""
    work = pipeline.plan(command.reason, _ACTOR)
    if work:
        pipeline.land(work)
    return pipeline.settle(command.reason, _ACTOR)


def _catch_up(pipeline: Pipeline, command: Command) -> object:
    """What `sluice run` does: until nothing is left to do."""
    for _ in range(_ROUNDS):
        work = pipeline.plan(command.reason, _ACTOR)
        if not work:
            break
        pipeline.land(work)
        pipeline.settle(command.reason, _ACTOR)
    return pipeline.settle(command.reason, _ACTOR)


def _reset(pipeline: Pipeline, command: Command) -> object:
    options = command.options()
    bring_back = bool(options.pop("--bring-back-erased", None))
    options.pop("--execute", None)
    options.pop("--reason", None)
    scopes = [parse_scope(each) for each in options.pop("--topic", [])]
    new_cluster = bool(options.pop("--new-cluster", None))
    ((name, values),) = options.items()
    if name == "--skip":
        return pipeline.skip(parse_positions(values, "@"), command.reason, _ACTOR, _ACTOR)
    target = named_target(name.removeprefix("--"), " ".join(values), scopes, new_cluster)
    return pipeline.reset(
        target, command.reason, command.reason, _ACTOR, bring_back_erased=bring_back
    )


def _by(pipeline: Pipeline, command: Command) -> Origin:
    return pipeline.origin(command.reason, _ACTOR)


def _recover(pipeline: Pipeline, command: Command) -> object:
    back = "--bring-back-erased" in command.words
    return recover(pipeline.resources, command.reason, _by(pipeline, command), back)


def _reread(pipeline: Pipeline, command: Command) -> object:
    options = command.options()
    selection = parse_selection(
        next(iter(options.get("--from", [])), None),
        next(iter(options.get("--to", [])), None),
        options.get("--range", []),
        options.get("--batch", []),
    )
    return _read_again(pipeline, command, selection)


def _read_again(pipeline: Pipeline, command: Command, selection: Selection) -> object:
    bring_back = "--bring-back-erased" in command.options()
    planned = pipeline.backfill(selection, command.reason, _ACTOR, bring_back)
    _landed(pipeline, command, planned.work)
    return planned


def _landed(pipeline: Pipeline, command: Command, work: BatchReference | None) -> None:
    for _ in range(_ROUNDS):
        if not work:
            break
        pipeline.land(work)
        work = pipeline.outstanding(work)
        if work:
            # Forward batches go first.
            _run(pipeline, command)
    pipeline.settle(command.reason, _ACTOR)


def _quarantine(pipeline: Pipeline, command: Command) -> object:
    what = command.words[1]
    if what == "drop":
        by, upkeep = _by(pipeline, command), pipeline.open_upkeep
        return drop(pipeline.resources, RecordFilter(), command.reason, by, upkeep)
    if what == "recover":
        back = "--bring-back-erased" in command.words
        by = _by(pipeline, command)
        found = recover_quarantine(pipeline.resources, command.reason, by, back)
        _landed(pipeline, command, found.work)
        return None
    if what == "replay":
        return _read_again(pipeline, command, quarantined_records(RecordFilter()))
    return list_quarantine(pipeline.resources)


def _maintain(pipeline: Pipeline, command: Command) -> object:
    return pipeline.maintain(command.reason, _ACTOR)


def _verify(pipeline: Pipeline, command: Command) -> object:
    gaps = [parse_range(each) for each in command.options().get("--accept-gap", [])]
    if gaps:
        accept_gaps(pipeline.resources, gaps, command.reason, _by(pipeline, command))
    return pipeline.verify(lambda *_: None)


def _plan(pipeline: Pipeline, command: Command) -> object:
    return pipeline.dry_run()


def _plan_only(pipeline: Pipeline, command: Command) -> object:
    return pipeline.plan(command.reason, _ACTOR)


def _settle(pipeline: Pipeline, command: Command) -> object:
    return pipeline.settle(command.reason, _ACTOR)


def _status(pipeline: Pipeline, command: Command) -> object:
    return pipeline.status()


def _preview(pipeline: Pipeline, command: Command) -> object:
    ((name, values),) = command.options().items()
    return pipeline.preview_reset(named_target(name.removeprefix("--"), " ".join(values)))


def _rebuild(pipeline: Pipeline, command: Command) -> object:
    return rebuild(pipeline.resources, pipeline.open_state)


_SCRIPTS: dict[str, Callable[[Pipeline, Command], object]] = {
    "run": _run,
    "catch up": _catch_up,
    "reset": _reset,
    "recover": _recover,
    "reprocess": _reread,
    "backfill": _reread,
    "quarantine": _quarantine,
    "maintain": _maintain,
    "verify": _verify,
    "plan": _plan,
    "plan only": _plan_only,
    "settle": _settle,
    "status": _status,
    "list": _status,
    "history": lambda pipeline, _: read_history(pipeline.resources, 10),
    "check": _status,
    "preview": _preview,
    "refresh": lambda pipeline, _: pipeline.refresh(),
    "rebuild": _rebuild,
}
