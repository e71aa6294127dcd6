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

_ANSWER_SECONDS = 15.0
# Their pauses add up to less than 5 s. The client's own 15 attempts are meant to last for 10
# minutes (pyspark/sql/connect/client/retries.py, DefaultPolicy).
_RETRIES = 4


def open_on_server(pipeline: str, url: str, conf: Mapping[str, str]) -> SparkSession:
    """A session on the server, configured; within about 20 s. Raises SparkFailed, SettingsError."""
    address = require_server(pipeline, url)
    try:
        # Without options nothing is sent yet.
        session = SparkSession.builder.remote(url).getOrCreate()
        try:
            with _few_retries(session):
                SparkSession.builder.config(map=dict(conf)).getOrCreate()
        except BaseException:
            close_on_server(session)
            raise
    except Exception as problem:
        reason = str(problem).strip() or repr(problem)
        raise _not_started(pipeline, f"{address}: {reason.splitlines()[0]}") from problem
    return session


def require_server(pipeline: str, url: str, seconds: float = _ANSWER_SECONDS) -> str:
    """The address of the server, which answers. Raises SparkFailed, which names it, otherwise.

    The URL may hold a token: no error repeats it. Raises SettingsError when it is none.
    """
    try:
        target = DefaultChannelBuilder(url)
    except ValueError:
        raise SettingsError("SPARK_REMOTE: expected sc://host:port, found another form") from None
    # Ready means more than connected: HTTP/2 and TLS have shaken hands as well (gRPC,
    # doc/connectivity-semantics-and-api.md). A port that accepts and is silent is not ready.
    with target.toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=seconds)
        except grpc.FutureTimeoutError:
            raise _not_started(
                pipeline, f"{target.endpoint} gave no answer within {seconds:g} s"
            ) from None
    return target.endpoint


def close_on_server(session: SparkSession) -> None:
    """Close the session. A server that has gone needs no telling, and is not waited for."""
    _client(session).set_retry_policies([])
    session.stop()


@contextmanager
def _few_retries(session: SparkSession) -> Iterator[None]:
    """For the start alone: a batch that runs outlasts a server's pause as Spark has it."""
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
