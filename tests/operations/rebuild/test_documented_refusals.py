"""docs/state.md: what it says to do about a message leads on, by the commands as they stand there.

What refuses the table is made here without Spark; so is what `sluice rebuild --execute` does.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType
from sluice.errors import CommitUnknown, StateRefused, StateStopped
from sluice.failpoints import reaching

from tests.operations.rebuild.test_rebuild import (
    Cut,
    cut,
    dropped,
    inserted,
    made_anew,
    once_at,
    state,
)
from tests.worlds.command_line import run_main
from tests.worlds.console import ID
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.recipes import recipes
from tests.worlds.records import produce
from tests.worlds.state_page import Way, refusals
from tests.worlds.states import STATE, keyed, refreshed, state_table

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

# Whoever has not looked at the preview leaves it out.
AS_PREVIEWED = ("--as-previewed", ID)
PLACES = [(message, number) for message, ways in refusals().items() for number in range(len(ways))]


@pytest.fixture
def planes(topic: Topic, pipeline: Pipelines) -> Installed:
    """The pipeline that the page's commands name; its state has followed two keys."""
    planes = keyed(topic, pipeline)
    planes.name = "planes"
    planes.write_spec()
    landed(planes, 1, 2)
    refreshed(planes)
    return planes


def landed(planes: Installed, *ids: int | None, partition: int = 0) -> None:
    """A row for each id, with a record key of its own; None is a row without an id."""
    for number in ids:
        value = json.dumps({"id": number, "v": "a", "gone": False}).encode()
        key = str(number).encode()
        produce(planes.bootstrap, planes.topics[0], [value], partition, key=key)
    planes.run()


def rules_changed(planes: Installed) -> None:
    planes.write_spec(state={**STATE, "unavailable": "nothing"})


def data_table_gone(planes: Installed) -> None:
    shutil.rmtree(planes.data)
    by_recipe(planes, "The table is gone for good")


def older_copy(planes: Installed) -> None:
    copy = planes.folder / "copy"
    shutil.copytree(planes.data, copy)
    for number in (3, 4, 5):
        landed(planes, number)
    refreshed(planes)
    shutil.rmtree(planes.data)
    shutil.copytree(copy, planes.data)
    by_recipe(planes, "The table was put back from a backup")


def by_recipe(planes: Installed, heading: str) -> None:
    """What docs/operations.md says to do about the data table, and the next run."""
    blocks = recipes()[heading]
    for words in (words for block in blocks for words in block.commands):
        about = [planes.name if word == "flights" else word for word in words]
        if words[1] != "run":
            done(planes, about)
    planes.run()


def interrupted(planes: Installed) -> None:
    with pytest.raises(Cut), reaching(once_at("state given up", cut)):
        made_anew(planes)


def altered(planes: Installed) -> None:
    state(planes).alter.add_columns(Field("note", PrimitiveType("string")))


def given_away(planes: Installed) -> None:
    says = {"sluice.pipeline": "another"}
    state(planes).alter.set_table_properties(says, raise_if_not_exists=False)


def made_unreadable(planes: Installed) -> None:
    newest = state_table(planes) / "_delta_log" / f"{state(planes).version():020d}.json"
    newest.write_text("nothing of a log")


def log_cleaned(planes: Installed) -> None:
    """As log cleanup leaves it, where others' commits alone have come for a month."""
    state(planes).alter.set_table_properties({"a": "b"}, raise_if_not_exists=False)
    state(planes).create_checkpoint()
    for version in range(state(planes).version()):
        (state_table(planes) / "_delta_log" / f"{version:020d}.json").unlink()


def come_late(planes: Installed) -> None:
    """A refresh of another base than the one that it has found, as if nothing had stopped it."""
    found = planes.open().resources.state.snapshot()
    newest = next(each.commit for each in found.versions() if each.commit)
    landed(planes, 3)
    late = replace(
        newest,
        kind="rewritten",
        after=newest.data_version - 1,
        data_version=DeltaTable(planes.data).version(),
    )
    found.advance(late, datetime.now(UTC))


SCENES: dict[str, Callable[[Installed], object]] = {
    "expected the rows of a key in one partition": lambda planes: landed(planes, 1, partition=1),
    "expected a value in each column of the key": lambda planes: landed(planes, None),
    "the spec's `state` was changed": rules_changed,
    "the table was altered": altered,
    "expected rows that only Sluice writes": inserted,
    "expected the state table that Sluice made": dropped,
    "expected the state of data table": data_table_gone,
    "an older copy of the data table was put back": older_copy,
    "whose rebuild was interrupted": interrupted,
    "before version": come_late,
    "expected a commit that says at which version": log_cleaned,
    "expected property sluice.pipeline": given_away,
    "its log cannot be read": made_unreadable,
}


def test_each_message_of_the_page_has_a_scene() -> None:
    assert [*refusals()] == [*SCENES]


@pytest.mark.parametrize(("message", "number"), PLACES)
def test_what_the_page_says_to_do_leads_on(planes: Installed, message: str, number: int) -> None:
    SCENES[message](planes)
    assert message in told(planes)
    follow(planes, refusals()[message][number])
    refreshed(planes)
    landed(planes, 9)
    (followed,) = refreshed(planes)
    assert (followed.span.kind, followed.counts.inserted) == ("appended", 1)
    planes.judge_state(deletes=lambda row: row["gone"] is True, anew=True)
    assert refusal(planes) is None


def refusal(planes: Installed) -> str | None:
    """Why the state table is not trusted, by `sluice status`."""
    shown = planes.sluice("status", "--json")
    assert shown.returncode == 0, shown.stderr
    refused: str | None = json.loads(shown.stdout)["state"]["refused"]
    return refused


def told(planes: Installed) -> str:
    """Why the state does not follow."""
    if refused := refusal(planes):
        return refused
    with pytest.raises((StateStopped, StateRefused, CommitUnknown)) as problem:
        refreshed(planes)
    return str(problem.value)


def follow(planes: Installed, way: Way) -> None:
    if way.moves_away:
        dropped(planes)
    if way.state:
        planes.write_spec(state={**STATE, **way.state})
    for words in way.commands:
        done(planes, words)


def done(planes: Installed, words: Sequence[str]) -> None:
    """Do what a command does. Only this one would start Spark."""
    if words == ["sluice", "rebuild", "planes", "--execute"]:
        made_anew(planes)
        return
    ran = run_main(
        [word for word in words if word not in AS_PREVIEWED], planes.environment, planes.folder
    )
    assert ran.returncode == 0, ran.stderr
