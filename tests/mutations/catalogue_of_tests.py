"""The mutations that one test must notice, and which.

What a test sees at once needs no scenario for the oracle. The oracle could not see some of them:
a commit that is overwritten, a wrong moment, a loss that the tools count.
"""

from __future__ import annotations

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
        "takes a producer's later records for aborted ones",
        "sluice/protocol/settle/gaps.py",
        "            self._open.discard(batch.producer_id)\n",
        "            pass\n",
        "tests/unit/protocol/test_gaps.py::"
        "test_after_the_abort_marker_the_same_producer_commits_again",
    ),
    SeenByTest(
        "believes the row count of a replacement",
        "sluice/protocol/settle/counting.py",
        'whole = commit.rows == batch.span and batch.mode == "append"',
        "whole = commit.rows == batch.span",
        "tests/unit/protocol/test_counting.py::"
        "test_the_rows_that_a_replacement_only_moved_are_none_that_it_read",
    ),
    SeenByTest(
        "overlooks a log that lost one record",
        "sluice/protocol/plan/log_changes.py",
        "    if cursor > log.end_offset:\n",
        "    if cursor > log.end_offset + 1:\n",
        "tests/unit/protocol/test_findings.py::test_an_adopted_batch_of_another_log_is_refused",
    ),
    SeenByTest(
        "takes the version that a RESTORE went back to for undone",
        "sluice/tables/foreign_commits.py",
        "            return in_effect(version, restored, restores)\n",
        "            return in_effect(version, restored - 1, restores)\n",
        "tests/unit/tables/test_alterations.py::test_a_batch_is_undone_when_its_version_is_not"
        "_among_those_that_made_the_table",
    ),
    SeenByTest(
        "takes a quarantined record for superseded by a batch that has no row of it",
        "sluice/progress/evidence.py",
        "(self.newest_read(rows.offsets) > rows.reads) & read_again\n",
        "(self.newest_read(rows.offsets) > rows.reads)\n",
        "tests/unit/operations/test_checks_over_generations.py::"
        "test_what_kafka_no_longer_held_was_not_read_again",
    ),
    SeenByTest(
        "counts a loss where a closed sequence ends",
        "sluice/progress/committed.py",
        "loss.offsets.start < reached.get(place, 0)",
        "loss.offsets.start <= reached.get(place, 0)",
        "tests/unit/progress/test_losses_that_count.py",
    ),
    SeenByTest(
        "takes an idle partition's fingerprint anew",
        "sluice/protocol/ingest/reading.py",
        "        fingerprints={**taken, **kept},\n",
        "        fingerprints={**taken, **_take_fingerprints(resources, batch, {}, state)},\n",
        "tests/unit/protocol/test_readings.py::"
        "test_the_fingerprint_of_an_idle_partition_is_the_one_that_was_read",
    ),
    SeenByTest(
        "reads the minutes of a zone behind UTC as ahead of it",
        "jvm/JsonTimes.scala",
        "      else sign * (hours * 3600 + minutes * 60)\n",
        "      else sign * hours * 3600 + minutes * 60\n",
        "tests/decoding/test_json_scalars.py::test_timestamps_are_rfc_3339",
    ),
    SeenByTest(
        "looks whether a commit is there, and then writes it",
        "jvm/LinkLogStore.scala",
        "        Files.createLink(local(commit), local(draft))\n",
        "        if (Files.exists(local(commit)))\n"
        "          throw new java.nio.file.FileAlreadyExistsException(commit.toString)\n"
        "        Thread.sleep(1)\n"
        "        Files.move(local(draft), local(commit),\n"
        "          java.nio.file.StandardCopyOption.REPLACE_EXISTING)\n",
        "tests/faults/test_commit_races.py",
    ),
)
