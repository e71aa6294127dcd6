"""The soak's schedule: the seed alone decides; a quarter of the time nothing strikes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from sluice.failpoints import POINTS

from tests.faults.striking import SOURCE
from tests.soak import schedule
from tests.soak.outcomes import EXCUSED_BY
from tests.soak.parcels import ENDINGS, MALFORMED, plain, transactions
from tests.soak.schedule import APART, KINDS, PAUSE, faults, storms
from tests.soak.strikes import STRIKES

HOUR = 3600


def test_the_same_seed_gives_the_same_schedule_and_another_one_another() -> None:
    assert faults(7, HOUR) == faults(7, HOUR) != faults(8, HOUR)
    for parcels in (plain, transactions):
        first, again, other = (list(parcels(seed, 600, 200)) for seed in (7, 7, 8))
        assert first == again != other
        assert list(first[3].contents(4)) == list(again[3].contents(4))


def test_a_longer_soak_begins_like_a_shorter_one() -> None:
    short = [each for each in faults(7, 600) if each.at < 500]
    assert short == list(faults(7, HOUR)[: len(short)])


def test_in_an_hour_every_kind_of_fault_strikes_every_few_seconds() -> None:
    found = faults(7, HOUR)
    assert {each.kind for each in found} == KINDS.keys() == STRIKES.keys()
    gaps = [after.at - before.at for before, after in pairwise(found)]
    assert all(gap > 0 for gap in gaps)
    assert sorted(gaps)[len(gaps) // 2] < PAUSE[1]


@pytest.mark.parametrize("seed", range(20))
def test_a_quarter_of_the_time_is_quiet(seed: int) -> None:
    stormy = list(storms(seed, HOUR))
    assert 0.70 < sum(end - start for start, end in stormy) / HOUR < 0.80
    for fault in faults(seed, HOUR):
        over = fault.at + fault.seconds
        assert any(start <= fault.at and over <= end + 0.02 for start, end in stormy), fault


@pytest.mark.parametrize("seed", range(20))
def test_what_is_read_again_is_given_the_time_for_it(seed: int) -> None:
    heavy = [each for each in faults(seed, HOUR) if KINDS[each.kind].re_reads]
    for before, after in pairwise(heavy):
        assert after.at - before.at >= APART - 0.02


def test_every_failpoint_is_one_that_is_there() -> None:
    again = filter(None, schedule.READ_AGAIN_FAILPOINTS)
    of_python = {*schedule.FAILPOINTS, *schedule.RESET_FAILPOINTS, *again}
    # A soak neither skips records, nor drops them, nor rebuilds a state, nor does maintenance.
    others = {"skip fenced", "drop recorded", "quarantine cleared", "offsets set aside"}
    others |= {"recovery fenced", "quarantine replaced", "state given up"}
    assert {each.partition(": ")[0] for each in of_python} == set(POINTS) - others
    java = SOURCE.read_text(encoding="utf-8")
    for point in schedule.COMMIT_FAILPOINTS:
        step, kind = point.removeprefix("quarantine ").split(": ")
        assert f'"{step}"' in java, point
        assert f'case "{kind}"' in java, point
    for point in of_python | set(schedule.COMMIT_FAILPOINTS):
        assert point.rpartition(" ")[2] in EXCUSED_BY


def test_everything_is_produced_that_can_be() -> None:
    sent = list(transactions(7, 600, 200))
    assert {each.ending for each in sent} == set(ENDINGS)
    records = [record for each in [*sent, *plain(7, 600, 200)] for record in each.contents(4)]
    assert {partition for partition, _ in records} == {0, 1, 2, 3}
    values = [value for _, value in records]
    assert 0 < values.count(MALFORMED) < len(values) / 100
    assert 0 < values.count(None) < len(values) / 50
    assert 0.8 < len(values) / (600 * 200) < 1.2
