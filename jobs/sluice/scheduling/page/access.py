"""Access: who may look. Signed in, and at the pipelines of DAGs that Airflow lets the user read."""

from __future__ import annotations

from collections.abc import Iterable

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import bearer_scheme, get_user
from airflow.models.dag import DagModel
from fastapi import HTTPException, Request, status


async def signed_in(request: Request) -> BaseUser | None:
    """The user of the request's token, as Airflow's own pages find it; None for a stranger.

    A token that Airflow did not sign is a stranger's.
    """
    try:
        return await get_user(request, None, await bearer_scheme(request))
    except HTTPException:
        return None


def readable(user: BaseUser) -> set[str]:
    """The DAGs that the user may read."""
    return set(get_auth_manager().get_authorized_dag_ids(user=user, method="GET"))


def require_readable(dag_ids: Iterable[str], user: BaseUser) -> None:
    """Raises HTTPException (403) for a user who may read none of a pipeline's DAGs."""
    details = [DagDetails(id=each, team_name=DagModel.get_team_name(each)) for each in dag_ids]
    manager = get_auth_manager()
    allowed = (manager.is_authorized_dag(method="GET", details=each, user=user) for each in details)
    if not any(allowed):
        raise HTTPException(
            status.HTTP_403_FORBIDDEN,
            "Your role in Airflow may not read this DAG. Ask an administrator for the right to.",
        )
