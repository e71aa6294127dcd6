"""PostgreSQL: one server of its own, with a database that can be lost, dumped and restored.

    with Postgres() as postgres:
        Airflow(folder, broker.bootstrap, warehouse=…, settings=postgres.settings)

The binaries are pgserver's. PostgreSQL refuses root, who here hands it to the user `nobody`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Self

import psutil

from local.embedded.guard import Guarded
from local.embedded.ports import free_port
from local.embedded.waiting import until

BINARIES = Path(psutil.__file__).parents[1] / "pgserver" / "pginstall" / "bin"
USER, DATABASE, PASSWORD = "airflow", "airflow", "nobody-else-listens-here"
UNPRIVILEGED = "65534"
START_SECONDS = 60
# A crash of the machine is not among these tests: the disk need not be waited for.
QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class Postgres:
    """A server on a loopback port; a second start on the same data keeps address and databases."""

    def __init__(
        self,
        *,
        user: str = USER,
        password: str = PASSWORD,
        database: str = DATABASE,
        port: int | None = None,
    ) -> None:
        """`port`: None chooses a free one."""
        # Not below the caller's folder: pytest's are closed to other users.
        self.folder = Path(mkdtemp(prefix="sluice-postgres-"))
        self.port = port or free_port()
        self.log = self.folder / "postgres.log"
        self._user, self._password, self._database = user, password, database
        self._guarded: Guarded | None = None

    def __enter__(self) -> Self:
        return self.open()

    def open(self) -> Self:
        """Make a server with an empty database, and start it."""
        try:
            self._initialise()
            self.start()
            self._create()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server, and remove its data."""
        if self._guarded is not None and self._guarded.running:
            # One that is killed leaves its shared memory behind.
            stop = [str(BINARIES / "pg_ctl"), "stop", "--mode=fast", "-D", str(self._data)]
            subprocess.run([*_unprivileged(), *stop], capture_output=True, check=False)
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def address(self) -> str:
        """The database's, as SQLAlchemy takes it."""
        login = f"{self._user}:{self._password}"
        return f"postgresql+psycopg2://{login}@127.0.0.1:{self.port}/{self._database}"

    @property
    def settings(self) -> dict[str, dict[str, str]]:
        """Airflow's settings that name the database."""
        return {"database": {"sql_alchemy_conn": self.address}}

    def start(self) -> Self:
        """Start, and wait until it takes connections."""
        options = {"port": self.port, "unix_socket_directories": "", "max_connections": 200}
        pairs = [*(f"{key}={value}" for key, value in options.items()), *QUICK]
        words = [word for pair in pairs for word in ("-c", pair)]
        command = [*_unprivileged(), str(BINARIES / "postgres"), "-D", str(self._data), *words]
        self._guarded = Guarded.start(command, self.log, cwd=self.folder)
        until(self._takes_connections, f"PostgreSQL, whose log is {self.log}", START_SECONDS)
        return self

    def crash(self) -> None:
        """SIGKILL to all its processes: clients lose their connections in mid-statement."""
        if self._guarded is not None:
            self._guarded.kill()
            # It believes that the server of this file still runs.
            (self._data / "postmaster.pid").unlink(missing_ok=True)

    def dump(self, file: Path) -> None:
        """Write the database, as it is now, to a file."""
        file.write_bytes(self._call("pg_dump", "--format=custom", self._database))

    def restore(self, file: Path) -> None:
        """Replace the database by a dump; nobody may be connected."""
        self.lose()
        self._call("pg_restore", "--exit-on-error", f"--dbname={self._database}", str(file))

    def lose(self) -> None:
        """Drop the database, and create an empty one."""
        self._call("dropdb", "--force", "--if-exists", self._database)
        self._create()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _initialise(self) -> None:
        secret = self.folder / "password"
        secret.write_text(self._password, encoding="utf-8")
        if os.geteuid() == 0:
            for place in (self.folder, secret):
                os.chown(place, int(UNPRIVILEGED), int(UNPRIVILEGED))
        login = [f"--username={self._user}", f"--pwfile={secret}", "--auth=scram-sha-256"]
        command = [str(BINARIES / "initdb"), f"--pgdata={self._data}", *login, "--no-sync"]
        _run([*_unprivileged(), *command, "--encoding=UTF8", "--locale=C"], self.folder, {})

    def _create(self) -> None:
        self._call("createdb", self._database)

    def _takes_connections(self) -> bool:
        command = [str(BINARIES / "pg_isready"), "--host=127.0.0.1", f"--port={self.port}", "-q"]
        return subprocess.run(command, check=False).returncode == 0

    def _call(self, tool: str, *arguments: str) -> bytes:
        login = ["--host=127.0.0.1", f"--port={self.port}", f"--username={self._user}"]
        command = [str(BINARIES / tool), *login, *arguments]
        return _run(command, self.folder, {"PGPASSWORD": self._password})


def _unprivileged() -> list[str]:
    """What a command begins with so that it does not run as root."""
    if os.geteuid():
        return []
    user = [f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"]
    return ["setpriv", *user, "--pdeathsig=KILL"]


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> bytes:
    whole = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=whole, capture_output=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr.decode(errors='replace')}"
    return done.stdout
