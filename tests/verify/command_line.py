"""Helpers for the tests of the command line: instances as arguments, and checks of the output."""

import json

THEOREM = "wang2024.theorem1"
SMALL = ("T=9", "q=2", "d=1", "eta=1/20", "eps=3/500")
SCOPE = ("T=200", "q=3", "d=5")


def _refuse(constant):
    raise AssertionError(f"{constant} in JSON")


def body_of(text):
    assert text.count("\n") == 1, "one object on one line"
    return json.loads(text, parse_constant=_refuse)


def assert_one_line(result, *parts):
    code, out, err = result
    assert code == 2 and out == ""
    assert err.startswith("verify: ") and err.endswith("\n") and err.count("\n") == 1
    assert "Traceback" not in err and "internal error" not in err
    for part in parts:
        assert part in err


def small_with(*changed):
    names = {word.split("=")[0] for word in changed}
    return [*(word for word in SMALL if word.split("=")[0] not in names), *changed]
