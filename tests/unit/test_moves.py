"""The commands that refusals name are values: each is in its text, and a command that there is."""

from __future__ import annotations

import ast
import pickle
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.cli import COMMANDS, command_line
from sluice.errors import GapUnexplained, OffsetsDamaged, SluiceError, TableRefused, as_lines
from sluice.moves import YOUR_WORDS, Advice, Move, advice, options
from sluice.offsets.doubts import doubt_about
from sluice.offsets.history import LaneHistory
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.losses import ON_DATA_LOSS
from sluice.offsets.resets import Resets
from sluice.positions.names import SKIP, TARGETS
from sluice.protocol.plan.log_changes import (
    Contradiction,
    compare_last,
    readable_ranges,
    require_no_contradiction,
    require_same_cluster,
)
from sluice.protocol.settle.gaps import UnexplainedGap
from sluice.protocol.settle.refusal import unexplained_gaps
from sluice.tables.foreign_commits import (
    TableCommit,
    require_all_there,
    require_no_foreign_commits,
)
from sluice.tables.refusals import reading_offsets, unreadable_log

from tests.unit.builders import batch, log, offsets, partition, planned, sequence, state
from tests.unit.sources import shown, sources, tree

RECOVER = Move("recover", ("trips",))
TO_TABLE = Move("reset", ("trips", "--to-table"))

# Texts that name a command, but are no refusal: nobody waits for it.
TOLD = {
    ("jobs/sluice/spec_file/table_properties.py", "sluice maintain"): "says who does it instead",
    ("jobs/sluice/protocol/plan/table_changes.py", "sluice reprocess"): "a note beside a plan",
    ("jobs/sluice/protocol/plan/start.py", "sluice reset"): "a note beside a plan",
    ("jobs/sluice/registry/known_registries.py", "sluice quarantine"): "a line of the log",
    ("jobs/sluice/operations/overview/breaches.py", "sluice quarantine"): "an alert's text",
}


def gone_and_anew() -> None:
    anew = compare_last(planned(offsets(0, 9)), log(0, 90, topic_id="new"))
    gone = compare_last(planned(offsets(0, 9, topic="delays")), None)
    require_no_contradiction("flights", [anew, gone, Contradiction(partition(1, "legs"), "a", "b")])


def two_topics_in_one_batch() -> None:
    whole = batch(offsets(3, 9), offsets(0, 4, 1))
    doubt = doubt_about(whole, state(log(0, 90, topic_id="new")))
    assert doubt is not None
    raise doubt.refusal(version=4)


def plan_of_a_topic_that_is_gone() -> None:
    readable_ranges(batch(offsets(0, 5, topic="delays")), state(log()), ON_DATA_LOSS["fail"])


def gaps() -> None:
    found = [UnexplainedGap(3, 7, LossKind.PRESENT), UnexplainedGap(9, 10, LossKind.GONE)]
    raise unexplained_gaps(batch(offsets(0, 40)), [(partition(), each) for each in found])


def undone() -> None:
    backfill = replace(batch(offsets(3, 9)), sequence=sequence(lane="backfill"))
    commits = [TableCommit(4, "RESTORE", 1)]
    require_all_there("/t", "flights", [backfill], [], commits)


def foreign(version: int, operation: str, *writers: str) -> Callable[[], None]:
    commits = [TableCommit(version, operation, None, writers)]
    return lambda: require_no_foreign_commits("/t", "flights", commits, {})


def unreadable_offsets() -> None:
    with reading_offsets("/t__offsets", "flights"):
        raise unreadable_log("/t__offsets", "it is empty")


REFUSALS: dict[str, tuple[Callable[[], object], list[str]]] = {
    "other logs": (gone_and_anew, ["reset"]),
    "two topics": (two_topics_in_one_batch, ["verify", "reset"]),
    "a plan's topic is gone": (plan_of_a_topic_that_is_gone, ["reset"]),
    "another cluster": (lambda: require_same_cluster("flights", "a", state(log())), ["reset"]),
    "gaps": (gaps, ["reprocess", "verify"]),
    "plans are missing": (lambda: LaneHistory(sequence(), 3, 1), ["recover"]),
    "a reset is missing": (lambda: Resets({}).closed_at(sequence()), ["recover"]),
    "a RESTORE": (undone, ["reset"]),
    "a clone": (foreign(0, "CLONE"), ["recover"]),
    "replaced at once": (foreign(0, "CREATE OR REPLACE TABLE"), ["recover"]),
    "replaced later": (foreign(7, "CREATE OR REPLACE TABLE"), []),
    "another writer": (foreign(0, "WRITE", "theirs"), ["recover"]),
    "no log of the offsets table": (unreadable_offsets, ["recover"]),
}


def command_of(move: Move) -> click.Command:
    """The command of the command line that a move names."""
    found: click.Command | None = command_line
    for word in move.command.split():
        assert isinstance(found, click.Group), move
        found = found.get_command(click.Context(found), word)
    assert found is not None, move
    return found


def accepts(move: Move) -> None:
    """The command line takes it: nothing is unknown, and nothing that it needs is missing."""
    context = command_of(move).make_context(move.command, [*move.arguments])
    if move.command == "reset":
        chosen = [f"--{each}" for each in (*TARGETS, SKIP) if f"--{each}" in move.arguments]
        assert len(chosen) == 1, f"{move}: where to?"
    # Of the commands that decide nothing, some are about all pipelines.
    assert context.params.get("pipeline", True), move


