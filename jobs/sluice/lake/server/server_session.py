"""A session on a Spark Connect server: one pipeline's own, which stays warm from run to run.

The server compiles what it runs once for each session (34 pieces for a first batch, measured), so
a pipeline comes back to the session that it had. Its name is made of all that it depends on: table,
settings and Spark's version. Two attempts in one session therefore want the same settings; each
marks its statements with a tag of its own, and ends only these.
"""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from typing import cast

import grpc
import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.connect.client.retries import DefaultPolicy
from pyspark.sql.connect.session import SparkSession as ServerSession

from sluice.errors import SettingsError, SluiceError, SparkFailed
from sluice.lake.log_store import check_log_store
from sluice.lake.reported_causes import causes_of
from sluice.lake.requirements import (
    SOURCES,
    missing_source,
    require_delta,
    require_session_settings,
    require_static,
    require_version,
)
from sluice.lake.server.channel import ServerChannel
from sluice.lake.server.kept_causes import keep_causes
from sluice.lake.server.statements import Statements
from sluice.lake.session_settings import hold_to
from sluice.lake.spark_place import SparkServer

_ANSWER_SECONDS = 15.0
# A start's pauses add up to less than 5 s, a batch's to about 25 s: enough for a network, and a
# server that was restarted has forgotten the batch. Towards a frozen one each attempt also lasts
# 20 s, gRPC's own limit. The client's default is about ten minutes (pyspark's DefaultPolicy).
_AT_START = DefaultPolicy(max_retries=4)
_AT_WORK = DefaultPolicy(max_retries=6, max_backoff=10_000)
_CLOSED = "INVALID_HANDLE.SESSION_CLOSED"
# Set in a session once its server was found to have what is needed.
_CHECKED = "spark.sluice.checked"
_NAMES = uuid.UUID("8f0a5c3e-7f0e-4c7b-9a53-1d2c50a7f6d1")
# With one of these a path is a pattern to Spark (SparkHadoopUtil.isGlobPath).
_OF_PATTERNS = re.compile(r"[{}\[\]*?\\]")


class LastingSession(ServerSession):
    """A session that stays on the server when this process leaves it."""

    def __init__(self, server: SparkServer, name: str, conf: Mapping[str, str]) -> None:
        super().__init__(ServerChannel(server, name))
        self.server, self.settings = server, conf
        self.release_session_on_close = False
        keep_causes(self.client)


@contextmanager
def server_session(
    server: SparkServer, owner: str, conf: Mapping[str, str], seen: str
) -> Iterator[SparkSession]:
    """The owner's session, configured; whatever still runs of this block ends with it.

    `owner` tells whose session it is: a pipeline and its table; `seen` is a file or folder that the
    server must see, as this process does. Raises SparkFailed, SettingsError, or SpecError for a
    setting that a session cannot have.
    """
    session = _opened(server, owner, conf, seen)
    with _at_work(session) as working:
        yield working


@contextmanager
def session_apart(session: LastingSession) -> Iterator[SparkSession]:
    """A further session with the same settings on the same server; it ends with the block.

    For statements whose settings no other attempt may meet.
    """
    apart = LastingSession(session.server, str(uuid.uuid4()), session.settings)
    apart.release_session_on_close = True
    hold_to(apart.conf, session.settings, session.server.address)
    with _at_work(apart) as working:
        yield working


@contextmanager
def _at_work(session: ServerSession) -> Iterator[SparkSession]:
    """The session in this thread; its statements end with the block, or with the process."""
    session.client.set_retry_policies([_AT_WORK])
    with _active(session), Statements(session).ending_with_the_process() as statements:
        try:
            yield cast(SparkSession, session)
        except BaseException:
            statements.interrupt()
            raise
        statements.close()


@contextmanager
def _active(session: ServerSession) -> Iterator[None]:
    """Make it this thread's: a checkpoint is given to that one (proto_to_remote_cached_dataframe
    in pyspark/sql/connect/client/core.py).
    """
    before = getattr(ServerSession._active_session, "session", None)
    ServerSession._active_session.session = session
    try:
        yield
    finally:
        ServerSession._active_session.session = before


def _opened(server: SparkServer, owner: str, conf: Mapping[str, str], seen: str) -> ServerSession:
    """The owner's first session that is not closed: one that stood idle is, for good."""
    require_session_settings(server.address, conf)
    require_answer(server)
    for number in itertools.count():
        session = LastingSession(server, session_id(owner, conf, number), conf)
        session.client.set_retry_policies([_AT_START])
        try:
            _configure(session, server.address, conf, seen)
            return session
        except Exception as problem:
            session.stop()
            if not any(each.condition == _CLOSED for each in causes_of(problem)):
                raise _meaning(server, problem) from None
    raise AssertionError("unreachable")


