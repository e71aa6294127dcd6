"""Priority: of a pipeline's waiting ingest tasks, those of fresh data go first.

Otherwise Airflow takes the one with the oldest date, which is always a backfill's: if several
backfill runs gave way to fresh data, each of them would only give way to another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.task.priority_strategy import PriorityWeightStrategy

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance


BACKFILL_RUN = "backfill__"


class FreshFirst(PriorityWeightStrategy):
    """Two for the first try in a run that is not a backfill, otherwise one.

    A backfill may also clear a run of another kind and take it over: that is not a first try.
    """

    def get_weight(self, ti: TaskInstance) -> int:
        """The weight of a task instance, when it is created and whenever it is cleared."""
        return 1 if ti.try_number or str(ti.run_id).startswith(BACKFILL_RUN) else 2
