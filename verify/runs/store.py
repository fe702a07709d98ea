"""The store of results: an SQLite file with a row for each run of an experiment, and each instance or block of a sweep.

A row's key has four parts: a digest of the request (an id and its settings), the version of the code, the seed and the
device. Only finished results are written. Checkpoints of unfinished runs are in a folder beside the file.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from verify.errors import InputError
from verify.files import FOLDER
from verify.language.parameters import Value

_APPLICATION = int.from_bytes(b"lmsc")
_FORMAT = 1
_PATIENCE = 60.0
"""Seconds for which a writer waits for another writer."""
_TABLE = """CREATE TABLE results (
    digest TEXT NOT NULL, code TEXT NOT NULL, seed TEXT NOT NULL, device TEXT NOT NULL,
    name TEXT NOT NULL, body TEXT NOT NULL, written TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (digest, code, seed, device)
) WITHOUT ROWID"""
_BLOCKS = """CREATE TABLE IF NOT EXISTS blocks (
    digest TEXT NOT NULL, code TEXT NOT NULL, seed TEXT NOT NULL, device TEXT NOT NULL,
    name TEXT NOT NULL, header TEXT NOT NULL, data BLOB NOT NULL, written TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (digest, code, seed, device)
)"""
"""The table of a sweep's blocks of arrays; it is added to a store of an earlier version, whose results are kept."""
_INTO = "INTO results (digest, code, seed, device, name, body) VALUES (?, ?, ?, ?, ?, ?)"
_INSERT, _REPLACE = f"INSERT OR IGNORE {_INTO}", f"INSERT OR REPLACE {_INTO}"
_AT_ONCE = 500
"""Maximum number of results that one query asks for: SQLite accepts 999 parameters on every platform."""


class Key(NamedTuple):
    """The key of a result."""

    digest: str
    code: str
    seed: int
    device: str

    @property
    def name(self) -> str:
        """A name for files that belong to the result."""
        return hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:32]


def default_store() -> Path:
    """Return the path of the command line's store, in `.lemmascope` in the working directory."""
    return FOLDER / "results.sqlite"


def settings_digest(name: str, settings: Mapping[str, Value]) -> str:
    """Return a digest of an id and of its settings' exact values; the order of the settings does not matter."""
    exact = {key: [type(value).__name__, str(value)] for key, value in sorted(settings.items())}
    return hashlib.sha256(json.dumps([name, exact]).encode()).hexdigest()


