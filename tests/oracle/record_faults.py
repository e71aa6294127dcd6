"""Faults in commits, plans and receipts (invariants 3, 4, 6, 8, 9, 10)."""

from __future__ import annotations

from tests.oracle.fault import FIRST, batches, event, fault, record
from tests.oracle.world import Step, World


@fault(3)
def end_offset_shifted_in_a_plan(world: World) -> None:
    event(world, "planned")[0]["end_offset"] -= 1


@fault(3)
def hole_between_batches(world: World) -> None:
    batches(world, FIRST, {0: (14, 26), 1: (5, 26)})


@fault(3)
def batches_overlap(world: World) -> None:
    batches(world, FIRST, {0: (9, 26), 1: (4, 26)})


@fault(3)
def partition_left_out_of_a_plan(world: World) -> None:
    batches(world, FIRST, {0: (13, 26)})


@fault(3)
def batch_planned_twice(world: World) -> None:
    world.steps.append(Step("offsets", [dict(row) for row in event(world, "planned")]))


@fault(3)
def planned_beyond_the_lso(world: World) -> None:
    batches(world, FIRST, {0: (13, 27), 1: (4, 26)})


@fault(3)
def plan_without_compare_and_set(world: World) -> None:
    world.of("offsets")[2].transactions.clear()


@fault(3)
def plan_of_a_committed_batch_gone(world: World) -> None:
    del world.steps[world.steps.index(world.of("offsets")[0])]


@fault(4)
def row_in_the_wrong_batch(world: World) -> None:
    record(world, 0, 2)["_batch"] = "forward-1-2"


@fault(4)
def txn_missing_while_rows_are_there(world: World) -> None:
    world.of("data")[1].transactions.clear()


@fault(4)
def two_commits_for_one_batch(world: World) -> None:
    whole = world.of("data")[0]
    early = Step("data", whole.rows[:3], metadata=whole.metadata)
    del whole.rows[:3]
    world.steps.insert(world.steps.index(whole), early)


@fault(4)
def rows_after_their_txn(world: World) -> None:
    whole = world.of("data")[1]
    world.steps.insert(world.steps.index(whole) + 1, Step("data", whole.rows[3:]))
    del whole.rows[3:]


@fault(4)
def two_batches_in_one_commit(world: World) -> None:
    first, second = world.of("data")
    second.rows[:0] = first.rows
    world.steps.remove(first)


@fault(4)
def quarantined_after_the_data_commit(world: World) -> None:
    aside = world.of("quarantine")[0]
    world.steps.remove(aside)
    world.steps.append(aside)


@fault(4)
def ranges_missing_from_the_commit(world: World) -> None:
    world.of("data")[0].metadata = None


@fault(4)
def append_that_takes_rows_away(world: World) -> None:
    world.of("data")[1].replaces = "_batch = 'forward-1-2' OR _offset = 2"


@fault(6)
def cursor_moved_back_without_reset(world: World) -> None:
    batches(world, FIRST, {0: (13, 20), 1: (4, 26)})
    world.batch("forward-1-3", {0: (15, 26), 1: (26, 26)}, "replace")


@fault(6)
def txn_moved_back(world: World) -> None:
    world.steps.append(Step("data", [], {world.app("forward", 1): 1}))


@fault(8)
def receipt_without_data(world: World) -> None:
    world.steps.remove(world.of("data")[1])


@fault(8)
def receipt_missing(world: World) -> None:
    world.of("offsets")[1].rows.pop()


@fault(8)
def receipt_twice(world: World) -> None:
    world.steps.append(Step("offsets", [dict(row) for row in event(world, "committed")]))


@fault(8)
def receipt_count_wrong(world: World) -> None:
    receipt = event(world, "committed")[0]
    receipt["records"], receipt["gaps"] = receipt["records"] + 1, receipt["gaps"] - 1
    receipt["gap_control"] -= 1


@fault(8)
def receipt_does_not_add_up(world: World) -> None:
    event(world, "committed")[0]["gaps"] -= 1


@fault(8)
def receipt_counts_the_quarantined_as_stored(world: World) -> None:
    receipt = next(r for r in event(world, "committed") if r["quarantined"])
    receipt["records"], receipt["quarantined"] = receipt["records"] + 1, 0


@fault(8)
def gap_without_kind(world: World) -> None:
    event(world, "committed")[0]["gap_control"] = 0


@fault(8)
def gap_of_the_wrong_kind(world: World) -> None:
    receipt = event(world, "committed")[0]
    receipt["gap_compacted"], receipt["gap_aborted"] = receipt["gap_aborted"], 0


@fault(8)
def receipt_differs_from_its_plan(world: World) -> None:
    event(world, "committed")[0]["mode"] = "replace"


@fault(8)
def receipt_names_another_version(world: World) -> None:
    event(world, "committed", 2)[0]["data_version"] = 0


@fault(8)
def offsets_table_rewritten(world: World) -> None:
    step = world.of("offsets")[1]
    rows = [dict(row) for row in step.rows]
    world.steps.append(Step("offsets", rows, replaces="event = 'committed' AND batch_id = 1"))


@fault(9)
def lost_gap_without_loss_row(world: World) -> None:
    receipt = event(world, "committed")[0]
    receipt["gap_lost"], receipt["gap_control"] = receipt["gap_control"], 0


@fault(9)
def loss_of_what_kafka_still_holds(world: World) -> None:
    batches(world, FIRST, {0: (17, 26), 1: (4, 26)})
    world.lose(0, 13, 17)


@fault(9)
def skip_that_nobody_asked_for(world: World) -> None:
    batches(world, {0: (0, 17), 1: (0, 4)}, {0: (18, 26), 1: (4, 26)})
    world.lose(0, 17, 18)
    world.steps[-1].rows[0]["reason"] = "skipped by somebody: no reason"


def drop(world: World, offset: int, reason: str = "dropped from quarantine by me: no use") -> None:
    """A drop is recorded, and the row goes if there is one."""
    world.lose(0, offset, offset + 1)
    world.steps[-1].rows[0] |= {"batch": "forward-1-1", "reason": reason}
    world.steps.append(Step("quarantine", [], replaces=f"_partition = 0 AND _offset = {offset}"))


@fault(9)
def drop_that_nobody_asked_for(world: World) -> None:
    drop(world, 5)


@fault(9)
def drop_that_is_not_in_quarantine(world: World) -> None:
    drop(world, 7)


@fault(9)
def loss_row_without_reason(world: World) -> None:
    world.lose(0, 10, 11)
    world.steps[-1].rows[0]["reason"] = None


@fault(10)
def stopped_before_the_end(world: World) -> None:
    world.start_anew()
    world.batch("forward-1-1", FIRST)


@fault(13)
def receipt_of_another_table(world: World) -> None:
    event(world, "committed", 2)[0]["data_table_id"] = "another"


@fault(13)
def receipt_without_a_table(world: World) -> None:
    event(world, "committed", 2)[0]["data_table_id"] = None
