"""Links: the addresses of the page's own parts, and of Airflow's."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from sluice.offsets.origin import Origin

PREFIX = "/sluice"
_BY_AIRFLOW = "airflow:"


@dataclass(frozen=True)
class Links:
    """Addresses below `root`, the path that Airflow is served at (empty for the host's root)."""

    root: str

    @property
    def overview(self) -> str:
        """All pipelines."""
        return f"{self.root}{PREFIX}/"

    def static(self, name: str) -> str:
        """A file of the page."""
        return f"{self.root}{PREFIX}/static/{name}"

    def pipeline(self, name: str) -> str:
        """One pipeline."""
        return f"{self.root}{PREFIX}/pipelines/{_part(name)}"

    def outlook(self, name: str) -> str:
        """What the next run of a pipeline would do."""
        return f"{self.pipeline(name)}/outlook"

    def batch(self, pipeline: str, batch: object) -> str:
        """One batch."""
        return f"{self.pipeline(pipeline)}/batches/{_part(str(batch))}"

    def home(self) -> str:
        """Airflow's own start page."""
        return f"{self.root}/"

    def handbook(self, name: str, anchor: str = "") -> str:
        """A page of the handbook, at one of its headings if that is named."""
        return f"{self.root}{PREFIX}/handbook/{_part(name)}{f'#{anchor}' if anchor else ''}"

    def login(self, wanted: str) -> str:
        """Airflow's login, which leads on to what was wanted."""
        return f"{self.root}/api/v2/auth/login?next={_part(wanted)}"

    def dag(self, dag_id: str) -> str:
        """A DAG in Airflow; its button Trigger opens the form."""
        return f"{self.root}/dags/{_part(dag_id)}"

    def run(self, dag_id: str, origin: Origin | None) -> str:
        """The DAG run behind a row; empty where a person at a terminal wrote it."""
        if origin is None or not origin.actor.startswith(_BY_AIRFLOW):
            return ""
        return f"{self.dag(dag_id)}/runs/{_part(origin.run_id)}"

    def task(self, dag_id: str, origin: Origin | None, task: str) -> str:
        """A task's log in that DAG run."""
        run = self.run(dag_id, origin)
        return f"{run}/tasks/{_part(task)}" if run else ""


def _part(text: str) -> str:
    return quote(text, safe="")
