"""The one Airflow plugin: registers the priority strategy."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin
from sluice.scheduling.priority import FreshFirst


class SluicePlugin(AirflowPlugin):
    """Registers the strategy for components that load serialized DAGs."""

    name = "sluice"
    priority_weight_strategies = [FreshFirst]  # noqa: RUF012 - Airflow's own attribute
