"""The mutations that one test must notice, and which.

What a test sees at once needs no scenario for the oracle. The oracle could not see some of them:
a commit that is overwritten, a wrong moment, a loss that the tools count.
"""

from __future__ import annotations

from tests.mutations.catalogue_of_states import STATE_SEEN_BY_TESTS
from tests.mutations.catalogue_of_states_on_spark import STATE_SEEN_ON_SPARK
from tests.mutations.mutation import SeenByTest

SEEN_BY_TESTS = (
    SeenByTest(
        "replaces only what earlier generations reached as a whole",
        "sluice/offsets/reach.py",
        "planned.offsets.start < self.ends.get(place, 0)",
        "planned.offsets.end <= self.ends.get(place, 0)",
        "tests/unit/offsets/test_reach.py::"
        "test_a_batch_replaces_where_some_of_it_was_committed_before",
    ),
    SeenByTest(
        "forgets all earlier generations but the last",
        "sluice/offsets/reach.py",
        "        ends = dict(self.ends)\n",
        "        ends: dict[tuple[str, TopicPartition], int] = {}\n",
        "tests/unit/offsets/test_reach.py::test_of_several_generations_the_furthest_counts",
    ),
    SeenByTest(
        "calls a table complete while a partition waits",
        "sluice/offsets/partition_log.py",
        "and all(ends.get(at, 0) == ",
        "and any(ends.get(at, 0) == ",
        "tests/unit/protocol/plan/test_next_batches.py::"
        "test_a_partition_that_waits_keeps_the_table_incomplete",
    ),
    SeenByTest(
        "calls a table complete that is not accounted for",
        "sluice/progress/complete_until.py",
        "    settled = not lane.unfinished and not lane.due\n",
        "    settled = not lane.unfinished\n",
        "tests/operations/test_until_complete.py::test_a_batch_that_lacks_a_record_does_not_count",
    ),
    SeenByTest(
        "calls a table complete of a log that has grown again",
        "sluice/progress/complete_until.py",
        "log.leader_epoch <= known",
        "log.leader_epoch >= known",
        "tests/operations/test_until_complete.py::"
        "test_a_log_that_has_grown_again_to_the_cursor_is_not_read",
    ),
    SeenByTest(
        "repeats the moment for topics that it does not speak of",
        "sluice/protocol/plan/write_plan.py",
        "            history = history.without_moment()\n",
        "            pass\n",
        "tests/operations/test_until_complete.py::"
        "test_a_topic_that_is_named_again_makes_the_moment_unknown",
    ),
    SeenByTest(
        "counts a stock that others have taken from",
        "sluice/progress/quarantine_stock.py",
        "    if refusal:\n",
        "    if not refusal:\n",
        "tests/operations/test_until_complete.py::"
        "test_what_others_took_from_the_quarantine_is_neither_complete_nor_gone",
    ),
    SeenByTest(
        "takes a producer's later records for aborted ones",
        "sluice/offsets/log_verdicts.py",
        "            self._open.discard(batch.producer_id)\n",
        "            pass\n",
        "tests/unit/protocol/settle/test_gaps.py::"
        "test_after_the_abort_marker_the_same_producer_commits_again",
    ),
    SeenByTest(
        "believes the row count of a replacement",
        "sluice/protocol/settle/counting.py",
        'whole = commit.rows == batch.span and batch.mode == "append"',
        "whole = commit.rows == batch.span",
        "tests/unit/protocol/settle/test_counting.py::"
        "test_the_rows_that_a_replacement_only_moved_are_none_that_it_read",
    ),
    SeenByTest(
        "overlooks a log that lost one record",
        "sluice/protocol/plan/log_changes.py",
        "    if cursor > log.end_offset:\n",
        "    if cursor > log.end_offset + 1:\n",
        "tests/unit/protocol/plan/test_log_changes.py::test_an_adopted_batch_of_another_log_is_refused",
    ),
    SeenByTest(
        "takes the version that a RESTORE went back to for undone",
        "sluice/tables/foreign_commits.py",
        "            return in_effect(version, restored, restores)\n",
        "            return in_effect(version, restored - 1, restores)\n",
        "tests/unit/tables/test_foreign_commits.py::test_a_write_is_in_effect_when_it_is_among_those"
        "_that_made_the_table",
    ),
    SeenByTest(
        "takes a quarantined record for superseded by a batch that has no row of it",
        "sluice/progress/evidence.py",
        "(self.newest_read(rows.offsets) > rows.reads) & read_again\n",
        "(self.newest_read(rows.offsets) > rows.reads)\n",
        "tests/unit/operations/verify/test_checks_over_generations.py::"
        "test_what_kafka_no_longer_held_was_not_read_again",
    ),
    SeenByTest(
        "counts a loss where a closed sequence ends",
        "sluice/progress/committed.py",
        "loss.offsets.start < reached.get(loss.place, 0)",
        "loss.offsets.start <= reached.get(loss.place, 0)",
        "tests/unit/progress/test_committed.py",
    ),
    SeenByTest(
        "excuses any number of rows where one was read again",
        "sluice/operations/verify/checks.py",
        "fewer - told - (evidence.replaced(place) if fewer else 0)",
        "fewer - told - (fewer if evidence.replaced(place) else 0)",
        "tests/unit/operations/verify/test_checks_over_generations.py::"
        "test_a_batch_read_again_in_part_excuses_as_many_rows_as_were_read_again",
    ),
    SeenByTest(
        "takes the row that a batch should have replaced for one read since",
        "sluice/protocol/settle/explanations.py",
        "names[names.index(str(batch)) + 1 :]",
        "names",
        "tests/protocol/settle/test_records_left_out.py::"
        "test_the_row_that_it_should_have_replaced_does_not_stand_for_it",
    ),
    SeenByTest(
        "believes a mark though another commit is at its version",
        "sluice/progress/judged.py",
        "if table.log.digest(version, _known(state)) == digest else -1",
        "",
        "tests/simulation/test_judged_marks.py::"
        "test_a_copy_that_has_grown_past_the_mark_is_judged_anew",
    ),
    SeenByTest(
        "misses nothing that a reset has passed over",
        "sluice/progress/unaltered.py",
        "    if not commits and not just_reset:",
        "    if not commits:",
        "tests/simulation/test_losses_before_landing.py::"
        "test_what_a_reset_passes_over_that_was_to_be_read_again_stops_the_next_run",
    ),
    SeenByTest(
        "lands in whatever table has taken the place",
        "sluice/protocol/ingest/reading.py",
        "        table_id=forward.data.table_id,\n",
        "        table_id=None,\n",
        "tests/simulation/test_late_first_attempts.py",
    ),
    SeenByTest(
        "takes an idle partition's fingerprint anew",
        "sluice/protocol/ingest/reading.py",
        "        fingerprints={**taken, **kept},\n",
        "        fingerprints={**taken, **_take_fingerprints(resources, batch, {}, state)},\n",
        "tests/unit/protocol/ingest/test_reading.py::"
        "test_the_fingerprint_of_an_idle_partition_is_the_one_that_was_read",
    ),
    SeenByTest(
        "reads the minutes of a zone behind UTC as ahead of it",
        "jvm/json/JsonTimes.scala",
        "      else sign * (hours * 3600 + minutes * 60)\n",
        "      else sign * hours * 3600 + minutes * 60\n",
        "tests/decoding/test_json_scalars.py::test_timestamps_are_rfc_3339",
    ),
    SeenByTest(
        "looks whether a commit is there, and then writes it",
        "jvm/commit/LinkLogStore.scala",
        "        Files.createLink(local(commit), local(draft))\n",
        "        if (Files.exists(local(commit)))\n"
        "          throw new java.nio.file.FileAlreadyExistsException(commit.toString)\n"
        "        Thread.sleep(1)\n"
        "        Files.move(local(draft), local(commit),\n"
        "          java.nio.file.StandardCopyOption.REPLACE_EXISTING)\n",
        "tests/faults/test_commit_races.py",
    ),
    SeenByTest(
        "commits a batch to whatever log is in the place of its own",
        "jvm/commit/LinkLogStore.scala",
        "        basedOn.foreach(_.require(files, commit))\n",
        "",
        "tests/faults/test_commit_races.py::"
        "test_a_batch_lands_on_no_other_log_than_its_write_was_begun_on",
    ),
    *STATE_SEEN_BY_TESTS,
    *STATE_SEEN_ON_SPARK,
)
