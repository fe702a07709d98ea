"""Function calls in other processes: on this machine, by joblib, or on a Dask cluster."""

import contextlib
import logging
import math
import re
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from verify.budget import require_effort
from verify.errors import InputError, TheoremError
from verify.installed import needs

if TYPE_CHECKING:
    from distributed import Client

Result = TypeVar("Result")

DEATHS = 3
"""Number of times that the workers may be lost, without an answer in between, before their calls are given up."""
_ANSWER_SECONDS = 10
"""Timeout in seconds of the connection to a scheduler, of its first message, and of Dask's client."""
_LONGEST_GREETING = 2**20
"""Exclusive bound on a scheduler's first message, in bytes; a server that announces a longer one is no scheduler."""
# FLINT's precision is global to the process, and a Dask worker may have several threads.
_ONE_AT_A_TIME = threading.Lock()
_ADDRESS = re.compile(r"(?P<scheme>tcp|tls)://(?P<host>[^\s/:@\[\]]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{1,5})")


class LostError(RuntimeError):
    """The workers are gone; the caller may repeat their calls."""


def _called(function: Callable[..., Result], arguments: tuple[object, ...], own_process: bool) -> Result:
    """Call a function; this runs in a worker."""
    if own_process:
        # Ctrl-C reaches all processes of a terminal; the main process ends the workers.
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Text that a theorem's code prints must not mix with our output.
    with _ONE_AT_A_TIME, contextlib.redirect_stdout(sys.stderr):
        return function(*arguments)


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """The result of a numbered call, or the error that it raised."""

    number: int
    result: Result | None = None
    error: Exception | None = None

    def given(self) -> Result:
        """Return the call's result, or raise its error."""
        if self.error is not None:
            raise self.error
        return self.result  # pyright: ignore[reportReturnType]


@contextlib.contextmanager
def cancelling() -> Iterator[None]:
    """Ignore a KeyError in joblib's thread that sends out calls: the thread may look up a call just cancelled."""
    hook = threading.excepthook

    def other_errors(raised: threading.ExceptHookArgs) -> None:
        if raised.exc_type is not KeyError or type(raised.thread).__name__ != "_ExecutorManagerThread":
            hook(raised)

    threading.excepthook = other_errors
    try:
        yield
    finally:
        threading.excepthook = hook


@dataclass(frozen=True)
class Workers:
    """The workers that compute in place of this process: `jobs` local processes, a Dask client's workers, or none."""

    jobs: int = 1
    client: "Client | None" = None

    def __bool__(self) -> bool:
        return self.jobs > 1 or self.client is not None

    def unordered(
        self, function: Callable[..., Result], calls: Iterable[tuple[object, ...]]
    ) -> Generator[Result, None, None]:
        """Yield a function's result for each tuple of arguments, in any order.

        At most two calls per worker are pending. On a cluster, another worker takes over the calls of a dead worker.
        InputError and TheoremError are raised unchanged. Any other error, such as the death of a local process or the
        loss of the cluster, is raised as LostError. If the generator is closed early, no further call starts, and the
        local processes end.
        """
        # joblib, like Dask below, belongs to the extra `sweep`: it may be missing, and its import is slow.
        import joblib

        backend = {"backend": "dask", "client": self.client} if self.client else {"backend": "loky"}
        with joblib.parallel_config(**backend):
            many = joblib.Parallel(
                n_jobs=-1 if self.client else self.jobs,
                batch_size=1,
                pre_dispatch="2*n_jobs",
                return_as="generator_unordered",
            )
            called = (joblib.delayed(_called)(function, arguments, self.client is None) for arguments in calls)
            computed: Any = None
            try:
                # This sends out the first calls, and a process may die meanwhile.
                computed = many(called)
                # `yield from` would pass an early close on to `computed` here, where the warning is not suppressed.
                for result in computed:  # noqa: UP028
                    yield result
            except (InputError, TheoremError):
                raise
            except Exception as error:
                raise LostError(f"{type(error).__name__}: {error}") from error
            finally:
                with warnings.catch_warnings(), cancelling():
                    # joblib warns of cancelled calls; these are cancelled on purpose.
                    warnings.simplefilter("ignore", UserWarning)
                    if computed is not None:
                        computed.close()

    def answers(
        self,
        function: Callable[..., Result],
        calls: Iterable[tuple[object, ...]],
        enough: Callable[[Result], bool] = lambda _: False,
    ) -> Generator[Answer[Result], None, None]:
        """Yield the answer to each call of a function as it arrives, with the call's number.

        Once an answer is `enough`, or an error, no further call is sent out. The calls of lost workers are repeated.
        LostError is raised after `DEATHS` losses without an answer in between.
        """
        dealt, deaths = _Dealt(function, enumerate(calls)), 0
        while True:
            try:
                with contextlib.closing(self.unordered(_answered, dealt.calls())) as arriving:
                    for answer in arriving:
                        deaths = 0
                        dealt.came(answer.number, last=answer.error is not None or enough(answer.given()))
                        yield answer
                return
            except LostError:
                deaths += 1
                if deaths >= DEATHS:
                    raise

    def in_order(
        self,
        function: Callable[..., Result],
        calls: Iterable[tuple[object, ...]],
        enough: Callable[[Result], bool] = lambda _: False,
    ) -> Generator[Result, None, None]:
        """Yield a function's result for each tuple of arguments, in their order, up to the first that is `enough`.

        The results are the same for any number of workers: an error of the function is raised at its place in the
        order, and pending calls after the last needed one are cancelled or ignored. Raises LostError as `answers` does.
        """
        place, waiting = 0, dict[int, Answer[Result]]()
        with contextlib.closing(self.answers(function, calls, enough)) as arriving:
            for answer in arriving:
                waiting[answer.number] = answer
                while place in waiting:
                    result = waiting.pop(place).given()
                    yield result
                    if enough(result):
                        return
                    place += 1


