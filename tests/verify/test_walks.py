"""The walks of `docs/architecture.md`: each walk goes through the files that it lists, and through no others."""

import re
import sys

from tests.layout import ROOT, walk

MOST_FILES = 10
INEQUALITY = "2*x*y <= x**2 + y**2 for x > 0"


def below(frame):
    """Return the engine's files on the call stack of a frame, each once, in the order in which they were entered."""
    engine, found = str(ROOT / "verify"), []
    while frame is not None:
        if frame.f_code.co_filename.startswith(engine):
            found.append(frame.f_code.co_filename.removeprefix(f"{ROOT}/"))
        frame = frame.f_back
    return list(dict.fromkeys(reversed(found)))


def test_a_check_goes_from_the_command_to_the_re_checker_by_the_files_of_its_walk(cli):
    ways = []

    def entered(frame, event, _):
        code = frame.f_code
        if event == "call" and "/rechecker/kinds/" in code.co_filename and code.co_name != "<module>":
            ways.append(below(frame))

    # A first call does all imports, so that no import is on the call stack.
    assert cli("check", INEQUALITY, "x=1", "y=2")[0] == 0
    before = sys.getprofile()
    sys.setprofile(entered)
    try:
        assert cli("check", INEQUALITY, "x=3", "y=2")[0] == 0
    finally:
        sys.setprofile(before)
    listed = walk("A check, from the command to the re-checker")
    assert ways[0] == listed and len(listed) <= MOST_FILES


def naming(*words):
    """Return the engine's files that contain one of the words."""
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words))
    files = [path for end in ("py", "pyi") for path in sorted((ROOT / "verify").rglob(f"*.{end}"))]
    return {path.relative_to(ROOT).as_posix() for path in files if pattern.search(path.read_text(encoding="utf-8"))}


def test_a_kind_of_clause_is_named_in_the_files_of_its_walk_alone():
    assert naming("IsolatedRoot", "isolated_root", "no_root", "roots.root") == {*walk("A new kind of clause")}


def test_a_walk_that_is_not_listed_is_empty():
    assert walk("A walk") == [] and len(walk("A new theorem")) > 2
