"""A clock that tests advance, with an alarm: tests of time limits need not wait, and do not depend on the machine."""

import signal
import time


class Clock:
    """A clock that advances by `tick` seconds at each reading and by the seconds that a test adds."""

    def __init__(self, tick=1e-4):
        self.tick, self._now, self._due, self._again = tick, 1000.0, None, 0.0

    @property
    def now(self):
        """The time; reading this property does not advance it."""
        return self._now

    @property
    def alarm(self):
        """Whether an alarm is set."""
        return self._due is not None

    def install(self, monkeypatch):
        """Replace the system's clock and timer by this clock."""
        for name in ("monotonic", "perf_counter"):
            monkeypatch.setattr(time, name, self._look)
        monkeypatch.setattr(signal, "setitimer", self._set)

    def sleep(self, seconds):
        """Advance the clock by `seconds`; if the alarm is due, raise SIGALRM."""
        self._now += seconds
        if self._due is not None and self._now >= self._due:
            self._due = self._now + self._again if self._again else None
            signal.raise_signal(signal.SIGALRM)

    def spin(self, seconds=60.0):
        """Advance the clock by `seconds`, as during a computation that does not read the clock."""
        end = self._now + seconds
        while self._now < end:
            self.sleep(0.001)
        return "done"

    def _look(self):
        self._now += self.tick
        return self._now

    def _set(self, _, seconds, again=0.0):
        self._due, self._again = (self._now + seconds if seconds else None), again
