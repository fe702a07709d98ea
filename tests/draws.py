"""Writes down what each test draws: `pytest tests -p tests.draws --draws-to FILE`.

A line has a test's id, how many examples Hypothesis ran, and a digest of all that these drew, in order. Sorted, the
files of two runs are equal where the same was drawn.
"""

import hashlib
from pathlib import Path

import pytest
from hypothesis.internal.conjecture.data import ConjectureData


def pytest_addoption(parser):
    parser.addoption("--draws-to", metavar="FILE", help="where a line for each test that draws is appended")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    drawn, count = hashlib.sha256(), 0
    freeze = ConjectureData.freeze

    def counted(data):
        nonlocal count
        if not data.frozen:
            count += 1
            drawn.update(repr(data.choices).encode())
        freeze(data)

    ConjectureData.freeze = counted
    try:
        return (yield)
    finally:
        ConjectureData.freeze = freeze
        if count and (path := item.config.getoption("--draws-to")):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(f"{item.location[0]}::{item.location[2]} {count} {drawn.hexdigest()}\n")
