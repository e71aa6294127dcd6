"""Answers: the page as HTML. Every text is escaped; what it says was read before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sluice.offsets.lag import Lag, loss_told
from sluice.offsets.quantities import format_ranges
from sluice.operations.history import KnownBatch, PipelineHistory
from sluice.operations.overview.overview import totals, worst_first
from sluice.scheduling.page import words
from sluice.scheduling.page.batch_charts import batch_charts, gaps_by_kind
from sluice.scheduling.page.links import Links
from sluice.scheduling.page.polled import Seen
from sluice.scheduling.page.rereading import held_of, reread_conf, reset_conf
from sluice.scheduling.page.rows import Row
from sluice.scheduling.page.settling_dags import SettlingDag
from sluice.scheduling.page.watch import NEWEST, AllRows

# With more pipelines, only the worst; all of them are one click away.
_FIRST = 100


def _waiting(lags: Sequence[Lag]) -> list[str]:
    """What open transactions hold back, in words."""
    return [each.waiting for each in lags if each.waiting]


_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {
    "count": words.count,
    "duration": words.duration,
    "moment": words.moment,
    "share": words.share,
    "ranges": format_ranges,
    "waiting": _waiting,
    "loss": loss_told,
    "json": lambda value: json.dumps(value, indent=2),
}


class Answers:
    """The page's answers, with links below the path that Airflow is served at."""

    def __init__(self, links: Links) -> None:
        self._links = links

    def overview(self, found: AllRows, rows: Sequence[Row], state: str, every: bool) -> Response:
        """All pipelines that the user may see; those of one state, if it is named."""
        wanted = worst_first(row for row in rows if state in ("", row.condition.value))
        shown = wanted if every else wanted[:_FIRST]
        return self._page(
            "overview",
            rows=shown,
            more=len(wanted) - len(shown),
            totals=totals(rows),
            all=len(rows),
            chosen=state,
            problem=found.problem,
            refused=found.refused,
            again=not found.settled,
        )

    def pipeline(self, row: Row, dag: SettlingDag, seen: Seen[PipelineHistory]) -> Response:
        """One pipeline: partitions, batches, gaps, losses, resets; its runs are those of `dag`."""
        batches = seen.value.batches if seen.value else ()
        return self._page(
            "pipeline",
            row=row,
            dag=dag,
            lags=row.told.lags if row.told else (),
            seen=seen,
            newest=NEWEST,
            charts=batch_charts(batches),
            gaps=gaps_by_kind(batches),
            again=row.waiting or (seen.value is None and not seen.problem),
        )

    def outlook(self, row: Row, dag: SettlingDag, seen: Seen[list[str]]) -> Response:
        """What the next run would do."""
        again = seen.value is None and not seen.problem
        return self._page("outlook", row=row, dag=dag, seen=seen, again=again)

    def batch(
        self, row: Row, dag: SettlingDag, name: str, seen: Seen[KnownBatch | None]
    ) -> Response:
        """One batch: ranges, receipt, runs, and where reading it again would lead."""
        lags = {each.partition: each for each in row.told.lags} if row.told else {}
        found = seen.value
        return self._page(
            "batch",
            row=row,
            dag=dag,
            name=name,
            seen=seen,
            found=found,
            held=held_of(found.batch, lags) if found else None,
            reread=reread_conf(name),
            reset=reset_conf(found.batch) if found else None,
            again=found is None and not seen.problem,
        )

    def problem(self, status: int, told: str) -> Response:
        """Why there is nothing to see."""
        return self._page("problem", status, told=told, status=status, again=False)

    def _page(self, template: str, status_code: int = 200, **values: Any) -> Response:
        text = _TEMPLATES.get_template(f"{template}.html").render(
            links=self._links, now=datetime.now(UTC), **values
        )
        return Response(text, status_code, media_type="text/html; charset=utf-8")
