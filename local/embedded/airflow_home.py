"""An AIRFLOW_HOME: configuration, login, secrets and a migrated database, in one folder."""

from __future__ import annotations

import base64
import configparser
import importlib.metadata
import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local.embedded.ports import free_port, is_free

USER = "admin"
SMALL_CORE = {"load_examples": "False", "executor": "LocalExecutor", "parallelism": "4"}
# A user who edits a spec should see it soon; parsing more often would use up one of two cores.
QUICK_PARSING = {
    "refresh_interval": "5",
    "min_file_process_interval": "10",
    "parsing_processes": "1",
}
# The next task of a run is found when the one before it has ended, not up to a second later.
QUICK_SCHEDULING = {"scheduler_idle_sleep_time": "0.2"}


@dataclass(frozen=True)
class Login:
    url: str
    username: str
    password: str


@dataclass(frozen=True)
class Secrets:
    """Made once per home: tokens and encrypted values stay valid across restarts."""

    password: str
    jwt: str
    session: str
    fernet: str

    @classmethod
    def of(cls, home: Path) -> Secrets:
        path = home / "secrets.json"
        if path.exists():
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        made = cls(
            password=secrets.token_urlsafe(9),
            jwt=secrets.token_urlsafe(48),
            session=secrets.token_urlsafe(24),
            fernet=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        )
        write_private(path, json.dumps(vars(made)))
        return made


def prepare_home(
    home: Path,
    root: Path,
    environment: Mapping[str, str],
    overrides: Mapping[str, Mapping[str, str]],
    python: str,
) -> Login:
    """Write the configuration (on the previous port, if free) and migrate the database."""
    known, port = Secrets.of(home), stored_port(home) or free_port()
    write_private(home / "passwords.json", json.dumps({USER: known.password}))
    write_configuration(home, configuration(home, root, port, known), overrides)
    if "sql_alchemy_conn" in overrides.get("database", {}):
        migrate(environment, python)
    else:
        migrate_sqlite(home, root / "build" / "airflow", environment, python)
    return Login(f"http://127.0.0.1:{port}", USER, known.password)


def configuration(home: Path, root: Path, port: int, known: Secrets) -> dict[str, dict[str, str]]:
    url = f"http://127.0.0.1:{port}"
    address = {"host": "127.0.0.1", "port": str(port), "base_url": url}
    return {
        "core": {
            "dags_folder": str(root / "dags"),
            "plugins_folder": str(root / "plugins"),
            "fernet_key": known.fernet,
            "execution_api_server_url": f"{url}/execution/",
            "simple_auth_manager_users": f"{USER}:admin",
            "simple_auth_manager_passwords_file": str(home / "passwords.json"),
            **SMALL_CORE,
        },
        "database": {"sql_alchemy_conn": f"sqlite:///{home / 'airflow.db'}"},
        "api": {**address, "workers": "1", "secret_key": known.session},
        "api_auth": {"jwt_secret": known.jwt},
        "logging": {"base_log_folder": str(home / "logs")},
        "scheduler": QUICK_SCHEDULING,
        "dag_processor": QUICK_PARSING,
        # How long a killed task's orphan may block its supervisor by keeping a pipe open.
        "workers": {"socket_cleanup_timeout": "10"},
        "usage_data_collection": {"enabled": "False"},
    }


def write_configuration(
    home: Path,
    sections: Mapping[str, Mapping[str, str]],
    overrides: Mapping[str, Mapping[str, str]],
) -> None:
    parser = configparser.RawConfigParser()
    parser.read_dict(sections)
    parser.read_dict(overrides)
    path = home / "airflow.cfg"
    write_private(path, "")
    with path.open("w", encoding="utf-8") as file:
        parser.write(file)


def stored_port(home: Path) -> int | None:
    parser = configparser.RawConfigParser()
    parser.read(home / "airflow.cfg", encoding="utf-8")
    port = parser.getint("api", "port", fallback=None)
    return port if port is not None and is_free(port) else None


def migrate(environment: Mapping[str, str], python: str = sys.executable) -> None:
    """Make the database what this version of Airflow expects; an empty one gets its tables."""
    command = [python, "-P", "-m", "airflow", "db", "migrate"]
    done = subprocess.run(
        command, env=dict(environment), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"`airflow db migrate` failed: {done.stdout}{done.stderr}")


def migrate_sqlite(home: Path, cache: Path, environment: Mapping[str, str], python: str) -> None:
    """Migrate once: the empty database is the same for every home of one Airflow version."""
    database = home / "airflow.db"
    if database.exists():
        return
    template = cache / f"{_airflow_of(python)}.db"
    if not template.exists():
        migrate(environment, python)
        cache.mkdir(parents=True, exist_ok=True)
        copy(database, template)
    else:
        copy(template, database)


def _airflow_of(python: str) -> str:
    """The version of Airflow that an interpreter has."""
    if python == sys.executable:
        return importlib.metadata.version("apache-airflow-core")
    asked = "import importlib.metadata as m; print(m.version('apache-airflow-core'))"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def copy(source: Path, target: Path) -> None:
    """Copy completely or not at all, even if other processes copy at the same time."""
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.copyfile(source, unfinished)
    unfinished.replace(target)


def write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600, exist_ok=True)
    path.chmod(0o600)
    path.write_text(text, encoding="utf-8")
