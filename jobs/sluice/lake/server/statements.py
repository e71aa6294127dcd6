"""Statements: what one attempt runs on a Spark server, and how it is ended there."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.connect.session import SparkSession as ServerSession

log = logging.getLogger(__name__)

# Airflow kills a task five seconds after it asked it to end.
_PATIENCE_SECONDS = 3.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Statements:
    """All statements of one attempt, known on the server by a tag."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._left = False
        self._tag = f"sluice-{uuid.uuid4().hex}"
        session.addTag(self._tag)
        _number_plans_apart()

    def interrupt(self) -> None:
        """End what still runs on the server, then leave; a commit may have landed all the same.

        From here on every statement is refused. A server that does not answer is not waited for.
        """
        if self._left:
            return
        self._left = True
        asking = threading.Thread(target=self._interrupt, name="interrupt", daemon=True)
        asking.start()
        asking.join(_PATIENCE_SECONDS)

    def _interrupt(self) -> None:
        self._session.client.set_retry_policies([])
        try:
            ended = self._session.interruptTag(self._tag)
        except Exception as problem:
            log.info("the Spark server was not told to stop: %s", problem)
        else:
            if ended:
                log.info("stopped what ran on the Spark server")
        self._session.stop()

    def close(self) -> None:
        """Leave the server; the session stays there, for the next run."""
        self._session.client.set_retry_policies([])
        self._session.stop()

    @contextmanager
    def ending_with_the_process(self) -> Iterator[Statements]:
        """Interrupt first when a signal ends this process; then it ends as it would have.

        In its main thread only, where Python hears signals.
        """
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = {each: signal.getsignal(each) for each in _SIGNALS}
        heard = [each for each in _SIGNALS if before[each] is not signal.SIG_IGN]

        def end(number: int, frame: FrameType | None) -> None:
            self.interrupt()
            usual = before[signal.Signals(number)]
            if callable(usual):
                usual(number, frame)
                return
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        for each in heard:
            signal.signal(each, end)
        try:
            yield self
        finally:
            for each in heard:
                with contextlib.suppress(TypeError):
                    signal.signal(each, before[each])


def _number_plans_apart() -> None:
    """Have this attempt's plans bear numbers that no other attempt's do.

    A session on the server knows its cached plans, what is persisted of them and what is observed
    by numbers that every client counts from 0: two attempts would be given each other's.
    """
    with LogicalPlan._lock:
        LogicalPlan._nextPlanId = uuid.uuid4().int % 2**62
