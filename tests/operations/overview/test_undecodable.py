"""A batch that was refused for its undecodable records is stopped, by the records that it lands."""

from __future__ import annotations

import json

import pytest
from sluice.errors import TooManyQuarantined
from sluice.operations.overview.find_fleet import find_fleet
from sluice.operations.overview.overview import Condition, Overview
from sluice.operations.reset.targets import to_earliest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

FORM = {"type": "json", "schema": "kind STRING, id BIGINT"}
STRICT = {"max_ratio": 0.1, "max_records": 0}
ONLY = {"header": "kind", "value": "order"}
GOOD, BROKEN = b'{"kind": "order", "id": 1}', b'{"kind": "order", "id": "0"}'


def of_kind(trips: Installed, kind: str, *values: bytes) -> None:
    produce(trips.bootstrap, trips.topics[0], values, headers=[("kind", kind.encode())])


def at_a_glance(trips: Installed) -> Overview:
    (found,) = find_fleet(trips.environment).read()
    return found


def refused(trips: Installed) -> str:
    """What a run that ends for its undecodable records says first, and all looks at it repeat."""
    with pytest.raises(TooManyQuarantined) as found:
        trips.run()
    told, _, _ = str(found.value).partition(";")
    glance = at_a_glance(trips)
    assert glance.condition is Condition.STOPPED
    assert glance.reason.startswith(f"{told}; allowed: ")
    assert glance.reason in trips.sluice("status").stdout
    assert trips.sluice("status", "--fail-on", "stopped").returncode == 1
    planned = trips.sluice("plan")
    assert (planned.returncode, glance.reason in planned.stdout) == (0, True)
    assert glance.reason in json.loads(trips.sluice("plan", "--json").stdout)["notes"]
    return told


@pytest.mark.parametrize("good", [0, 3])
def test_records_of_other_kinds_are_not_counted(
    topic: Topic, pipeline: Pipelines, good: int
) -> None:
    trips = pipeline(topic(), format=FORM, only=ONLY, quarantine=STRICT)
    of_kind(trips, "click", *numbered(20))
    of_kind(trips, "order", *[GOOD] * good, BROKEN)
    told = f"forward-1-1: 1 of {good + 1} records are undecodable"
    assert refused(trips) == told
    trips.write_spec(quarantine={**STRICT, "max_ratio": 0.2})
    if good:
        # It would end so again.
        assert at_a_glance(trips).reason.startswith(f"{told}; allowed: 20.00%")
        trips.write_spec(quarantine={"max_ratio": 0.25})
    else:
        trips.write_spec(quarantine={"max_ratio": 1})
    assert at_a_glance(trips).condition is Condition.FRESH
    assert "undecodable" not in trips.sluice("plan").stdout
    trips.run()
    assert trips.offsets("committed")[-1]["quarantined"] == 1


def test_offsets_without_a_record_are_not_counted(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format=FORM, quarantine=STRICT)
    aborted = transactional(trips.bootstrap)
    send(aborted, trips.topics[0], numbered(20))
    end(trips.bootstrap, trips.topics[0], aborted, commit=False)
    produce(trips.bootstrap, trips.topics[0], [GOOD, BROKEN])
    assert refused(trips) == "forward-1-1: 1 of 2 records are undecodable"


def test_a_replacement_is_held_to_what_was_not_undecodable_before(
    topic: Topic, pipeline: Pipelines
) -> None:
    lax = {**FORM, "allow_unmatched": True}
    trips = pipeline(topic(), format=lax, quarantine={"max_ratio": 0.5})
    produce(trips.bootstrap, trips.topics[0], [b'{"more": 1}', BROKEN])
    trips.run()
    trips.open().reset(to_earliest, "again", "test", "pytest")
    trips.write_spec(format=FORM, quarantine=STRICT)
    assert refused(trips) == "forward-2-1: 1 of 2 records are undecodable, and were not before"


def test_what_an_earlier_sluice_refused_counts_too(topic: Topic, pipeline: Pipelines) -> None:
    """Its quarantine table does not say how many records it judged."""
    trips = pipeline(topic(), format=FORM, only=ONLY, quarantine=STRICT)
    of_kind(trips, "click", *numbered(20))
    of_kind(trips, "order", BROKEN)
    refused(trips)
    forget_what_was_judged(trips)
    glance = at_a_glance(trips)
    assert glance.condition is Condition.STOPPED
    assert glance.reason.startswith("forward-1-1: 1 of at most 21 records are undecodable")
    trips.write_spec(only=None)
    assert at_a_glance(trips).condition is Condition.FRESH


def forget_what_was_judged(trips: Installed) -> None:
    """As if the newest commit of the quarantine table said nothing of its batch."""
    log = trips.warehouse / f"{trips.name}__quarantine" / "_delta_log"
    newest = max(log.glob("*.json"))
    lines = [json.loads(line) for line in newest.read_text().splitlines()]
    told = [each["commitInfo"].pop("userMetadata") for each in lines if "commitInfo" in each]
    assert "judged" in told[0]
    newest.write_text("".join(f"{json.dumps(each)}\n" for each in lines))


def test_a_small_batch_may_have_a_few_and_one_that_may_have_none_may_not(
    topic: Topic, pipeline: Pipelines
) -> None:
    """One of 51 records is 2 %, which is more than the share that a spec allows by default."""
    trips = pipeline(topic(), format=FORM)
    produce(trips.bootstrap, trips.topics[0], [*[GOOD] * 50, BROKEN])
    trips.run()
    assert trips.offsets("committed")[-1]["quarantined"] == 1
    trips.write_spec(quarantine={"max_ratio": 0})
    produce(trips.bootstrap, trips.topics[0], [*[GOOD] * 50, BROKEN])
    assert refused(trips) == "forward-1-2: 1 of 51 records are undecodable"
    allowed = "allowed: 0.00% (quarantine.max_ratio)"
    assert allowed in at_a_glance(trips).reason
    trips.write_spec(quarantine={"max_ratio": 0, "max_records": 1})
    trips.run()
    trips.judge()
