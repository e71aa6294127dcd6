"""Access: who may look. Signed in, and at the pipelines whose DAG Airflow lets the user read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import get_user
from fastapi import Depends, HTTPException, status

User = Annotated[BaseUser, Depends(get_user)]


def readable(pipelines: Iterable[str], user: BaseUser) -> set[str]:
    """The pipelines whose DAG the user may read."""
    allowed: set[str] = get_auth_manager().filter_authorized_dag_ids(
        dag_ids=set(pipelines), user=user, method="GET"
    )
    return allowed


def require_readable(pipeline: str, user: User) -> str:
    """The pipeline's name. Refuses with 403 whoever may not read its DAG."""
    if not get_auth_manager().is_authorized_dag(
        method="GET", details=DagDetails(id=pipeline), user=user
    ):
        raise HTTPException(status.HTTP_403_FORBIDDEN, "Your role may not read this DAG.")
    return pipeline


Readable = Annotated[str, Depends(require_readable)]
