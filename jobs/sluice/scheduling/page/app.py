"""The app: the page's routes, behind one guard. It answers GET only, and changes nothing.

Every answer has the same strict headers; a stranger gets 401 wherever they ask, and nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as AnyHTTPException

from sluice.offsets.notation import parse_batch
from sluice.operations.overview.overview import Condition
from sluice.scheduling.page.access import readable, require_readable, signed_in
from sluice.scheduling.page.answers import Answers
from sluice.scheduling.page.choices import COLUMNS, Choice
from sluice.scheduling.page.clusters import deployed_clusters
from sluice.scheduling.page.handbook import find_handbook
from sluice.scheduling.page.links import Links
from sluice.scheduling.page.rows import Row, with_pause
from sluice.scheduling.page.settling_dags import SettlingDag, pipelines_named, settling_dags
from sluice.scheduling.page.watch import Watch

log = logging.getLogger(__name__)

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self';"
    " img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_STATIC: Mapping[str, str] = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "theme.js": "text/javascript",
}
_FOLDER = Path(__file__).with_name("static")
_HANDBOOK = find_handbook()

Next = Callable[[Request], Awaitable[Response]]


def page_app(watch: Watch) -> FastAPI:
    """The page of what this watch knows."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.watch = watch
    app.middleware("http")(_guard)
    app.exception_handler(AnyHTTPException)(_refused)
    app.get("/")(_overview)
    app.get("/static/{name}")(_static)
    app.get("/handbook/{name}")(_handbook)
    app.get("/pipelines/{name}")(_pipeline)
    app.get("/pipelines/{name}/outlook")(_outlook)
    app.get("/pipelines/{name}/batches/{batch}")(_batch)
    return app


async def _guard(request: Request, go_on: Next) -> Response:
    """Strangers first; then other methods than GET; then the route, whatever becomes of it."""
    user = await signed_in(request)
    if user is None:
        asked = f"{request.url.path}?{request.url.query}".removesuffix("?")
        login = _links(request).login(asked)
        answer = _answers(request).problem(401, "Sign in to Airflow first.", login)
        answer.headers["WWW-Authenticate"] = "Bearer"
    elif request.method != "GET":
        answer = _answers(request).problem(405, "This page only shows: it answers GET.")
        answer.headers["Allow"] = "GET"
    else:
        request.state.reader = user
        answer = await _answered(request, go_on)
    answer.headers.update(_HEADERS)
    return answer


async def _answered(request: Request, go_on: Next) -> Response:
    try:
        return await go_on(request)
    except Exception:
        log.exception("%s", request.url.path)
        told = "The page failed; the log of the api-server says why."
        return _answers(request).problem(500, told)


async def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, AnyHTTPException)
    return _answers(request).problem(problem.status_code, str(problem.detail))


def _answers(request: Request) -> Answers:
    return Answers(_links(request))


def _links(request: Request) -> Links:
    # Airflow mounts the app: its root path is Airflow's own, and the prefix of the page.
    return Links(request.scope.get("root_path", "").removesuffix("/sluice"))


def _row(request: Request, name: str) -> Row:
    """The row of a pipeline, or of the one in the DAG of that name, with a DAG of its runs.

    Answers 403 to users who may not see it, and 404 if it does not exist.
    """
    found = request.app.state.watch.rows()
    dags = settling_dags(row.spec for row in found.by_name.values())
    own = dags.get(name, (SettlingDag(name),))
    require_readable((each.dag_id for each in own), request.state.reader)
    named = pipelines_named(name, dags)
    if len(named) == 1:
        ((pipeline, request.state.dag),) = named.items()
        return _in_airflow(found.by_name[pipeline], dags[pipeline])
    if named:
        raise HTTPException(404, f"{name} has several pipelines: {', '.join(sorted(named))}.")
    if not found.known:
        raise HTTPException(503, "The specs are being read. Load the page again.")
    told = found.problem or "No spec of this deployment names it; SLUICE_PIPELINES has the specs."
    raise HTTPException(404, f"{name} is not a pipeline. {told}")


Shown = Annotated[Row, Depends(_row)]


def _in_airflow(row: Row, dags: Sequence[SettlingDag]) -> Row:
    return with_pause(row, dags[0].dag_id) if all(each.is_paused for each in dags) else row


def _overview(
    request: Request, state: str = "", every: bool = False, name: str = "", sort: str = ""
) -> Response:
    watch: Watch = request.app.state.watch
    found, choice = watch.rows(), Choice(state, name, sort, every)
    if not choice.is_known:
        states, columns = ", ".join(Condition), ", ".join(COLUMNS)
        told = f"found state {state!r} and sort {sort!r}"
        raise HTTPException(
            404, f"Expected a state of {states}, and a column of {columns}, or -lag; {told}."
        )
    mine = readable(request.state.reader)
    dags = settling_dags(row.spec for row in found.by_name.values())
    rows = [
        _in_airflow(row, dags[name])
        for name, row in found.by_name.items()
        if any(each.dag_id in mine for each in dags[name])
    ]
    if found.by_name and not rows:
        raise HTTPException(403, "Your role in Airflow may read no pipeline's DAG.")
    shown = choice.of(rows)
    # The first readings go first.
    series = watch.lag_series(shown[0] if found.settled else ())
    return _answers(request).overview(found, rows, choice, shown, series)


def _pipeline(request: Request, row: Shown) -> Response:
    watch: Watch = request.app.state.watch
    seen, quarantine = watch.timeline(row.name), watch.quarantine(row.name)
    return _answers(request).pipeline(row, request.state.dag, seen, quarantine)


def _outlook(request: Request, row: Shown) -> Response:
    seen = request.app.state.watch.outlook(row.name)
    return _answers(request).outlook(row, request.state.dag, seen)


def _batch(request: Request, row: Shown, batch: str) -> Response:
    try:
        sequence, number = parse_batch(row.name, batch)
    except ValueError as problem:
        raise HTTPException(404, str(problem)) from None
    seen = request.app.state.watch.batch(row.name, sequence, number)
    if seen.at is not None and seen.value is None:
        raise HTTPException(404, f"{row.name}: no plan and no receipt names {batch}.")
    return _answers(request).batch(row, request.state.dag, sequence.batch(number), seen)


def _handbook(request: Request, name: str) -> Response:
    found = _HANDBOOK.page(name)
    if found is None:
        raise HTTPException(404, "The handbook has no such page, or is not in this installation.")
    return _answers(request).handbook(name, found)


async def _static(name: str) -> Response:
    if name not in _STATIC:
        raise HTTPException(404, "No such file.")
    found = await run_in_threadpool((_FOLDER / name).read_bytes)
    return Response(found, media_type=_STATIC[name])


app = page_app(Watch(deployed_clusters()))
