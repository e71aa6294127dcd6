"""The secrets of docker-compose.yml: random ones, in `.env`, which only its owner can read.

    python -m local.secrets_file

An existing file is never changed: the volumes' data know its secrets.
"""

from __future__ import annotations

import base64
import secrets
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / ".env"


def key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def cluster_id() -> str:
    """16 bytes as Kafka writes them; the first is no dash, which tools take for an option."""
    return base64.urlsafe_b64encode(b"S" + secrets.token_bytes(15)).decode().rstrip("=")


MAKERS: Mapping[str, Callable[[], str]] = {
    "AIRFLOW_PASSWORD": lambda: secrets.token_urlsafe(12),
    "AIRFLOW_FERNET_KEY": key,
    "AIRFLOW_JWT_SECRET": lambda: secrets.token_urlsafe(48),
    "AIRFLOW_SECRET_KEY": lambda: secrets.token_urlsafe(32),
    "POSTGRES_PASSWORD": lambda: secrets.token_urlsafe(24),
    "KAFKA_CLUSTER_ID": cluster_id,
    "SPARK_TOKEN": lambda: secrets.token_urlsafe(32),
    "SPARK_SECRET": lambda: secrets.token_urlsafe(32),
    "S3_ACCESS_KEY": lambda: secrets.token_hex(10),
    "S3_SECRET_KEY": lambda: secrets.token_urlsafe(30),
}


def write(file: Path) -> bool:
    """Write the file, or leave the one that is there: False."""
    try:
        file.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return False
    file.chmod(0o600)
    file.write_text("".join(f"{name}={make()}\n" for name, make in MAKERS.items()), "utf-8")
    return True


if __name__ == "__main__":
    if write(FILE):
        print(f"{FILE.name}: written, with new secrets")
    else:
        print(f"{FILE.name}: kept as it is; without it the volumes are lost", file=sys.stderr)
