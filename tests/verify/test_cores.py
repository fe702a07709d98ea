"""Each piece of work is done once, whatever the number of cores, and an error of a piece is raised."""

import threading

import pytest

from verify import cores
from verify.cores import on_all_cores


@pytest.mark.parametrize("count", [0, 1, 2, 7])
@pytest.mark.parametrize("available", [1, 2, 5])
@pytest.mark.parametrize("alone", [True, False])
def test_each_piece_is_done_once(count, available, alone, monkeypatch):
    monkeypatch.setattr(cores, "cores", lambda: available)
    done, threads = [], set()

    def work(piece):
        done.append(piece)
        threads.add(threading.get_ident())

    on_all_cores(count, work, alone=alone)
    assert sorted(done) == list(range(count))
    assert not alone or threads <= {threading.get_ident()}


def test_two_cores_work_at_a_time(monkeypatch):
    monkeypatch.setattr(cores, "cores", lambda: 2)
    meeting = threading.Barrier(2)
    # A single thread would wait alone at the barrier.
    on_all_cores(2, lambda _: meeting.wait(timeout=60))


@pytest.mark.parametrize("available", [1, 2])
def test_failures_are_raised_when_all_have_ended(available, monkeypatch):
    monkeypatch.setattr(cores, "cores", lambda: available)
    caller, ended, meeting = threading.get_ident(), [], threading.Barrier(available)

    def work(piece):
        # Each thread has taken a piece before one of them fails.
        meeting.wait(timeout=60)
        ended.append(piece)
        if available == 1 or threading.get_ident() != caller:
            raise ArithmeticError(f"piece {piece}")

    with pytest.raises(ArithmeticError, match="piece"):
        on_all_cores(2, work)
    assert len(ended) == available


def test_there_is_a_core():
    assert cores.cores() >= 1