class Store:
    """A file of results, made if it is missing, in an existing folder.

    Parameters
    ----------
    path
        The file, an SQLite database.

    Raises
    ------
    InputError
        For a missing folder, and for a file that is not a store or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from verify import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder) / "results.sqlite")
    ...     store.path.name
    'results.sqlite'
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # A missing folder is not made: its name may be mistyped, and nobody would find the results.
        if not path.parent.is_dir():
            raise InputError("--store", path, f"cannot be written: there is no folder {path.parent}")
        if path.is_dir():
            raise InputError("--store", path, "must name a file: it is a folder")
        with self._opened() as connection:
            self._prepare(connection)

    def read(self, key: Key) -> dict[str, Any] | None:
        """Return the result of a key; None if there is none. Raises InputError if the result is not a JSON object."""
        return self.read_many([key]).get(key)

    def write(self, key: Key, name: str, body: Mapping[str, Any]) -> None:
        """Store a result, whole or not at all; an earlier result for the key is kept. Raises as `write_many` does."""
        self.write_many(name, [(key, body)])

    def read_many(self, keys: Sequence[Key], *, damaged: bool = False) -> dict[Key, dict[str, Any]]:
        """Return the results that are stored for some keys, by key; the keys have the same code, seed and device.

        Raises InputError for a result that is not a JSON object; if `damaged`, such a result counts as an empty object.
        """
        assert len({key[1:] for key in keys}) <= 1, "keys of one code, seed and device"
        by_digest = {key.digest: key for key in keys}
        bodies: dict[Key, dict[str, Any]] = {}
        with self._opened() as connection:
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                # Only question marks are inserted into the query.
                condition = f"digest IN ({', '.join('?' * len(part))}) AND code = ? AND seed = ? AND device = ?"
                asked = f"SELECT digest, body FROM results WHERE {condition}"  # noqa: S608
                for digest, text in connection.execute(asked, (*(k.digest for k in part), *_columns(part[0])[1:])):
                    bodies[by_digest[digest]] = self._body(text, damaged=damaged)
        return bodies

    def _body(self, text: str | bytes, *, damaged: bool) -> dict[str, Any]:
        why = "has a result that is not a JSON object"
        try:
            body = json.loads(text)
        except (TypeError, ValueError):
            body, why = None, "has a result that is not JSON"
        if isinstance(body, dict):
            return body
        if damaged:
            return {}
        raise self._unreadable(why)

    def write_many(self, name: str, rows: Iterable[tuple[Key, Mapping[str, Any]]], *, replace: bool = False) -> None:
        """Store results in one transaction; of two results for a key the first is kept, with `replace` the last.

        Raises InputError if the file cannot be written, and ValueError for NaN and infinity.
        """
        written = [(*_columns(key), name, json.dumps(body, allow_nan=False)) for key, body in rows]
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_REPLACE if replace else _INSERT, written)
            connection.execute("COMMIT")

    def read_block(self, key: Key) -> tuple[bytes, bytes] | None:
        """Return the header and the data of a key's block, both as bytes; None without a block."""
        asked = (
            "SELECT CAST(header AS BLOB), data FROM blocks WHERE digest = ? AND code = ? AND seed = ? AND device = ?"
        )
        with self._opened() as connection:
            return connection.execute(asked, _columns(key)).fetchone()

    def write_block(self, key: Key, name: str, header: str, data: bytes, *, replace: bool = False) -> None:
        """Store a block, whole or not at all; of two blocks for a key the first is kept, with `replace` the last."""
        values = "(digest, code, seed, device, name, header, data) VALUES (?, ?, ?, ?, ?, ?, ?)"
        with self._opened() as connection:
            way = "REPLACE" if replace else "IGNORE"
            connection.execute(f"INSERT OR {way} INTO blocks {values}", (*_columns(key), name, header, data))

    def checkpoint(self, key: Key) -> Path:
        """Return the path of the checkpoint of a key's unfinished run."""
        return self.path.with_name(self.path.name + ".unfinished") / f"{key.name}.pt"

    def _prepare(self, connection: sqlite3.Connection) -> None:
        application, _ = self._identity(connection)
        if application != _APPLICATION:
            # If several processes open an empty file, one makes the table: the others wait here, and check again.
            connection.execute("BEGIN IMMEDIATE")
            application, tables = self._identity(connection)
            if not application and not tables:
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
                connection.execute(_TABLE)
                application = _APPLICATION
            connection.execute("COMMIT")
        if application != _APPLICATION:
            raise self._unreadable("is the database of another application")
        (form,) = connection.execute("PRAGMA user_version").fetchone()
        if form != _FORMAT:
            raise self._unreadable(f"has the format {form}, where this version reads {_FORMAT}")
        self._write_ahead(connection)
        connection.execute(_BLOCKS)
        # A store that cannot be written is refused now, not after hours.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")

    @staticmethod
    def _identity(connection: sqlite3.Connection) -> tuple[int, int]:
        """Return the application's number, and the number of tables."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return application, tables

    @staticmethod
    def _write_ahead(connection: sqlite3.Connection) -> None:
        """Set the mode in which readers do not wait for a writer; if others use the file, retry, as SQLite does not."""
        for _ in range(100):
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                time.sleep(_PATIENCE / 1000)
            else:
                return

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as connection:
                yield connection
        except sqlite3.OperationalError as error:
            raise InputError("--store", self.path, f"cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise self._unreadable(f"is no store of results: {error}") from error

    def _unreadable(self, why: str) -> InputError:
        return InputError("--store", self.path, f"{why}; name another file, or move this one away")


def _columns(key: Key) -> tuple[str, str, str, str]:
    return key.digest, key.code, str(key.seed), key.device
