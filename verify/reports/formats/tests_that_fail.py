"""A counterexample as a pytest test that fails, until the statement is mended."""

from pathlib import Path

from verify.errors import InputError
from verify.files import free_file, write_whole
from verify.search.results import ExploreResult

_BEGINNING = '"""A counterexample that verify explore found'


def file_of(name: str) -> Path:
    """Return the path of a file that a test can be written to. Raises InputError for one that cannot be."""
    beginning = _BEGINNING.encode()
    return free_file("--test", name, "a test that explore wrote", lambda content: content.startswith(beginning))


def text_of_test(reference: str, result: ExploreResult) -> str:
    """Return the source of the test; `reference` is by what a check loads the theorem: an id, file.py:name, a line.

    Raises InputError where there is no counterexample.
    """
    if result.counterexample is None or result.clause is None:
        raise InputError("--test", result.theorem, "there is no counterexample to write")
    listed = {name: value if isinstance(value, tuple) else (value,) for name, value in result.counterexample.items()}
    instance = {name: ",".join(map(str, values)) for name, values in listed.items()}
    return f'''{_BEGINNING}: verify check says more."""

import verify


def test_{result.clause.label.replace("-", "_").replace(" ", "_").replace(".", "_")}():
    result = verify.check({reference!r}, {instance!r})
    (clause,) = (each for each in result.clauses if each.label == {result.clause.label!r})
    assert clause.outcome != "refuted", f"{{clause.claim}} fails"
'''


def write_test(path: Path, reference: str, result: ExploreResult) -> None:
    """Write the test. Raises InputError where there is no counterexample, and where it cannot be written."""
    try:
        write_whole(path, text_of_test(reference, result))
    except OSError as error:
        raise InputError("--test", path, f"cannot be written: {error.strerror}") from error
