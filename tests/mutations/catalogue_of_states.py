"""The mutations of what keeps the state table, each with the test that must notice it.

Those of what compares rows are in `catalogue_of_states_on_spark`.
"""

from __future__ import annotations

from tests.mutations.mutation import SeenByTest

STATE_SEEN_BY_TESTS = (
    SeenByTest(
        "takes an OPTIMIZE of the log for rows that came",
        "sluice/tables/log_changes.py",
        '        if not file.get("dataChange", True):\n            moved = True\n',
        "        if False:\n            moved = True\n",
        "tests/simulation/test_states.py::test_an_optimize_changes_no_row",
    ),
    SeenByTest(
        "lets an OPTIMIZE move what its span is to read",
        "sluice/state_table/spans.py",
        '        if change.moved and kind != "nothing":\n',
        "        if False:\n",
        "tests/simulation/test_states.py::test_an_optimize_changes_no_row",
    ),
    SeenByTest(
        "takes a version that removed rows for one that only added",
        "sluice/state_table/spans.py",
        '        if self.removed:\n            return "rewritten"\n',
        '        if self.removed and not self.added:\n            return "rewritten"\n',
        "tests/simulation/test_states.py::test_a_row_that_others_delete_leaves_the_one_before",
    ),
    SeenByTest(
        "forgets the keys of the files that a version removed",
        "sluice/state_table/spans.py",
        "                removed.setdefault(each.path, each)\n",
        "                removed.pop(each.path, None)\n",
        "tests/simulation/test_states.py::test_a_row_that_others_delete_leaves_the_one_before",
    ),
    SeenByTest(
        "joins versions that added rows and versions that removed some",
        "sluice/state_table/spans.py",
        '            if kind not in ("nothing", change.kind):\n                break\n',
        "            if False:\n                break\n",
        "tests/simulation/test_states.py::test_rows_that_came_and_went_at_once_were_never_there",
    ),
    SeenByTest(
        "trusts a state table whose rows others have changed",
        "sluice/state_table/standing.py",
        "            if each.changes_rows and not each.collects(data_table_id):\n",
        "            if False:\n",
        "tests/simulation/test_states_that_others_touch.py::"
        "test_a_state_that_others_touched_is_refused_and_made_anew",
    ),
    SeenByTest(
        "trusts a late refresh on an older copy of the state table",
        "sluice/state_table/standing.py",
        "before >= commit.after",
        "True",
        "tests/unit/state_table/test_standing.py::"
        "test_anything_else_is_refused_with_what_was_expected_and_found",
    ),
    SeenByTest(
        "trusts a refresh of removed rows that another has overtaken",
        "sluice/state_table/standing.py",
        "        return before == commit.after\n",
        "        return before >= commit.after\n",
        "tests/unit/state_table/test_standing.py::"
        "test_anything_else_is_refused_with_what_was_expected_and_found",
    ),
    SeenByTest(
        "takes a state commit's own base for judged",
        "sluice/tables/state_log.py",
        "            if found.stands_at is not None and found.version <= judged",
        "            if found.commit is not None:\n"
        "                judged = max(judged, found.commit.state_version or -1)\n"
        "            if found.stands_at is not None and found.version <= judged",
        "tests/unit/tables/test_state_log.py::"
        "test_a_commit_on_a_version_of_a_table_that_is_gone_shows_the_one_before_it",
    ),
    SeenByTest(
        "trusts a state table by other rules",
        "sluice/state_table/standing.py",
        "    if newest.digest != found.digest:\n",
        "    if False:\n",
        "tests/simulation/test_states_that_others_touch.py::test_a_state_by_other_rules_is_refused",
    ),
    SeenByTest(
        "trusts a state that is ahead of its log",
        "sluice/state_table/standing.py",
        "    elif found.stands_at > log.version:\n",
        "    elif False:\n",
        "tests/unit/state_table/test_standing.py::"
        "test_anything_else_is_refused_with_what_was_expected_and_found",
    ),
    SeenByTest(
        "goes by the number of the log's version alone",
        "sluice/state_table/standing.py",
        "    elif log.commit_there not in (None, newest.log_commit):\n",
        "    elif False:\n",
        "tests/simulation/test_states_that_others_touch.py::"
        "test_a_state_of_a_version_that_an_older_copy_has_again_is_refused",
    ),
    SeenByTest(
        "trusts the state of another data table",
        "sluice/state_table/standing.py",
        "    if newest.data_table_id != log.table_id:\n",
        "    if False:\n",
        "tests/unit/state_table/test_standing.py::"
        "test_anything_else_is_refused_with_what_was_expected_and_found",
    ),
    SeenByTest(
        "remembers no state table by its id",
        "sluice/protocol/refresh/making.py",
        "        append_known_state(resources.offsets.snapshot(), table_id)\n",
        "        pass\n",
        "tests/simulation/test_states_that_others_touch.py::"
        "test_a_state_that_others_touched_is_refused_and_made_anew",
    ),
    SeenByTest(
        "trusts another table in the state table's place",
        "sluice/progress/state_trust.py",
        "    if known and number_of(found.table_id) != known:\n",
        "    if False:\n",
        "tests/simulation/test_states_that_others_touch.py::"
        "test_another_state_of_the_same_log_is_refused",
    ),
    SeenByTest(
        "makes a state table anew where the one that was known is gone",
        "sluice/progress/state_trust.py",
        "        if known:\n",
        "        if False:\n",
        "tests/simulation/test_states_that_others_touch.py::"
        "test_a_state_that_others_touched_is_refused_and_made_anew",
    ),
    SeenByTest(
        "rebuilds a state table without giving it up first",
        "sluice/operations/rebuild.py",
        "standing.found.stands_at != REBUILDING:",
        "False:",
        "tests/simulation/test_states_that_others_touch.py::"
        "test_a_rebuild_makes_the_state_anew_at_the_version_where_it_stands",
    ),
    SeenByTest(
        "trusts a state table whose rebuild was interrupted",
        "sluice/state_table/standing.py",
        "    if found.stands_at == REBUILDING:\n",
        "    if False:\n",
        "tests/unit/state_table/test_standing.py::"
        "test_anything_else_is_refused_with_what_was_expected_and_found",
    ),
    SeenByTest(
        "ranks a topic that is created anew below the one before",
        "sluice/state_table/topic_ranks.py",
        "stints.append(Stint(each.topic_id, {}))",
        "stints.insert(0, Stint(each.topic_id, {}))",
        "tests/simulation/test_states.py::test_a_topic_that_is_created_anew_is_the_newer_one",
    ),
    SeenByTest(
        "ranks no topics",
        "sluice/progress/topic_ranks.py",
        "    if lane.generation == 1:\n",
        "    if lane.generation:\n",
        "tests/simulation/test_states.py::test_a_topic_that_is_created_anew_is_the_newer_one",
    ),
    SeenByTest(
        "ranks a topic that comes back as it was first read",
        "sluice/state_table/topic_ranks.py",
        "for at in range(first, number) if",
        "for at in range(number, number) if",
        "tests/simulation/test_states.py::"
        "test_a_topic_that_comes_back_behind_a_later_one_has_no_order",
    ),
    SeenByTest(
        "ranks what a topic held when it was left behind the later one",
        "sluice/state_table/topic_ranks.py",
        "            return None\n        known = (number for number, each in stints if",
        "            return None\n        known = (number for number, each in stints if False and",
        "tests/simulation/test_states.py::"
        "test_what_a_topic_held_when_it_was_left_stays_older_and_what_comes_after_it_is_newer",
    ),
    SeenByTest(
        "ranks topics of which no plan is left",
        "sluice/progress/topic_ranks.py",
        "is_whole=None not in known",
        "is_whole=True",
        "tests/simulation/test_states.py::test_what_is_left_of_the_plans_orders_no_topics",
    ),
    SeenByTest(
        "does not read back where the state stands",
        "sluice/protocol/refresh/making.py",
        "    return found is not None and found >= due.span.upto\n",
        "    return True\n",
        "tests/simulation/test_state_judge.py::"
        "test_a_commit_without_its_transaction_id_is_no_success",
    ),
    SeenByTest(
        "takes a key in two partitions for a row without a key",
        "sluice/protocol/refresh/making.py",
        "    if isinstance(problem, NoOrder):\n",
        "    if not isinstance(problem, NoOrder):\n",
        "tests/simulation/test_states.py::"
        "test_a_key_in_two_partitions_stops_the_state_until_an_order_is_named",
    ),
    SeenByTest(
        "collects a key that another partition may still bring back",
        "sluice/state_table/collected.py",
        "min(start, found.get(topic_id, start))\n    for topic_id, start in planned",
        "max(start, found.get(topic_id, start))\n    for topic_id, start in planned",
        "tests/unit/state_table/test_collected.py::"
        "test_an_offset_is_below_the_log_start_of_all_partitions",
    ),
    SeenByTest(
        "collects a key that a planned batch may still bring back",
        "sluice/state_table/collected.py",
        "        if topic_id in found:\n",
        "        if False:\n",
        "tests/unit/state_table/test_collected.py::"
        "test_a_planned_batch_that_has_yet_to_land_may_read_below_the_log_start",
    ),
    SeenByTest(
        "takes what is older than a collected key for its newest row",
        "sluice/protocol/refresh/due_span.py",
        'if span.kind == "appended" and standing',
        "if False and standing",
        "tests/operations/state_table/test_collected_keys.py::"
        "test_they_go_when_all_partitions_have_expired_and_older_rows_do_not_bring_them_back",
    ),
    SeenByTest(
        "collects deleted keys although another topic has yet to be read",
        "sluice/state_table/collected.py",
        "    if len({partition.topic for partition in logs}) > 1:\n",
        "    if False:\n",
        "tests/unit/state_table/test_collected.py::test_of_several_topics_nothing_is_collected",
    ),
    SeenByTest(
        "does not look at what came while a state was written anew",
        "sluice/tables/state_log.py",
        "            if is_whole and found.version <= judged:\n",
        "            if is_whole:\n",
        "tests/unit/tables/test_state_log.py::"
        "test_what_came_while_all_was_written_anew_is_looked_at",
    ),
    SeenByTest(
        "takes a refresh that came while it looked for an older copy of the log",
        "sluice/progress/state_trust.py",
        "read_unchecked(resources) if standing.refusal else lane",
        "lane",
        "tests/protocol/refresh/test_following.py::"
        "test_what_moves_while_it_is_looked_at_speaks_against_nothing",
    ),
    SeenByTest(
        "stops for rows that are no longer there",
        "sluice/protocol/refresh/refresh.py",
        "        if instead is None:\n",
        "        if True:\n",
        "tests/protocol/refresh/test_following.py::"
        "test_a_key_in_two_partitions_stops_nothing_once_its_rows_are_deleted",
    ),
    SeenByTest(
        "reads files of a version that VACUUM may have taken",
        "sluice/protocol/refresh/due_span.py",
        'if span.kind == "rewritten" and _has',
        "if False and _has",
        "tests/protocol/refresh/test_following.py::"
        "test_files_that_vacuum_may_have_taken_are_not_asked_for",
    ),
    SeenByTest(
        "lets receipts wait for a refresh of a long log",
        "sluice/protocol/refresh/refresh.py",
        "due is None or _is_long(resources, due)",
        "due is None",
        "tests/protocol/refresh/test_following.py::test_what_takes_a_long_log_is_left_to_refresh",
    ),
)
