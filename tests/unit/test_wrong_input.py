"""Whatever people write, only the errors that are meant for them come out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from sluice.connections import connection_extra
from sluice.errors import SettingsError, SpecError
from sluice.offsets import notation
from sluice.offsets.batches import BatchReference
from sluice.operations.backfill.selection import parse_selection
from sluice.operations.reset.targets import named_target
from sluice.positions.names import SKIP, TARGETS
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import load_spec

from tests.unit.builders import spec_keys

PARSERS: dict[str, Callable[[str], object]] = {
    "range": notation.parse_range,
    "batch": lambda text: notation.parse_batch("flights", text),
    "positions": lambda text: notation.parse_positions([text]),
    "records": lambda text: notation.parse_positions([text], "@"),
    "file": notation.parse_positions_file,
    "scope": notation.parse_scope,
    "shift": notation.parse_shift,
    "moment": notation.parse_moment,
    "duration": notation.parse_duration,
    "reference": BatchReference.from_dict,
}
# Nearly right is where parsers go wrong: digits that are none of ours, huge ones, bounds swapped.
PIECES = st.sampled_from(
    [
        *(
            "flights",
            "[",
            "]",
            "[0]",
            " ",
            "[5, 8)",
            "[8, 5)",
            ")",
            "=",
            "@",
            ":",
            ",",
            "-",
            "..",
            "\n",
        ),
        *("forward-1-42", "P1D", "T", "PT1H", "2026-11-01", "T06:00:00Z", "9999-12-31", "+14:00"),
        *("0", "-1", "9" * 9, "9" * 18, "9" * 30, "9" * 5000, "٣", "²", "\x00", "é", '"', ""),
    ]
)
TEXTS = st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


ACCEPTED = "accepted"


def outcome(refusal: type[Exception], attempt: Callable[[], object]) -> str:
    """What a refusal says, or that it was accepted; any other exception fails the test."""
    try:
        attempt()
    except refusal as refused:
        return str(refused)
    return ACCEPTED


@pytest.mark.parametrize("name", PARSERS)
@given(text=TEXTS)
def test_a_parser_refuses_with_a_value_error(name: str, text: str) -> None:
    assert outcome(ValueError, lambda: PARSERS[name](text))


@given(
    VALUES
    | st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("pipeline", "lane", "generation", "batches"), VALUES)
    )
)
def test_what_is_no_reference_is_a_value_error(reference: Any) -> None:
    assert outcome(ValueError, lambda: BatchReference.from_dict(reference))


@given(
    st.none() | TEXTS, st.none() | TEXTS, st.lists(TEXTS, max_size=2), st.lists(TEXTS, max_size=2)
)
def test_a_selection_is_refused_as_a_setting(
    start: str | None, end: str | None, ranges: list[str], batches: list[str]
) -> None:
    assert outcome(SettingsError, lambda: parse_selection(start, end, ranges, batches))


@given(st.sampled_from(sorted(TARGETS.keys() - {SKIP})), TEXTS, st.lists(TEXTS, max_size=2))
def test_a_target_is_refused_with_a_value_error(name: str, value: str, topics: list[str]) -> None:
    assert outcome(
        ValueError,
        lambda: named_target(name, value, [notation.parse_scope(each) for each in topics]),
    )


@given(st.sampled_from(sorted(PipelineSpec.model_fields)), VALUES)
def test_a_spec_is_refused_with_its_file(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "flights.yaml"
    path.write_text(yaml.safe_dump({**spec_keys(), key: value}), encoding="utf-8")
    refused_with_its_file(path)


@given(st.text(max_size=60))
def test_a_file_that_is_no_spec_is_refused_with_its_name(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "flights.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    refused_with_its_file(path)


def refused_with_its_file(path: Path) -> None:
    told = outcome(SpecError, lambda: load_spec(path))
    assert told == ACCEPTED or told.startswith(f"{path}: ")


@given(st.text(max_size=60) | VALUES.map(str))
def test_a_connection_is_refused_as_a_setting_and_not_repeated(value: str) -> None:
    told = outcome(SettingsError, lambda: connection_extra("kafka", {"AIRFLOW_CONN_KAFKA": value}))
    assert told
    assert len(value) < 20 or value not in told
