"""Calls of a function in other processes: of this machine, by joblib, or of a Dask cluster."""

import contextlib
import logging
import re
import socket
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from verify.errors import InputError, TheoremError
from verify.installed import needs

if TYPE_CHECKING:
    from distributed import Client

Result = TypeVar("Result")

_ANSWER_SECONDS = 10
"""For whether anything answers, and again for whether that is a scheduler."""
_LONGEST_GREETING = 2**20
"""Bytes of a scheduler's first message, at most; what answers with more is something else."""
_ADDRESS = re.compile(r"(?P<scheme>tcp|tls)://(?P<host>[^\s/:@\[\]]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{1,5})")


class LostError(RuntimeError):
    """Those who compute are gone; what they had is asked for again."""


def unordered(
    function: Callable[..., Result], calls: Iterable[tuple[object, ...]], *, jobs: int, client: "Client | None" = None
) -> Generator[Result, None, None]:
    """Yield what a function returns for each of some arguments, in any order.

    `jobs` processes of this machine call it, or the workers of a Dask client; at most two calls a worker are on their
    way. What a cluster's dead worker had is done by another; where a process of this machine dies, or a cluster is
    lost, LostError is raised.
    """
    # Of the extra `sweep`, as is Dask below: they may not be there, and are heavy.
    import joblib

    backend = {"backend": "dask", "client": client} if client else {"backend": "loky"}
    with joblib.parallel_config(**backend):
        many = joblib.Parallel(
            n_jobs=-1 if client else jobs, batch_size=1, pre_dispatch="2*n_jobs", return_as="generator_unordered"
        )
        try:
            yield from many(joblib.delayed(function)(*arguments) for arguments in calls)  # pyright: ignore[reportReturnType]
        except (InputError, TheoremError):
            raise
        except Exception as error:
            raise LostError(f"{type(error).__name__}: {error}") from error


def refuse_unanswered(address: str) -> None:
    """Raise InputError for what is no address, and where nothing answers, or something else than a scheduler.

    That is found out before Dask is asked, whose client would wait for longer, and say more than a line.
    """
    form = _ADDRESS.fullmatch(address)
    if form is not None:
        needs("--scheduler", address, "distributed")
    if form is None or not 0 < int(form["port"]) < 2**16:
        raise InputError("--scheduler", address, "must be a scheduler's address, tcp://HOST:PORT or tls://HOST:PORT")
    why = "what answers is something else"
    try:
        with socket.create_connection((form["host"].strip("[]"), int(form["port"])), _ANSWER_SECONDS) as connection:
            if form["scheme"] == "tls":
                return
            # A scheduler speaks first: the length of a short message, in 8 bytes.
            connection.settimeout(_ANSWER_SECONDS)
            if 0 < int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "little") < _LONGEST_GREETING:
                return
    except TimeoutError:
        why = "it says nothing"
    except (OSError, UnicodeError) as error:
        why = str(getattr(error, "strerror", None) or error)
    raise InputError("--scheduler", address, f"no Dask scheduler answers there: {why}")


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep Dask's and asyncio's logs to themselves: what goes wrong is told in one line, by an exception."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def cluster(address: str | None) -> "Iterator[Client | None]":
    """Yield a client of a Dask scheduler, None without an address. Raises InputError where none answers."""
    if address is None:
        yield None
        return
    refuse_unanswered(address)
    with _silent(), _client(address) as client:
        yield client


def _client(address: str) -> "Client":
    from distributed import Client
    from distributed.security import Security

    if address.startswith("tls:") and Security().get_connection_args("client").get("ssl_context") is None:
        raise InputError(
            "--scheduler", address, "needs TLS certificates, in Dask's configuration (distributed.comm.tls)"
        )
    client = Client.__new__(Client)
    try:
        client.__init__(address, timeout=_ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        # Else it would be closed when it is collected, which takes long, and a traceback.
        client.status = "closed"
        why = f"no Dask scheduler answers there: {type(error).__name__}"
        raise InputError("--scheduler", address, why) from error
    return client
