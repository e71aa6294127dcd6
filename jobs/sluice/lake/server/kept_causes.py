"""Kept causes: what a Spark server answers about an error, kept in the exception.

pyspark's client asks for all of it, and makes one text of it. In that one nothing tells Spark's
words from a record's, and a condition is missing where its parameters are long.
"""

from __future__ import annotations

import threading
from typing import Any, NoReturn

from pyspark.sql.connect.client import SparkConnectClient
from pyspark.sql.connect.proto import FetchErrorDetailsResponse

from sluice.lake.causes import Cause
from sluice.lake.reported_causes import CAUSES


def keep_causes(client: SparkConnectClient) -> None:
    """Have the client's exceptions carry the errors behind them."""
    fetch, handle = client._fetch_enriched_error, client._handle_error
    met = threading.local()

    def fetched(info: Any) -> FetchErrorDetailsResponse | None:
        answer: FetchErrorDetailsResponse | None = fetch(info)
        met.answer = answer
        return answer

    def handled(error: Exception) -> NoReturn:
        met.answer = None
        try:
            handle(error)
        except Exception as problem:
            if met.answer is not None:
                setattr(problem, CAUSES, tuple(map(_cause, met.answer.errors)))
            raise

    client._fetch_enriched_error = fetched  # type: ignore[method-assign]
    client._handle_error = handled  # type: ignore[method-assign]


def _cause(error: FetchErrorDetailsResponse.Error) -> Cause:
    thrown = error.spark_throwable
    kind = error.error_type_hierarchy[0] if error.error_type_hierarchy else ""
    return Cause(kind, thrown.error_class, dict(thrown.message_parameters), error.message)
