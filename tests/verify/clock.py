"""A clock that tests advance, with an alarm: tests of time limits need not wait, and agree on every machine."""

import signal
import time


class Clock:
    """A clock that advances by `tick` at each look and by seconds that a test adds; it can replace the system's."""

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
        """Replace the system's clock and timer by this one."""
        for name in ("monotonic", "perf_counter"):
            monkeypatch.setattr(time, name, self._look)
        monkeypatch.setattr(signal, "setitimer", self._set)

    def sleep(self, seconds):
        """Let time pass; an alarm that is due rings."""
        self._now += seconds
        if self._due is not None and self._now >= self._due:
            self._due = self._now + self._again if self._again else None
            signal.raise_signal(signal.SIGALRM)

    def spin(self, seconds=60.0):
        """Let time pass as in a computation that does not look at the clock."""
        end = self._now + seconds
        while self._now < end:
            self.sleep(0.001)
        return "done"

    def _look(self):
        self._now += self.tick
        return self._now

    def _set(self, _, seconds, again=0.0):
        self._due, self._again = (self._now + seconds if seconds else None), again
