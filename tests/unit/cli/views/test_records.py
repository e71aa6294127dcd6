"""Records: of which bytes a person is shown the beginning."""

from __future__ import annotations

import pytest
from sluice.cli.views.records import undecoded
from sluice.progress.quarantined_records import Record

from tests.unit.offsets.test_quarantined import row


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("id: expected BIGINT, found NaN", '{"id": 1}'),
        ("key: not 8 bytes, found 1", '{"id": 1} (key x)'),
        ("keys: expected ARRAY<INT>, found 1", '{"id": 1}'),
    ],
)
def test_where_an_error_is_of_the_key_it_is_shown_too(error: str, shown: str) -> None:
    assert undecoded(Record(row(1, error=error), None, b"x", (), b'{"id": 1}')) == shown


def test_a_key_that_is_null_is_told() -> None:
    broken = row(1, error="key: expected a value, found none")
    assert undecoded(Record(broken, None, None, (), None)) == "null (key null)"
