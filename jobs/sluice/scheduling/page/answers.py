"""Answers: the page as HTML. Every text is escaped; what it says was read before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sluice.offsets.lag import Lag, loss_told
from sluice.offsets.quantities import format_count, format_ranges, named
from sluice.operations.history import KnownBatch
from sluice.operations.overview.overview import totals
from sluice.operations.timeline import PipelineTimeline
from sluice.scheduling.page import words
from sluice.scheduling.page.batch_charts import batch_charts, gaps_by_kind
from sluice.scheduling.page.choices import TITLES, Choice, shared_reasons
from sluice.scheduling.page.lag_over_time import spark
from sluice.scheduling.page.lag_series import Points
from sluice.scheduling.page.links import Links
from sluice.scheduling.page.partition_bars import partition_bars
from sluice.scheduling.page.pictures import now_of, pictures
from sluice.scheduling.page.polled import Seen
from sluice.scheduling.page.rereading import held_of, reread_conf, reset_conf, window_conf
from sluice.scheduling.page.rows import Row
from sluice.scheduling.page.settling_dags import SettlingDag
from sluice.scheduling.page.waiting_records import WaitingRecords
from sluice.scheduling.page.watch import NEWEST, AllRows


def _waiting(lags: Sequence[Lag]) -> list[str]:
    """What open transactions hold back, in words."""
    return [each.waiting for each in lags if each.waiting]


_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    # An upgrade beside a running api-server changes files that its code does not fit.
    auto_reload=False,
)
_TEMPLATES.filters |= {
    "count": words.count,
    "duration": words.duration,
    "moment": words.moment,
    "short": words.short,
    "ranges": format_ranges,
    "of": format_count,
    "waiting": _waiting,
    "loss": loss_told,
    "named": lambda found: named(list(map(str, found))),
    "json": lambda value: json.dumps(value, indent=2),
}
# Compiled while the api-server starts, not while the first person waits.
for _name in _TEMPLATES.list_templates():
    _TEMPLATES.get_template(_name)


class Answers:
    """The page's answers, with links below the path that Airflow is served at."""

    def __init__(self, links: Links) -> None:
        self._links = links

    def overview(
        self,
        found: AllRows,
        rows: Sequence[Row],
        choice: Choice,
        shown: tuple[Sequence[Row], int],
        series: tuple[Mapping[str, Points], bool],
    ) -> Response:
        """All pipelines that the user may see: of `rows` those `shown`, and how many more.

        `series` is the lag over time that is known, and whether more of it is being read.
        """
        (listed, more), (points, due) = shown, series
        shared = shared_reasons(listed)
        return self._page(
            "overview",
            rows=listed,
            more=more,
            totals=totals(rows),
            all=len(rows),
            choice=choice,
            columns=TITLES,
            titles=dict(TITLES),
            shared=shared,
            said={each.reason for each in shared},
            sparks={
                row.name: spark((*points[row.name], *now_of(row)))
                for row in listed
                if row.name in points
            },
            problem=found.problem,
            refused=found.refused,
            again=not found.settled,
            later=found.settled and due,
        )

    def pipeline(
        self,
        row: Row,
        dag: SettlingDag,
        seen: Seen[PipelineTimeline],
        quarantine: Seen[WaitingRecords],
    ) -> Response:
        """One pipeline: partitions, batches, gaps, losses, resets; its runs are those of `dag`."""
        known = seen.value.history.batches if seen.value else ()
        lags = row.told.lags if row.told else ()
        unread = any(each.value is None and not each.problem for each in (seen, quarantine))
        return self._page(
            "pipeline",
            row=row,
            dag=dag,
            lags=lags,
            bars=partition_bars(lags),
            seen=seen,
            history=seen.value.history if seen.value else None,
            newest=NEWEST,
            pictures=pictures(row, seen.value, quarantine.value, datetime.now(UTC)),
            charts=batch_charts(known),
            gaps=gaps_by_kind(known),
            quarantine=quarantine,
            waiting=quarantine.value,
            window=window_conf(known, datetime.now(UTC)),
            again=row.waiting or unread,
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
            reset=reset_conf(found.batch) if found and found.committed else None,
            again=found is None and not seen.problem,
        )

    def handbook(self, name: str, text: str) -> Response:
        """A page of the handbook, which is HTML already."""
        return self._page("handbook", name=name, text=Markup(text), again=False)

    def problem(self, status: int, told: str, login: str = "") -> Response:
        """Why there is nothing to see; with the address of the login where that helps."""
        return self._page("problem", status, told=told, status=status, login=login, again=False)

    def _page(self, template: str, status_code: int = 200, **values: Any) -> Response:
        values = {"later": False, **values}
        text = _TEMPLATES.get_template(f"{template}.html").render(
            links=self._links, now=datetime.now(UTC), **values
        )
        return Response(text, status_code, media_type="text/html; charset=utf-8")
