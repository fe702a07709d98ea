"""The first run of some work is not timed, and the fastest of several programs is found."""

import time

import torch

from tests.benchmarks.timing import fastest, median_seconds, on_threads, repeated


def test_the_first_run_does_not_count():
    runs = []

    def work():
        runs.append(1)
        time.sleep(0.2 if len(runs) == 1 else 0.01)

    assert 0.01 <= median_seconds(work, 3) < 0.1
    assert len(runs) == 4


def test_work_is_repeated():
    runs = []
    repeated(lambda: runs.append(1), 3)()
    assert len(runs) == 3


def test_the_fastest_way_is_found():
    ways = {"slow": lambda: time.sleep(0.05), "fast": lambda: time.sleep(0.001)}
    assert fastest(ways, 1) == ("fast", ways["fast"])


def test_work_runs_on_one_thread_and_on_all():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        ways = on_threads("sums", torch.get_num_threads)
        assert {name: run() for name, run in ways.items()} == {"sums, threads: 1": 1, "sums, threads: 2": 2}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
