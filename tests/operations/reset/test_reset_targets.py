"""Where a reset can lead to: each target, what it shows before, and what it leaves behind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.errors import PreviewOutdated, ResetNeeded, SettingsError, SparkFailed
from sluice.offsets.notation import parse_positions, parse_scope
from sluice.operations.reset.targets import named_target, shift_by, to_latest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, numbered, produce, produce_at, set_group

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

HOUR = 3_600_000
T0 = 1_700_000_000_000
FOREVER = 2**63 - 1
WHO = ("run", "pytest")
JSON = {"type": "json", "schema": "id BIGINT"}


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Ten records an hour apart, the fourth of them malformed, and four in another partition."""
    made = pipeline(topic(2, retention_ms=-1), format=JSON, quarantine={"max_ratio": 0.5})
    values = [*numbered(3), b"{broken", *numbered(6, 4)]
    for hour, value in enumerate(values):
        produce(made.bootstrap, made.topics[0], [value], timestamp=T0 + hour * HOUR)
    produce(made.bootstrap, made.topics[0], numbered(4), 1, timestamp=T0)
    made.run()
    return made


def answer(trips: Installed, *words: str) -> dict[str, Any]:
    done = trips.sluice(*words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def leads(trips: Installed, name: str, value: str = "", *scopes: str) -> list[tuple[int, int]]:
    """Skipped and read again in each partition, by a preview."""
    target = named_target(name, value, [parse_scope(each) for each in scopes])
    return [(each.skipped, each.reread) for each in trips.open().preview_reset(target).reset.cursor]


def moved(trips: Installed, generation: int) -> list[tuple[int, int]]:
    return [
        (row["cursor_before"], row["cursor_after"])
        for row in trips.offsets("reset_done")
        if (row["lane"], row["generation"]) == ("forward", generation)
    ]


def test_every_target_leads_where_kafkas_own_tool_would_lead(trips: Installed) -> None:
    name = trips.topics[0]
    produce(trips.bootstrap, name, numbered(5, 10), timestamp=T0 + 20 * HOUR)
    set_group(trips.bootstrap, f"old-{name}", name, 6)
    assert leads(trips, "to-earliest") == [(0, 10), (0, 4)]
    assert leads(trips, "to-latest") == [(5, 0), (0, 0)]
    assert leads(trips, "to-latest", "", f"{name}:1") == [(0, 0), (0, 0)]
    # T0 is 22:13:20 on that day: two hours later is the third record of partition 0.
    assert leads(trips, "to-datetime", "2023-11-15T00:13:20.000") == [(0, 8), (0, 0)]
    assert leads(trips, "to-datetime", "1969-12-31T23:59:59.999Z") == [(0, 10), (0, 4)]
    assert leads(trips, "by-duration", "PT1H") == [(5, 0), (0, 0)], "no record is that late"
    assert leads(trips, "shift-by", "-4", name) == [(0, 4), (0, 4)]
    assert leads(trips, "shift-by", "3") == [(3, 0), (0, 0)], "clipped to the LSO"
    assert leads(trips, "to-group", f"old-{name}") == [(0, 4), (0, 0)]
    assert leads(trips, "to-offsets", f"{name}[1]=1 {name}[0]=999") == [(5, 0), (0, 3)]
    assert leads(trips, "to-table") == [(0, 0), (0, 0)]
    for given in (("to-offsets", f"{name}[7]=1"), ("to-latest", "", "other"), ("to-group", "none")):
        with pytest.raises(SettingsError, match="expected"):
            leads(trips, *given)
    delete_records(trips.bootstrap, name, 2)
    assert leads(trips, "shift-by", "-9") == [(0, 8), (0, 4)], "clipped to the log start"
    assert trips.offsets("reset_intended") == [], "a preview writes nothing"


def test_a_preview_shows_all_that_is_affected_and_is_held_to(trips: Installed) -> None:
    name = trips.topics[0]
    back = ("--to-offsets", f"{name}[0]=2", "--to-offsets", f"{name}[1]=0")
    seen = answer(trips, "reset", *back)
    assert [
        (each["rows_replaced"], each["quarantined_replaced"], each["last_stable_offset"])
        for each in seen["partitions"]
    ] == [(7, 1, 10), (4, 0, 4)]
    produce(trips.bootstrap, name, numbered(2, 10), timestamp=T0 + 20 * HOUR)
    trips.run()
    execute = ("--execute", "--reason", "a mended schema")
    refused = trips.sluice("reset", *back, *execute, "--as-previewed", seen["preview"])
    assert refused.returncode == 1
    for part in ("changed since the preview", f"expected {seen['preview']}", "forward-1-2"):
        assert part in refused.stderr
    assert trips.offsets("reset_intended") == []

    shown = trips.sluice("reset", *back).stdout
    assert ("Nothing was changed" in shown, "[0, 12)" in shown) == (True, True), shown
    seen = answer(trips, "reset", *back)
    held = (*back, *execute, "--as-previewed", seen["preview"])
    for _ in range(2):  # Once more is a stated no-op.
        done = answer(trips, "reset", *held)
        assert (done["executed"], done["generation"]) == (True, 2)
    trips.run()
    assert trips.ranges()["forward-2-1"] == {"[0]": (2, 12), "[1]": (0, 4)}
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (15, 1)


def test_the_end_of_a_busy_topic_is_a_target_too(trips: Installed) -> None:
    """Each look at it finds another end; what must not change in between is the state before."""
    name = trips.topics[0]
    produce(trips.bootstrap, name, numbered(5, 10), timestamp=T0 + 20 * HOUR)
    seen = answer(trips, "reset", "--to-latest")
    assert "to-latest moves with the log" in trips.sluice("reset", "--to-latest").stdout
    fixed = answer(trips, "reset", "--to-earliest", "--topic", name)["preview"]
    produce(trips.bootstrap, name, numbered(3, 15), timestamp=T0 + 21 * HOUR)
    execute = ("reset", "--execute", "--reason=too late", "--as-previewed", seen["preview"])
    for other in ("--by-duration=PT1H", "--to-earliest"):
        assert "changed since the preview" in trips.sluice(*execute, other).stderr
    for _ in range(2):  # Once more is a stated no-op, wherever the end is by then.
        done = answer(trips, *execute, "--to-latest")
        assert (done["executed"], done["generation"]) == (True, 2)
        produce(trips.bootstrap, name, numbered(1, 18), timestamp=T0 + 22 * HOUR)
    assert moved(trips, 2) == [(10, 18), (4, 4)]
    assert fixed != seen["preview"]
    seen = answer(trips, "reset", "--to-latest")
    trips.run()
    refused = trips.sluice(*execute[:-1], seen["preview"], "--to-latest")
    assert "changed since the preview" in refused.stderr
    assert trips.judge().facts.rows == 15


def test_what_is_skipped_is_recorded_and_can_be_fetched_later(trips: Installed) -> None:
    name, opened = trips.topics[0], trips.open
    produce(trips.bootstrap, name, numbered(5, 10), timestamp=T0 + 20 * HOUR)
    with pytest.raises(PreviewOutdated):
        opened().reset(to_latest, "rubbish of a test run", *WHO, as_previewed="2-1-00000000")
    opened().reset(to_latest, "rubbish of a test run", *WHO)
    produce(trips.bootstrap, name, numbered(2, 15), timestamp=T0 + 21 * HOUR)
    trips.run()
    assert trips.ranges()["forward-2-1"] == {"[0]": (15, 17), "[1]": (4, 4)}
    assert trips.judge().facts.rows == 15
    proof = answer(trips, "verify")
    assert (proof["exact"], proof["skipped"], proof["lost"]) == (True, 5, 0)
    (reset,) = answer(trips, "history")["resets"]
    assert (reset["actor"], reset["reason"]) == ("pytest", "rubbish of a test run")
    assert [each["skipped"] for each in reset["partitions"]] == [5, 0]
    assert "rubbish of a test run (5 skipped, 0 read again)" in trips.sluice("status").stdout

    # Back to the middle of what was skipped; above it are rows that are replaced.
    file = trips.folder / "offsets.csv"
    file.write_text(f'"{name}",0,13\n')
    seen = answer(trips, "reset", "--from-file", str(file))
    assert [each["rows_replaced"] for each in seen["partitions"]] == [2, 0]
    opened().reset(named_target("to-offsets", f"{name}[0]=13"), "not all of it", *WHO)
    opened().reset(shift_by(-1), "one more", *WHO)
    assert (moved(trips, 3), moved(trips, 4)) == ([(17, 13), (4, 4)], [(13, 12), (4, 3)])
    trips.run()
    assert trips.ranges()["forward-4-1"] == {"[0]": (12, 17), "[1]": (3, 4)}
    assert trips.judge().facts.rows == 18
    proof = answer(trips, "verify")
    assert (proof["exact"], proof["skipped"]) == (True, 2)


def test_a_record_that_stops_the_line_is_skipped(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(retention_ms=-1, message_timestamp_after_max_ms=FOREVER))
    name = trips.topics[0]
    # Spark cannot hold such a timestamp. The very first batch has it, and nothing has landed yet.
    produce_at(trips.bootstrap, name, [T0, T0 + 1, FOREVER, T0 + 3, T0 + 4])
    with pytest.raises(SparkFailed):
        trips.run()
    for offset, why in ((9, "the LSO 5"), (-1, "not a position")):
        refused = trips.sluice("reset", "--skip", f"{name}[0]@{offset}")
        assert (refused.returncode in (1, 2), why in refused.stderr) == (True, True)
    skip = parse_positions([f"{name}[0]@2"], "@")
    seen = trips.open().preview_skip(skip, "a timestamp of the year 292278994", "pytest")
    assert trips.offsets("loss") == trips.offsets("reset_intended") == []
    done = trips.open().skip(skip, "the year 292278994", *WHO, as_previewed=seen.preview)
    assert done.done
    (loss,) = trips.offsets("loss")
    assert (loss["start_offset"], loss["end_offset"], loss["gap_lost"]) == (2, 3, 1)
    assert loss["reason"] == "skipped by pytest: the year 292278994"
    trips.run()
    assert trips.ranges("committed") == {
        "forward-2-1": {"[0]": (0, 2)},
        "forward-2-2": {"[0]": (3, 5)},
    }
    assert trips.judge(skipped=frozenset({(0, 2)})).facts.rows == 4
    proof = answer(trips, "verify")
    assert (proof["exact"], proof["lost"]) == (True, 1)
    (told,) = answer(trips, "history")["losses"]
    assert (told["actor"], told["cause"]) == ("pytest", "skipped by pytest: the year 292278994")
    assert (told["start"], told["end"]) == (2, 3)
    with pytest.raises(SettingsError, match="not committed, found the cursor at 5"):
        trips.open().skip(parse_positions([f"{name}[0]@1"], "@"), "too late", *WHO)


def test_nobody_passes_over_rows_that_a_restore_took_away(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(2, 10), timestamp=T0 + 20 * HOUR)
    trips.run()
    landed = {row["batch"]: row["data_version"] for row in trips.offsets("committed")}
    DeltaTable(trips.data).restore(landed["forward-1-1"])
    with pytest.raises(ResetNeeded, match=r"rows of \[10, 12\) were taken away by a RESTORE"):
        trips.open().reset(to_latest, "a test", *WHO)
    trips.open().reset(shift_by(-4), "a test", *WHO)
    assert moved(trips, 2)[0] == (12, 8)
    trips.run()
    assert trips.judge().facts.rows == 15
