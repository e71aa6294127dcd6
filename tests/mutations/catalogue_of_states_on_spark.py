"""The mutations of what compares the rows of a state table, which only tests on Spark can notice.

The tests of the simulation have a lake of their own, in which they plant faults themselves.
"""

from __future__ import annotations

from tests.mutations.mutation import SeenByTest

STATE_SEEN_ON_SPARK = (
    SeenByTest(
        "orders a topic that comes back in Spark",
        "sluice/lake/state/places.py",
        " OR (ids > 1 AND ({apart}))",
        "",
        "tests/contracts/test_state.py::"
        "test_both_lakes_leave_the_same_state[a_topic_that_comes_back]",
    ),
    SeenByTest(
        "takes a column for another one of its name",
        "sluice/protocol/refresh/due_span.py",
        "        if alters and has_replaced_columns(data.uri, after, data.version):\n",
        "        if False:\n",
        "tests/protocol/refresh/test_refresh.py::"
        "test_a_column_in_the_place_of_one_of_its_name_is_read_anew",
    ),
    SeenByTest(
        "reads rows by a deletion vector that is gone",
        "sluice/tables/log_changes.py",
        "    return path_in_table(vector) if vector else None\n",
        "    return None\n",
        "tests/protocol/refresh/test_refresh.py::"
        "test_rows_that_were_marked_in_a_file_that_is_gone_are_computed_whole",
    ),
    SeenByTest(
        "lets a late event change the state, on Spark",
        "sluice/lake/state/state_rows.py",
        '        is_newer = ~is_known | (F.col("newest") > F.col("now_order"))\n',
        '        is_newer = ~is_known | F.col("newest").isNotNull()\n',
        "tests/protocol/refresh/test_refresh.py::test_late_events_go_by_the_declared_order",
    ),
    SeenByTest(
        "takes keys of the state alone for those of a span of many rows, on Spark",
        "sluice/lake/state/newest_rows.py",
        'found.where("rows > 0")',
        "found",
        "tests/contracts/test_state.py::"
        "test_both_lakes_leave_the_same_state_of_many_rows[upserts_and_deletes]",
    ),
    SeenByTest(
        "forgets the keys of the rows that others removed, on Spark",
        "sluice/lake/state/state_rows.py",
        "newest.keys_in(gone).unionAll(newest.keys_in(come))",
        "newest.keys_in(come)",
        "tests/protocol/refresh/test_refresh.py::"
        "test_others_delete_update_and_restore_rows_of_the_log",
    ),
    SeenByTest(
        "guesses which of two partitions has the newer row, on Spark",
        "sluice/lake/state/state_rows.py",
        "        Places(self.tables, newest).require_order(judged)\n        if counts.changed",
        "        if counts.changed",
        "tests/protocol/refresh/test_refresh.py::"
        "test_a_key_in_two_partitions_stops_the_state_and_not_the_log",
    ),
    SeenByTest(
        "fills a placeholder from the span alone, on Spark",
        "sluice/lake/state/state_rows.py",
        'newest.filled("now_row")',
        "newest.filled()",
        "tests/protocol/refresh/test_refresh.py::test_a_placeholder_keeps_the_next_older_value",
    ),
    SeenByTest(
        "leaves keys out of a MERGE whose type was widened",
        "sluice/lake/state/key_filter.py",
        'f"CAST({table}{quoted(name)} AS {type_})"',
        'f"{table}{quoted(name)}"',
        "tests/protocol/refresh/test_key_filter.py::test_each_row_with_one_of_the_keys_passes",
    ),
    SeenByTest(
        "leaves keys out of a MERGE that are equal in another spelling",
        "sluice/lake/state/key_filter.py",
        'type_.startswith("decimal(")',
        'type_.startswith(("decimal(", "double", "string"))',
        "tests/protocol/refresh/test_key_filter.py::"
        "test_a_key_of_numbers_with_two_spellings_is_not_looked_at",
    ),
    SeenByTest(
        "keeps a key that a tombstone deletes, on Spark",
        "sluice/lake/state/order.py",
        'f"coalesce(_tombstone, false){told}"',
        'f"false{told}"',
        "tests/protocol/refresh/test_refresh.py::"
        "test_the_newest_row_of_each_key_is_there_and_deleted_keys_stay",
    ),
    SeenByTest(
        "takes a row without a key for one that may be left out, on Spark",
        "sluice/lake/state/state_rows.py",
        'if told["unkeyed"] and not',
        "if False and not",
        "tests/protocol/refresh/test_refresh.py::"
        "test_a_row_without_a_key_stops_the_state_unless_it_may_be_ignored",
    ),
    SeenByTest(
        "forgets truncations",
        "sluice/lake/state/truncations.py",
        "    if not attempt.rules.of_events:\n",
        "    if attempt.rules:\n",
        "tests/protocol/refresh/test_change_data.py::"
        "test_a_truncation_deletes_what_is_below_it_also_what_comes_late",
    ),
    SeenByTest(
        "counts no superseded rows, on Spark",
        "sluice/lake/state/state_rows.py",
        'F.col("rows") - 1',
        'F.col("rows") * 0',
        "tests/contracts/test_state.py::test_both_lakes_leave_the_same_state[upserts_and_deletes]",
    ),
    SeenByTest(
        "finds every state exact, on Spark",
        "sluice/lake/state/differing_keys.py",
        'where("wrong IS NOT NULL")',
        'where("false")',
        "tests/contracts/test_state.py::test_both_lakes_leave_the_same_state[keys_that_differ]",
    ),
    SeenByTest(
        "takes the placeholder of numbers for a value, on Spark",
        "sluice/state_table/placeholders.py",
        'Decimal() | Primitive("TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "FLOAT" | "DOUBLE")',
        "Decimal()",
        "tests/protocol/refresh/test_change_data.py::"
        "test_a_placeholder_of_each_type_keeps_the_older_value",
    ),
)
