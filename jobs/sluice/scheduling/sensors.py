"""Sensors: tasks that wait until a table is complete."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseSensorOperator
from airflow.sdk.bases.sensor import PokeReturnValue

from sluice.errors import SettingsError, SluiceError
from sluice.scheduling.deployment import pipeline_of
from sluice.scheduling.tasks import failing_for_good
from sluice.spec_file.pipeline_spec import PipelineSpec

if TYPE_CHECKING:
    from airflow.sdk import Context


class CompleteSensor(BaseSensorOperator):
    """Waits until a pipeline's table is complete until a moment; its XCom is how far it is then.

    `until` is a moment, or a template of one in ISO 8601; without it, the end of the run's data
    interval counts, or where the run has none, the moment that it was due. What refuses the
    pipeline's next run keeps the sensor waiting, with the reason in its log: once it is gone, the
    pipeline catches up.
    """

    template_fields: Sequence[str] = ("until",)

    def __init__(
        self, *, spec: PipelineSpec, until: datetime | str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**{"mode": "reschedule", "poke_interval": 60, **kwargs})
        self.spec = spec
        self.until = until

    def poke(self, context: Context) -> PokeReturnValue:
        """Ask once."""
        from sluice.operations.until_complete import known_until

        name = self.spec.pipeline
        with failing_for_good():
            wanted = self._wanted(context)
        try:
            found = known_until(pipeline_of(self.spec).resources, wanted)
        except SluiceError as problem:
            self.log.warning("%s: not complete until %s: %s", name, wanted.isoformat(), problem)
            return PokeReturnValue(is_done=False)
        told = "an unknown moment" if found is None else found.isoformat()
        self.log.info("%s: complete until %s, wanted %s", name, told, wanted.isoformat())
        done = found is not None and found >= wanted
        return PokeReturnValue(is_done=done, xcom_value=told if done else None)

    def _wanted(self, context: Context) -> datetime:
        """Raises SettingsError unless `until` is a moment."""
        run, until = context["dag_run"], self.until
        if until is None:
            due: datetime = run.data_interval_end or run.run_after
            return due
        try:
            found = until if isinstance(until, datetime) else datetime.fromisoformat(until)
        except ValueError:
            raise SettingsError(
                f"{self.task_id}: until: expected a moment such as 2026-11-01T06:00:00Z, found"
                f" {until!r}"
            ) from None
        return found if found.tzinfo else found.replace(tzinfo=UTC)
