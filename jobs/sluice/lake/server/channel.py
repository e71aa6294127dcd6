"""The channel to a Spark server: its encryption, its token, and how a silent server is noticed."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

import grpc
from pyspark.sql.connect.client import DefaultChannelBuilder

from sluice.lake.spark_place import SparkServer

# While a statement runs, the server reports progress every two seconds, also when there is none
# (spark.connect.progress.reportInterval). One that says nothing for so long is asked for a sign.
_SILENCE_MS = 20_000
_SIGN_MS = 20_000


class ServerChannel(DefaultChannelBuilder):
    """The channel of one session.

    pyspark's own would send a token without TLS only to the name `localhost`, and shows it in the
    process's environment.
    """

    def __init__(self, server: SparkServer, session_id: str) -> None:
        super().__init__(
            f"sc://{server.address}/;user_id={quote(server.user, safe='')};session_id={session_id}",
            [
                ("grpc.keepalive_time_ms", _SILENCE_MS),
                ("grpc.keepalive_timeout_ms", _SIGN_MS),
                # Without TLS a proxy (http_proxy) would read the token and Kafka's secrets.
                ("grpc.enable_http_proxy", int(server.tls)),
            ],
        )
        self._server = server

    def toChannel(self) -> grpc.Channel:
        if self._server.tls:
            return self._secure_channel(self.endpoint, grpc.ssl_channel_credentials())
        return self._insecure_channel(self.endpoint)

    def metadata(self) -> Iterable[tuple[str, str]]:
        """What every request carries: the token."""
        token = self._server.token
        return [("authorization", f"Bearer {token}")] if token else []
