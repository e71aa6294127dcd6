"""A gateway: a real S3 server over a folder, with one bucket and one account.

    with Gateway(folder) as gateway:
        os.environ["AIRFLOW_CONN_SLUICE_WAREHOUSE"] = gateway.connection()

What it keeps as objects are files in its folder, where other readers find the tables.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sluice.tables.s3_access import reach_warehouse

from local.embedded.server import PROGRAMS, Server

BUCKET = "lake"


class Gateway(Server):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, PROGRAMS / "versitygw")
        self.objects = folder / "objects"
        self.key, self.secret = "sluice-embedded", secrets.token_urlsafe(24)
        (self.objects / BUCKET).mkdir(parents=True)

    def command(self) -> list[str]:
        return ["--port", f"127.0.0.1:{self.port}", "posix", str(self.objects)]

    def variables(self) -> dict[str, str]:
        return {"ROOT_ACCESS_KEY": self.key, "ROOT_SECRET_KEY": self.secret}

    def connection(self, port: int | None = None, **changes: Any) -> str:
        """The Airflow connection `sluice_warehouse`, in JSON form."""
        extra = {"endpoint_url": f"http://127.0.0.1:{port or self.port}"}
        whole = {"conn_type": "aws", "login": self.key, "password": self.secret, "extra": extra}
        return json.dumps({**whole, **changes})


def reached(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process has in its environment with which AWS' clients reach the warehouse."""
    found = dict(environment)
    reach_warehouse(found)
    return {name: text for name, text in found.items() if name.startswith("AWS_")}
