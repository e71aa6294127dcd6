"""Spec editions: one digest as long as records are read alike."""

from __future__ import annotations

import pytest
from sluice.offsets.spec_edition import SpecEdition
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import spec_keys

JSON = {"type": "json", "schema": "carrier STRING"}


def edition(**changes: object) -> SpecEdition:
    return PipelineSpec.model_validate(spec_keys(**changes)).edition


@pytest.mark.parametrize(
    "change",
    [
        {"schedule": "0 * * * *"},
        {"owner": "others"},
        {"max_records_per_batch": 5},
        {"start": "latest"},
        {"alerts": {"max_lag": "PT1H"}},
        {"spark": {"spark.executor.memory": "8g"}},
    ],
)
def test_what_does_not_change_rows_is_the_same_edition(change: dict[str, object]) -> None:
    assert edition(**change).digest == edition().digest


@pytest.mark.parametrize(
    "change",
    [{"format": JSON}, {"quarantine": {"max_ratio": 0.5}}, {"topics": ["flights", "arrivals"]}],
)
def test_what_changes_rows_is_another_edition(change: dict[str, object]) -> None:
    assert edition(**change).digest != edition().digest


def test_keys_that_differ_are_named_one_level_deep() -> None:
    changed = edition(format=JSON, quarantine={"max_ratio": 0.5}, rescue=True)
    assert changed.differing(edition(quarantine={"max_ratio": 0.5})) == [
        "format.schema",
        "format.type",
        "rescue",
    ]
    assert changed.differing(changed) == []


def test_it_is_read_back_as_it_was_written() -> None:
    written = edition(format=JSON)
    assert written.keys["format"] == JSON
    assert SpecEdition.read(str(written)) == SpecEdition.read(written.as_dict()) == written


def nested(levels: int) -> str:
    return '{"spec": ' + '{"a": ' * levels + "1" + "}" * levels + "}"


@pytest.mark.parametrize(
    "stored",
    [
        nested(100_000),
        # It can be read here, and not where more calls are open.
        nested(900),
        r'{"spec": {"a": "\ud800"}}',
        r'{"spec": {"\udfff": 1}}',
        {"spec": {"a": ["\ud800"]}},
        '{"spec": {"a": NaN}}',
        '{"spec": {"a": 1e999}}',
        '{"spec": {"a": ' + "9" * 5_000 + "}}",
    ],
    ids=lambda stored: str(stored)[:20].encode("ascii", "replace").decode(),
)
def test_what_cannot_be_written_again_is_none(stored: object) -> None:
    assert SpecEdition.read(stored) is None


def test_a_spec_nests_far_less_deeply_than_what_is_refused() -> None:
    found = SpecEdition.read(nested(10))
    assert found is not None
    assert SpecEdition.read(str(found)) == found


@pytest.mark.parametrize("stored", [None, "", "{", "[]", {}, {"spec": 1}, 7])
def test_anything_else_is_none(stored: object) -> None:
    assert SpecEdition.read(stored) is None