@dataclass
class _Dealt:
    """Numbered calls: the calls left, the calls sent out but not answered, and the number of the last needed call."""

    function: Callable[..., Any]
    left: Iterator[tuple[int, tuple[object, ...]]]
    out: dict[int, tuple[object, ...]] = field(default_factory=dict)
    last: float = math.inf

    def calls(self) -> Iterator[tuple[object, ...]]:
        """Yield the calls to make, first the calls that were sent out before and not answered."""
        yield from ((number, self.function, arguments) for number, arguments in list(self.out.items()))
        for number, arguments in self.left:
            if number > self.last:
                return
            self.out[number] = arguments
            yield number, self.function, arguments

    def came(self, number: int, *, last: bool) -> None:
        """Note that a call was answered, and whether the calls after it are not needed."""
        del self.out[number]
        if last:
            self.last = min(self.last, number)


def _answered(number: int, function: Callable[..., Result], arguments: tuple[object, ...]) -> "Answer[Result]":
    try:
        return Answer(number, function(*arguments))
    except Exception as error:
        return Answer(number, error=error)


def gathered(
    others: Workers,
    function: Callable[..., tuple[Result, bool]],
    calls: Sequence[tuple[object, ...]],
    tell: Callable[[int, int], None] | None = None,
) -> tuple[list[Result], bool]:
    """Return a function's result for each tuple of arguments, in their order, and whether Ctrl-C ended the calls.

    After Ctrl-C the results so far are returned. `function` itself returns a pair: a result, and whether Ctrl-C
    interrupted it. `tell(done, total)` is called with the progress.
    """
    found, interrupted = dict[int, Result](), False
    here = (Answer(number, function(*arguments)) for number, arguments in enumerate(calls))
    try:
        for answer in others.answers(function, calls) if others else here:
            found[answer.number], interrupted = answer.given()
            if tell:
                tell(len(found), len(calls))
            if interrupted:
                break
    except KeyboardInterrupt:
        interrupted = True
    return [found[number] for number in sorted(found)], interrupted


@contextlib.contextmanager
def workers(jobs: int, scheduler: str | None) -> Iterator[Workers]:
    """Yield `jobs` local workers, or the workers of the Dask scheduler at an address.

    Raises InputError for invalid jobs, for several jobs with a scheduler, if a package is missing, and if no scheduler
    answers.
    """
    require_effort(jobs=jobs)
    refuse_both(jobs, scheduler)
    if jobs > 1 or scheduler is not None:
        needs("--scheduler" if scheduler else "--jobs", scheduler or jobs, "joblib")
    with cluster(scheduler) as client:
        yield Workers(jobs, client)


def refuse_both(jobs: int, scheduler: str | None) -> None:
    """Raise InputError for several jobs together with a scheduler."""
    if scheduler is not None and jobs > 1:
        raise InputError("jobs", jobs, "is for this machine only; the scheduler decides how many workers there are")


def refuse_unanswered(address: str) -> None:
    """Raise InputError if a text is no address, nothing answers there, or the server is no Dask scheduler.

    For a `tls` address, only the connection is tried. Raises InputError as well if Dask is not installed.
    This function is called before Dask's client is made, which would wait longer and print more than one line.
    """
    form = _ADDRESS.fullmatch(address)
    if form is not None:
        needs("--scheduler", address, "distributed")
    if form is None or not 0 < int(form["port"]) < 2**16:
        raise InputError("--scheduler", address, "must be a scheduler's address, tcp://HOST:PORT or tls://HOST:PORT")
    why = "another service answers"
    try:
        with socket.create_connection((form["host"].strip("[]"), int(form["port"])), _ANSWER_SECONDS) as connection:
            if form["scheme"] == "tls":
                return
            # A scheduler sends first: the length of a short message, in 8 bytes.
            connection.settimeout(_ANSWER_SECONDS)
            if 0 < int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "little") < _LONGEST_GREETING:
                return
    except TimeoutError:
        why = "no message was received in time"
    except (OSError, UnicodeError) as error:
        why = str(getattr(error, "strerror", None) or error)
    raise InputError("--scheduler", address, f"no Dask scheduler answers there: {why}")


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Silence the logs of Dask and asyncio; an exception reports a failure, in one line."""
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
    """Yield a client of a Dask scheduler, or None without an address. Raises InputError if no scheduler answers."""
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
        # Otherwise the garbage collector would close the client, slowly and with a traceback.
        client.status = "closed"
        why = f"no Dask scheduler answers there: {type(error).__name__}"
        raise InputError("--scheduler", address, why) from error
    return client
