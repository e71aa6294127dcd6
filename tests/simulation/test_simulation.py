"""The simulator itself: histories repeat, processes stop and go on, and its oracle is alive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.simulation.actions import ACTIONS
from tests.simulation.allowed import SENTENCE
from tests.simulation.commands import Command
from tests.simulation.delta_tables import versions
from tests.simulation.history import History, Step, as_text, read_history
from tests.simulation.judge import Judge
from tests.simulation.play import Played, a_world, act, play
from tests.simulation.rows import key_of
from tests.simulation.settings import setting_of
from tests.simulation.shrink import shrink
from tests.simulation.swarm import THEMES, draw_history
from tests.simulation.world import World
from tests.unit.sources import ROOT

_PRODUCE, _RUN = Step("produce", (0, 3, 1, 0)), Step("run")
QUIET = History("quiet", 0, (_PRODUCE, _RUN, _PRODUCE, _RUN))


def played(*steps: Step) -> Played:
    return play(History("a test", 0, steps))


def test_a_quiet_history_finds_nothing() -> None:
    assert play(QUIET).finding is None


@pytest.mark.parametrize("number", range(4))
def test_the_same_seed_is_the_same_history_to_the_letter(number: int) -> None:
    history = draw_history(f"repeated/{number}")
    assert history == draw_history(f"repeated/{number}")
    first, again = play(history), play(history)
    assert _plain(first) == _plain(again)


def _plain(found: Played) -> list[str]:
    """What was told, without the folder that each world has for itself."""
    return [
        " ".join(w for w in each.split() if "/sluice-simulation-" not in w) for each in found.told
    ]


def test_no_more_faults_come_at_once_than_are_asked_for() -> None:
    """A run that ends well is behind them: then others may come."""
    lost, gone = Step("the offsets table is dropped"), Step("the quarantine is dropped")
    follow = Step("follow the message")
    steps = (_PRODUCE, _RUN, lost, gone, *[follow] * 4, _RUN, gone)
    every = play(History("faults", 0, steps), ends=False)
    assert _named(every.done) == [lost.name, gone.name]
    single = play(History("faults", 0, steps), ends=False, at_once=1)
    assert _named(single.done) == [lost.name, gone.name], "the second one behind the run"
    assert [each.name for each in single.done].index(gone.name) > 3


def _named(steps: Sequence[Step]) -> list[str]:
    return [each.name for each in steps if ACTIONS[each.name].fault]


def test_a_history_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(as_text(QUIET, ["told"], "twice: once", "N1"), encoding="utf-8")
    stored = read_history(path)
    assert (stored.history, stored.finding, stored.known) == (QUIET, "twice: once", "N1")


def test_the_themes_name_actions() -> None:
    assert {name for theme in THEMES.values() for name in theme} <= ACTIONS.keys()


def test_what_is_not_promised_is_said_to_users() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert SENTENCE in page.partition("## What is not promised")[2]


def begun(world: World, points: int) -> None:
    with_records = Step("produce", (0, 3, 1, 0))
    assert act(Judge(world), world, with_records) is None
    world.begin_process(Command(("run",)), points)


def test_a_process_stops_at_each_step_of_the_protocol_and_goes_on() -> None:
    points = []
    for number in range(200):
        with a_world(QUIET) as world:
            begun(world, number)
            if not world.frozen:
                break
            points.append(world.frozen[0].point)
            world.go_on(world.frozen[0], None)
            assert world.done is not None
            assert world.done.green
            assert not world.done.whole
    assert {"before planning", "offsets to commit", "plan durable", "records", "mirror"} < {*points}
    assert "lake: files written" in points


def test_two_processes_at_work_land_each_record_once() -> None:
    steps = [_PRODUCE]
    steps += [Step("begin", (0, 25, 0, 0)), Step("begin", (0, 30, 0, 0)), _RUN]
    steps += [Step("go on", (0, 1, 0, 0)), Step("go on", (0, 1, 0, 0)), _PRODUCE, _RUN]
    assert played(*steps).finding is None


# The oracle is alive: what is planted turns it red.


FAULTS = ["a row less", "a row twice", "another value", "no value", "another topic"]


@pytest.mark.parametrize("fault", [*FAULTS, "another count"])
def test_a_planted_fault_turns_the_oracle_red(fault: str) -> None:
    with a_world(QUIET) as world:
        judge = Judge(world)
        for step in QUIET.steps:
            assert act(judge, world, step) is None
        _plant(world, fault)
        judge.green = None
        found = act(judge, world, Step("produce", (0, 0, 1, 0))) or act(judge, world, _RUN)
        assert found is not None, fault


def _plant(world: World, fault: str) -> None:
    if fault == "another count":
        _miscount(world)
        return
    name = sorted(world.reader.read(world.table("trips")).files)[0]
    path = world.table("trips") / name
    rows = pq.ParquetFile(path).read()
    changed = {
        "a row less": rows.slice(1),
        "a row twice": pa.concat_tables([rows, rows.slice(0, 1)]),
        "another value": _with(rows, "id", 7),
        "no value": _with(rows, "extra", None),
        "another topic": _with(rows, "_topic", "u"),
    }
    pq.write_table(changed[fault], path)


def _miscount(world: World) -> None:
    """Each receipt counts a record more."""
    for path in world.table("trips__offsets").rglob("event=committed/**/*.parquet"):
        rows = pq.ParquetFile(path).read()
        at = rows.schema.get_field_index("records")
        more = pa.array([each + 1 for each in rows["records"].to_pylist()], pa.int64())
        pq.write_table(rows.set_column(at, rows.schema.field(at), more), path)


def _with(rows: pa.Table, column: str, value: object) -> pa.Table:
    at = rows.schema.get_field_index(column)
    return rows.set_column(at, column, pa.array([value] * len(rows), rows.schema.field(at).type))


_FAULT = Step("another leader")


def _with_fault(history: History) -> Played:
    """A play in which the data table has a row twice once partitions have another leader."""
    with a_world(history) as world:
        judge = Judge(world)
        for step in history.steps:
            if step == _FAULT and world.reader.read(world.table("trips")).files:
                _plant(world, "a row twice")
            if finding := act(judge, world, step):
                return Played(finding, judge.judged_actions)
        return Played(None, judge.judged_actions)


def test_shrinking_keeps_the_finding_and_takes_away_the_rest() -> None:
    noise = [Step("days pass"), Step("look")]
    whole = History("s", 0, (*QUIET.steps, *noise, _FAULT, *noise))
    found = _with_fault(whole).finding
    assert found is not None
    small = shrink(whole, found.kind, seconds=120, playing=_with_fault)
    assert small.steps == (Step("produce"), _RUN, _FAULT)


def test_reading_a_table_alone_changes_nothing() -> None:
    with a_world(QUIET) as world:
        judge = Judge(world)
        for step in QUIET.steps:
            act(judge, world, step)
        before = list(versions(world.table("trips")))
        rows = world.reader.read(world.table("trips")).rows
        assert len({key_of(row) for row in rows}) == len(rows) == 8
        assert list(versions(world.table("trips"))) == before


def test_settings_differ() -> None:
    assert len({repr(setting_of(number)) for number in range(384)}) > 60
