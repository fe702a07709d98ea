"""Each purpose has a generator and a key; the seeds of runs; computing with one thread."""

import torch

from numerics.repeatable import generator_for, key_for, one_thread, seeds_of_runs


def test_purposes_have_generators_of_their_own():
    draws = [torch.rand(3, generator=generator_for(1, purpose, "cpu")).tolist() for purpose in ("a", "b", "a")]
    assert draws[0] == draws[2] != draws[1]
    assert generator_for(1, "a", "cpu").initial_seed() != generator_for(2, "a", "cpu").initial_seed()


def test_purposes_have_keys_of_their_own():
    keys = [key_for(*given) for given in ((1, "a"), (1, "b"), (2, "a"))]
    assert keys[0] == key_for(1, "a") and len(set(keys)) == 3
    assert all(2**32 < key < 2**64 for key in keys)


def test_the_first_run_has_the_seed_itself_and_more_runs_change_none():
    few, many = (list(seeds_of_runs(7, count)) for count in (2, 4))
    assert many[0] == 7 and many[:2] == few and len(set(many)) == 4


def test_one_thread_computes_and_what_was_is_there_again():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
