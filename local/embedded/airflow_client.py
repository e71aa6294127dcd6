"""Airflow's REST API, used as an operator uses the UI: trigger, watch, clear, read logs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import httpx

Found = TypeVar("Found")
FINISHED = frozenset({"success", "failed"})
BUSY_TRIES = 60


class AirflowApiError(RuntimeError):
    """Airflow refused a request, or something did not happen in time."""


@dataclass(frozen=True)
class DagRun:
    dag_id: str
    run_id: str
    state: str
    seconds: float | None = None

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Self:
        return cls(reply["dag_id"], reply["dag_run_id"], reply["state"], reply.get("duration"))

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    @property
    def path(self) -> str:
        return f"/dags/{self.dag_id}/dagRuns/{self.run_id}"


@dataclass(frozen=True)
class TaskInstance:
    task_id: str
    state: str | None
    try_number: int
    seconds: float | None

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Self:
        return cls(reply["task_id"], reply["state"], reply["try_number"], reply["duration"])


class AirflowClient:
    def __init__(self, url: str, username: str, password: str) -> None:
        self._login = {"username": username, "password": password}
        # Loopback only: ignore the machine's proxy settings.
        self._http = httpx.Client(base_url=url, timeout=120, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def request(self, method: str, path: str, **arguments: Any) -> Any:
        """One call of the public API; the path is relative to `/api/v2`."""
        reply = self._send(method, path, **arguments)
        if reply.status_code == httpx.codes.UNAUTHORIZED:
            self._sign_in()
            reply = self._send(method, path, **arguments)
        for _ in range(BUSY_TRIES):
            if not _is_busy(reply):
                break
            time.sleep(1)
            reply = self._send(method, path, **arguments)
        if reply.is_error:
            raise AirflowApiError(f"{method} {path}: {reply.status_code} {reply.text[:1000]}")
        return reply.json() if reply.content else None

    def health(self) -> dict[str, str]:
        """The status of each component; empty while Airflow does not answer."""
        try:
            reply = self._http.get("/api/v2/monitor/health", timeout=5)
            reply.raise_for_status()
        except httpx.HTTPError:
            return {}
        return {name: part["status"] or "unknown" for name, part in reply.json().items()}

    def import_errors(self) -> dict[str, str]:
        """What the dag-processor could not import: file → traceback."""
        found = self.request("GET", "/importErrors")["import_errors"]
        return {error["filename"]: error["stack_trace"] for error in found}

    def dag_ids(self, pattern: str = "%") -> set[str]:
        """Those of the first page of answers."""
        found = self.request("GET", "/dags", params={"dag_id_pattern": pattern})["dags"]
        return {dag["dag_id"] for dag in found}

    def wait_for_dag(self, dag_id: str, timeout: float = 60) -> None:
        """Wait until the dag-processor has found it."""
        found = self._until(lambda: dag_id in self.dag_ids(dag_id), timeout)
        if not found:
            raise AirflowApiError(
                f"no DAG {dag_id} after {timeout:.0f} s; there are {sorted(self.dag_ids())}; "
                f"import errors: {self.import_errors() or 'none'}"
            )

    def connect(self, conn_id: str, connection: str) -> None:
        """Define a connection, given in JSON form, or define it anew."""
        with suppress(AirflowApiError):
            self.request("DELETE", f"/connections/{conn_id}")
        body = {"connection_id": conn_id, **json.loads(connection)}
        self.request("POST", "/connections", json=body)

    def unpause(self, dag_id: str) -> None:
        self.request("PATCH", f"/dags/{dag_id}", json={"is_paused": False})

    def pause(self, dag_id: str) -> None:
        self.request("PATCH", f"/dags/{dag_id}", json={"is_paused": True})

    def trigger(
        self, dag_id: str, conf: Mapping[str, Any] | None = None, logical_date: str | None = None
    ) -> DagRun:
        """Start a manual run (of an unpaused DAG); `conf` holds its parameters."""
        body = {"logical_date": logical_date, "conf": dict(conf or {})}
        return DagRun.of(self.request("POST", f"/dags/{dag_id}/dagRuns", json=body))

    def backfill(self, dag_id: str, first: str, last: str, **more: Any) -> int:
        """Request runs of past intervals, as the UI's form does; `first` and `last` are starts.

        `more` are the form's other fields: max_active_runs, run_backwards, reprocess_behavior.
        """
        body = {"dag_id": dag_id, "from_date": first, "to_date": last, **more}
        number: int = self.request("POST", "/backfills", json=body)["id"]
        return number

    def change_backfill(self, number: int, action: str) -> None:
        """Pause, unpause or cancel it."""
        self.request("PUT", f"/backfills/{number}/{action}")

    def runs(self, dag_id: str) -> list[DagRun]:
        """All runs, the latest last."""
        query = {"order_by": "run_after", "limit": 1000}
        found = self.request("GET", f"/dags/{dag_id}/dagRuns", params=query)["dag_runs"]
        return [DagRun.of(reply) for reply in found]

    def run(self, run: DagRun) -> DagRun:
        """The run as it is now."""
        return DagRun.of(self.request("GET", run.path))

    def wait_for_run(
        self, run: DagRun, timeout: float, progress: Callable[[DagRun], None] | None = None
    ) -> DagRun:
        """Wait until it has succeeded or failed; `progress` is called at each poll."""

        def look() -> DagRun | None:
            seen = self.run(run)
            if progress is not None:
                progress(seen)
            return seen if seen.finished else None

        finished = self._until(look, timeout)
        if finished is None:
            raise AirflowApiError(
                f"{run.run_id} is not over after {timeout:.0f} s: {self.tasks(run)}"
            )
        return finished

    def tasks(self, run: DagRun) -> dict[str, TaskInstance]:
        """The task instances by task id (of a mapped task: the last one)."""
        found = self.request("GET", f"{run.path}/taskInstances")["task_instances"]
        return {reply["task_id"]: TaskInstance.of(reply) for reply in found}

    def wait_for_task(self, run: DagRun, task_id: str, state: str, timeout: float) -> TaskInstance:
        """Wait until the task instance is in that state."""

        def look() -> TaskInstance | None:
            seen = self.tasks(run)[task_id]
            return seen if seen.state == state else None

        found = self._until(look, timeout)
        if found is None:
            raise AirflowApiError(
                f"{task_id} is not {state} after {timeout:.0f} s: {self.tasks(run)[task_id]}"
            )
        return found

    def clear(self, run: DagRun, *task_ids: str, downstream: bool = True) -> None:
        """Run these tasks (none named: all) of the run again, as "Clear" in the UI does."""
        body: dict[str, Any] = {
            "dry_run": False,
            "dag_run_id": run.run_id,
            "only_failed": False,
            "include_downstream": downstream,
            "reset_dag_runs": True,
        }
        if task_ids:
            body["task_ids"] = list(task_ids)
        self.request("POST", f"/dags/{run.dag_id}/clearTaskInstances", json=body)

    def set_state(self, run: DagRun, task_id: str, state: str) -> None:
        """Do what "Mark as" in the UI does; a running task is stopped."""
        path = f"{run.path}/taskInstances/{task_id}"
        self.request("PATCH", path, json={"new_state": state})

    def log(self, run: DagRun, task_id: str, try_number: int | None = None) -> str:
        """The task's log, one line per event; of the latest try by default."""
        try_number = try_number or self.tasks(run)[task_id].try_number
        reply = self.request("GET", f"{run.path}/taskInstances/{task_id}/logs/{try_number}")
        return "\n".join(log_line(event) for event in reply["content"])

    def _send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        return self._http.request(method, f"/api/v2{path}", **arguments)

    def _sign_in(self) -> None:
        reply = self._http.post("/auth/token", json=self._login)
        if reply.is_error:
            raise AirflowApiError(f"sign-in: {reply.status_code} {reply.text[:1000]}")
        self._http.headers["Authorization"] = f"Bearer {reply.json()['access_token']}"

    @staticmethod
    def _until(look: Callable[[], Found], timeout: float) -> Found | None:
        deadline = time.monotonic() + timeout
        while not (found := look()):
            if time.monotonic() > deadline:
                return None
            time.sleep(0.5)
        return found


def log_line(event: Any) -> str:
    """A structured event as one line of text, with all its fields."""
    if not isinstance(event, Mapping):
        return str(event)
    known = ("timestamp", "level", "event")
    rest = " ".join(f"{key}={value}" for key, value in event.items() if key not in known)
    return f"{event.get('timestamp', '')} {event.get('level', '')} {event.get('event', '')} {rest}"


def _is_busy(reply: httpx.Response) -> bool:
    """Whether SQLite, which allows one writer at a time, let the request have no effect."""
    if reply.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
        return "Database error" in reply.text
    return bool(reply.status_code == httpx.codes.SERVICE_UNAVAILABLE)
