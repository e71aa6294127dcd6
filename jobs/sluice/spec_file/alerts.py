"""Alerts: the limits of a spec beyond which a person must be called."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field

from sluice.offsets.notation import parse_duration
from sluice.strict_model import Model


def _duration(written: object) -> object:
    if not isinstance(written, str):
        raise ValueError("expected an ISO 8601 duration such as PT30M or P1D")
    found = parse_duration(written)
    if not found:
        raise ValueError("expected a duration above zero, such as PT30M")
    return found


Duration = Annotated[timedelta, BeforeValidator(_duration, json_schema_input_type=str)]


class Alerts(Model):
    """Limits of one pipeline; None: no limit.

    `max_lag` is the age of the oldest unread record, `min_time_to_loss` what must be left until
    Kafka deletes it, `max_silence` the time since the last receipt, `max_quarantine` the share of a
    batch's records, `max_waiting` how many records may wait in quarantine.
    """

    max_lag: Duration | None = None
    min_time_to_loss: Duration | None = None
    max_silence: Duration | None = None
    max_quarantine: float | None = Field(default=None, ge=0, le=1)
    max_waiting: int | None = Field(default=None, ge=0)

    @property
    def limits(self) -> Mapping[str, object]:
        """The limits that are set, by key."""
        return self.model_dump(exclude_none=True)