# What stands for the values of an option, in a move that the sources make.
_VALUES = {
    "--topic": "trips",
    "--range": "trips[0] [3, 7)",
    "--since": "P1D",
    "--accept-gap": "trips[0] [3, 7)",
    "--reason": YOUR_WORDS,
}


def words_of(argument: ast.expr) -> list[str]:
    """An argument as the sources write it, with an example for what only a run can say."""
    match argument:
        case ast.Constant(str(word)):
            return [word]
        case ast.Tuple(elts=parts):
            return [word for each in parts for word in words_of(each)]
        case ast.Starred(value=ast.Call(func=ast.Name("options"), args=[ast.Constant(name), *_])):
            return [str(name), _VALUES[str(name)]]
        case ast.Starred():
            return []
    return [YOUR_WORDS if ast.unparse(argument) == "YOUR_WORDS" else "trips"]


def made_moves() -> Iterator[tuple[str, ast.Call]]:
    for path in sources("jobs/sluice"):
        for node in ast.walk(tree(path)):
            match node:
                case ast.Call(func=ast.Name("Move")):
                    yield f"{shown(path)}:{node.lineno}", node


def spoken() -> Iterator[tuple[str, str]]:
    """What the sources say of commands in plain text, docstrings aside."""
    naming = re.compile(rf"\bsluice (?:{'|'.join(COMMANDS)})\b|`sluice $")
    for path in sources("jobs/sluice"):
        if shown(path).startswith("jobs/sluice/cli/"):
            continue
        documenting = {
            id(node.value) for node in ast.walk(tree(path)) if isinstance(node, ast.Expr)
        }
        for node in ast.walk(tree(path)):
            match node:
                case ast.Constant(str(text)) if id(node) not in documenting:
                    yield from ((shown(path), each) for each in naming.findall(text))


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_carries_the_commands_that_its_text_names(name: str) -> None:
    refuse, commands = REFUSALS[name]
    with pytest.raises(SluiceError) as refused:
        refuse()
    moves = refused.value.moves
    assert [each.command for each in moves] == commands
    named = re.findall(r"`(sluice [^`]*)`", str(refused.value))
    assert [*dict.fromkeys(named)] == [*map(str, moves)]
    for each in moves:
        accepts(each)


def test_other_texts_than_those_of_moves_name_no_command() -> None:
    assert set(spoken()) == TOLD.keys(), "a refusal names a command by a Move"


@pytest.mark.parametrize(("place", "made"), [*made_moves()])
def test_every_move_is_a_command_with_options_of_its_own(place: str, made: ast.Call) -> None:
    name, *arguments = made.args
    assert isinstance(name, ast.Constant), place
    words = ["", *(word for each in arguments for word in words_of(each))]
    told = [_VALUES.get(of, to) if to == YOUR_WORDS else to for of, to in pairwise(words)]
    accepts(Move(str(name.value), tuple(told)))


def test_moves_are_found_in_the_sources() -> None:
    assert len([*made_moves()]) > 20


def test_a_move_is_written_as_a_shell_takes_it() -> None:
    assert str(TO_TABLE) == "sluice reset trips --to-table"
    ranges = options("--accept-gap", [offsets(3, 7), offsets(9, 10, 1)])
    accept = Move("verify", ("trips", *ranges, "--reason", YOUR_WORDS))
    assert str(accept) == (
        "sluice verify trips --accept-gap 'flights[0] [3, 7)' --accept-gap 'flights[1] [9, 10)'"
        " --reason …"
    )
    assert str(Move("quarantine list", ("trips",))) == "sluice quarantine list trips"


@given(st.lists(st.text()))
def test_a_shell_gives_the_arguments_back(arguments: list[str]) -> None:
    assert shlex.split(str(Move("plan", tuple(arguments)))) == ["sluice", "plan", *arguments]


def test_a_text_is_made_of_its_parts_and_has_each_move_once_in_order() -> None:
    first = advice("Say ", TO_TABLE, "; or ")
    both = advice(first, RECOVER, " or once more ", TO_TABLE, ".")
    assert str(both) == (
        "Say `sluice reset trips --to-table`; or `sluice recover trips` or once more"
        " `sluice reset trips --to-table`."
    )
    assert both.moves == (TO_TABLE, RECOVER)
    assert advice() == Advice("")


def test_findings_bring_their_moves_into_one_error() -> None:
    refused = TableRefused(as_lines([advice("one: ", RECOVER), "two", advice("three: ", TO_TABLE)]))
    assert str(refused) == (
        "one: `sluice recover trips`\ntwo\nthree: `sluice reset trips --to-table`"
    )
    assert refused.moves == (RECOVER, TO_TABLE)


def test_an_error_made_of_another_has_its_moves_too() -> None:
    cause = TableRefused("it is gone: ", TO_TABLE, ".")
    again = OffsetsDamaged(cause, " Or ", RECOVER, ".")
    assert str(again) == f"{cause} Or `sluice recover trips`."
    assert again.moves == (TO_TABLE, RECOVER)


def test_an_error_of_plain_text_has_no_moves() -> None:
    assert SluiceError("it is gone").moves == ()
    assert (str(SluiceError()), SluiceError().moves) == ("", ())


def test_an_error_keeps_its_moves_from_process_to_process() -> None:
    refused = GapUnexplained("look: ", RECOVER)
    found = pickle.loads(pickle.dumps(refused))
    assert type(found) is GapUnexplained
    assert (str(found), found.moves) == (str(refused), (RECOVER,))
