"""The one Airflow plugin: registers the priority strategy and the writer of run notes."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin
from sluice.scheduling import run_notes
from sluice.scheduling.priority import FreshFirst


class SluicePlugin(AirflowPlugin):
    """Registers the strategy for components that load serialized DAGs, the notes' listener."""

    name = "sluice"
    priority_weight_strategies = [FreshFirst]  # noqa: RUF012 - Airflow's own attribute
    listeners = [run_notes]  # noqa: RUF012 - the same