def session_id(owner: str, conf: Mapping[str, str], number: int) -> str:
    """The session's name on the server, the same in every process.

    The day is part of it, so that closed ones need not be counted for ever.
    """
    wanted = [owner, dict(conf), pyspark.__version__, f"{datetime.now(UTC):%Y-%m-%d}", number]
    return str(uuid.uuid5(_NAMES, json.dumps(wanted, sort_keys=True)))


def require_answer(server: SparkServer, seconds: float = _ANSWER_SECONDS) -> None:
    """Raises SparkFailed if the server does not answer in time; names it."""
    # Ready means more than connected: the HTTP/2 and TLS handshakes are complete (gRPC,
    # doc/connectivity-semantics-and-api.md). A port that accepts but stays silent is not ready.
    with ServerChannel(server, str(uuid.uuid4())).toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=seconds)
        except grpc.FutureTimeoutError:
            raise SparkFailed(
                f"{server.address} gave no answer within {seconds:g} s{_over_tls(server)}. Start"
                " the Spark Connect server, or correct the connection spark_default; then run again"
            ) from None


def _over_tls(server: SparkServer) -> str:
    """Spark's server has no TLS of its own (4.2): without a proxy it is silent."""
    without = '{"use_ssl": false} in the extra of spark_default asks without'
    return f", asked with TLS, for which it needs a proxy ({without})" if server.tls else ""


def _configure(session: ServerSession, address: str, conf: Mapping[str, str], seen: str) -> None:
    """Bring the session to these settings, on a server that has what is needed."""
    found = session.conf.getAll
    if found.get(_CHECKED) != pyspark.__version__:
        require_version(address, pyspark.__version__, session.version)
        require_static(address, found)
        for source in SOURCES:
            _require_source(session, address, source)
        require_delta(address, version("delta-spark"), _delta_of(session))
    # Asked each time: mounts and endpoints may change under a session.
    _require_same_disk(session, address, seen)
    # The server takes no log store from a spec's settings.
    check_log_store(found.get, address, seen)
    hold_to(session.conf, conf, address)
    session.conf.set(_CHECKED, pyspark.__version__)


def _require_source(session: ServerSession, address: str, source: str) -> None:
    """Raises SettingsError if the server does not know the source; asks for no data."""
    try:
        session.read.format(source).load("/dev/null/nothing").schema  # noqa: B018
    except Exception as problem:
        # Kafka's absence has a text of its own (QueryCompilationErrors.scala).
        if "DATA_SOURCE_NOT_FOUND" in str(problem) or "Failed to find data source" in str(problem):
            raise missing_source(address, source) from None


def _delta_of(session: ServerSession) -> str:
    """The version that Delta's own code on the server names."""
    ((found,),) = session.sql("SELECT reflect('io.delta.package', 'VERSION')").collect()
    return str(found)


def _require_same_disk(session: ServerSession, address: str, seen: str) -> None:
    """Raises SettingsError if the server does not see a file or folder that this process sees."""
    path = _OF_PATTERNS.sub(r"\\\g<0>", seen)
    try:
        session.read.format("binaryFile").load(path).schema  # noqa: B018
    except Exception as problem:
        if "PATH_NOT_FOUND" in str(problem) or "Permission denied" in str(problem):
            raise SettingsError(
                f"{address}: expected a server that sees {seen}, as this process does, found one"
                " that does not, and would write to another table. Run it on this host, with the"
                " same disks, as the same user; for a bucket, start it with the same endpoint and"
                " keys."
            ) from None
        raise


def _meaning(server: SparkServer, problem: Exception) -> SluiceError:
    """What a failed start means to the reader; a token is never repeated."""
    if isinstance(problem, SluiceError):
        return problem
    said = (str(problem).strip() or repr(problem)).splitlines()[0]
    status = getattr(problem, "code", lambda: None)()
    if status == grpc.StatusCode.UNAUTHENTICATED or "UNAUTHENTICATED" in str(problem):
        token = "another token" if server.token else "no token"
        return SettingsError(
            f"{server.address}: expected the token with which the server was started (its"
            f" environment's SPARK_CONNECT_AUTHENTICATE_TOKEN), found {token}. Correct the password"
            " of the connection spark_default."
        )
    return SparkFailed(f"{server.address}: Spark gave no session: {said}. Its log has the cause")
