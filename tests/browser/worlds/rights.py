"""Rights per DAG, as larger auth managers grant them: a viewer reads the DAGs named after it."""

from __future__ import annotations

from typing import Any

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager


class RightsByName(SimpleAuthManager):
    """Airflow's own manager; but the user `orders` may read the DAG `orders`, and no other."""

    def is_authorized_dag(self, *, user: Any, details: Any = None, **asked: Any) -> bool:
        """Whether the user may do it, with this DAG or, if none is named, with any."""
        if user.role != "admin" and details is not None and details.id not in (None, user.username):
            return False
        return super().is_authorized_dag(user=user, details=details, **asked)
