"""Work is timed without its first run, and on the threads that serve it best."""

import time

import torch

from tests.benchmarks.timing import median_seconds, on_the_best_threads


def test_the_first_run_does_not_count():
    runs = []

    def work():
        runs.append(1)
        time.sleep(0.2 if len(runs) == 1 else 0.01)

    assert 0.01 <= median_seconds(work, 3) < 0.1
    assert len(runs) == 4


def test_work_runs_on_the_threads_that_it_is_faster_on():
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(2)
    try:

        def work():
            seen.append(torch.get_num_threads())
            time.sleep(0.001 if seen[-1] == 1 else 0.02)

        run, best = on_the_best_threads(work)
        run()
        assert best.threads == 1 and best.seconds < 0.02 and seen[-1] == 1 and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
