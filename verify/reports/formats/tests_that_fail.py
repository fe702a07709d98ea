"""A counterexample as a pytest test that fails until the statement is corrected."""

import os
import re
from pathlib import Path

from verify.errors import InputError
from verify.files import free_file, write_whole
from verify.search.results import ExploreResult

_BEGINNING = '"""A counterexample that verify explore found'


def file_of(name: str) -> Path:
    """Return the path of a file for a test. Raises InputError if the file cannot be written."""
    beginning = _BEGINNING.encode()
    return free_file("--test", name, "a test that explore wrote", lambda content: content.startswith(beginning))


def write_test(path: Path, reference: str, result: ExploreResult) -> None:
    """Write the test of a counterexample; `reference` is an id, file.py:name, or a statement in a line.

    The test finds a theorem's file by its path from the test's folder. Raises InputError if the test cannot be written.
    """
    assert result.counterexample is not None and result.clause is not None
    listed = {name: value if isinstance(value, tuple) else (value,) for name, value in result.counterexample.items()}
    instance = {name: ",".join(map(str, values)) for name, values in listed.items()}
    theorem, imported = repr(reference), ""
    file, suffix, name = reference.partition(".py")
    if suffix and Path(file + suffix).is_file():
        beside = os.path.relpath(file + suffix, path.resolve().parent)
        theorem, imported = f"str(Path(__file__).parent / {beside!r}) + {name!r}", "from pathlib import Path\n\n"
    name_of = re.sub(r"\W", "_", result.clause.label)
    dropped = f", without {', '.join(result.dropped)}" if result.dropped else ""
    text = f'''{_BEGINNING}{dropped}: `verify check` says more."""

{imported}import verify


def test_{name_of}():
    result = verify.check({theorem}, {instance!r})
    (clause,) = (each for each in result.clauses if each.label == {result.clause.label!r})
    assert clause.outcome != "refuted", f"{{clause.claim}} fails"
'''
    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError("--test", path, f"cannot be written: {error.strerror}") from error
