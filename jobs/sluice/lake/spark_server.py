"""The Spark server: a session on the Spark Connect server that SPARK_REMOTE names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

import grpc
from pyspark.sql import SparkSession
from pyspark.sql.connect.client import DefaultChannelBuilder, SparkConnectClient
from pyspark.sql.connect.client.retries import DefaultPolicy
from pyspark.sql.connect.session import SparkSession as ServerSession

from sluice.errors import SettingsError, SparkFailed
from sluice.lake.log_store import warn_of_overwriting

_ANSWER_SECONDS = 15.0
# Their pauses add up to less than 5 s. The client's default of 15 attempts lasts about 10 minutes
# (pyspark/sql/connect/client/retries.py, DefaultPolicy).
_RETRIES = 4


def open_on_server(pipeline: str, url: str, conf: Mapping[str, str]) -> SparkSession:
    """A configured session on the server, within about 20 s. Raises SparkFailed, SettingsError."""
    address = require_server(pipeline, url)
    try:
        # Without options, this sends nothing yet.
        session = SparkSession.builder.remote(url).getOrCreate()
        try:
            with _few_retries(session):
                # Before the spec's settings arrive: the server takes no log store from them.
                warn_of_overwriting(session, f"{pipeline}: {address}")
                SparkSession.builder.config(map=dict(conf)).getOrCreate()
        except BaseException:
            close_on_server(session)
            raise
    except Exception as problem:
        reason = str(problem).strip() or repr(problem)
        raise _not_started(pipeline, f"{address}: {reason.splitlines()[0]}") from problem
    return session


def require_server(pipeline: str, url: str, seconds: float = _ANSWER_SECONDS) -> str:
    """The address of the server, once it answers; otherwise raises SparkFailed, which names it.

    The URL may hold a token: no error repeats it. Raises SettingsError when it is not a URL.
    """
    try:
        target = DefaultChannelBuilder(url)
    except ValueError:
        raise SettingsError("SPARK_REMOTE: expected sc://host:port, found another form") from None
    # Ready means more than connected: the HTTP/2 and TLS handshakes are complete (gRPC,
    # doc/connectivity-semantics-and-api.md). A port that accepts but stays silent is not ready.
    with target.toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=seconds)
        except grpc.FutureTimeoutError:
            raise _not_started(
                pipeline, f"{target.endpoint} gave no answer within {seconds:g} s"
            ) from None
    return target.endpoint


def close_on_server(session: SparkSession) -> None:
    """Close the session, without waiting for a server that is gone."""
    _client(session).set_retry_policies([])
    session.stop()


@contextmanager
def _few_retries(session: SparkSession) -> Iterator[None]:
    """Few retries for the start only: a running batch keeps Spark's default patience."""
    client = _client(session)
    usual = client.get_retry_policies()
    client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    yield
    client.set_retry_policies(usual)


def _client(session: SparkSession) -> SparkConnectClient:
    return cast(ServerSession, session).client


def _not_started(pipeline: str, why: str) -> SparkFailed:
    return SparkFailed(
        f"{pipeline}: Spark did not start: {why}. Start the Spark Connect server, or correct"
        " SPARK_REMOTE; then run again"
    )
