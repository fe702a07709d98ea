"""A theorem's own code on the command line: its errors are one line, and its prints are not our output."""

from itertools import count

import pytest

from tests.verify.command_line import assert_one_line, body_of

WITH_PRIMITIVE = """
@primitive(version=1)
def {name}(arithmetic, value):
    {body}


def told():
    {body}


mine = theorem_of(Inequality("c", sp.Lt({name}(x), 2, evaluate=False)), derivation=told)
"""
WITH_ENCLOSED = """
@enclosed(version=1, scan=lambda value: {scan})
def {name}(value):
    {body}


mine = theorem_of(Inequality("c", sp.Lt({name}(x), 2, evaluate=False)))
"""
PRINTING = """
print("at import")


@primitive(version=1)
def own(arithmetic, value):
    print("in a primitive")
    return value


mine = theorem_of(Inequality("c", sp.Lt(own(x), 2, evaluate=False)))
"""
NO_PARAMETERS = """
y = sp.Symbol("y", real=True)
statement = Statement((), (Identity("c", (y + 1) ** 2, {right}),), variables=(y,))
mine = Theorem("user.mine", "a title", Source("1", "derived here"), statement, {{}})
"""
NUMBER = count()
VERBS = (("check", "x=1"), ("explore", "--seconds", "2"), ("sweep", "--over", "x=1:2:3"))


def made(text, **parts):
    """Return a theorem file whose primitive has a new name, because compiled programs are cached by name."""
    return text.format(name=f"own{next(NUMBER)}", **parts)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('raise ValueError("no good")', " raised ValueError: no good"),
        ('raise KeyError("k")', " raised KeyError: 'k'"),
        ("raise SystemExit(0)", " raised SystemExit: 0"),
        ("return 1", " returned a int"),
    ],
)
def test_an_error_of_a_primitive_is_one_line(cli, theorem_file, verb, body, said):
    path = theorem_file(made(WITH_PRIMITIVE, body=body))
    assert_one_line(cli(verb[0], path, *verb[1:]), said)


def test_two_processes_tell_it_too(cli, theorem_file):
    path = theorem_file(made(WITH_PRIMITIVE, body='raise ValueError("no good")'))
    assert_one_line(cli("sweep", path, "--over", "x=1:2:3", "--jobs", "2"), " raised ValueError: no good")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return Enclosure(None, None)", " returned an Enclosure from None to None at 1"),
        ("return Enclosure(Fraction(1), None)", "returned an Enclosure from 1 to None"),
        ("return None", " returned a NoneType"),
        ('raise RuntimeError("no good")', " raised RuntimeError: no good"),
    ],
)
def test_an_enclosed_primitive_without_an_enclosure_is_one_line(cli, theorem_file, body, said):
    path = theorem_file(made(WITH_ENCLOSED, body=body, scan="value"))
    assert_one_line(cli("check", path, "x=1"), said)
    assert_one_line(cli("explore", path, "x=1", "--seconds", "60"), said)


def test_a_value_that_there_is_not_is_no_error(cli, theorem_file):
    body = 'from verify.errors import UndefinedError\n    raise UndefinedError("none here")'
    code, out, err = cli("check", theorem_file(made(WITH_ENCLOSED, body=body, scan="value")), "x=1")
    assert (code, err) == (3, "") and "      none here\n" in out


@pytest.mark.parametrize(("scan", "fails"), [("1/0", False), ("{}[1]", True), ('"one"', True)])
def test_an_approximation_may_have_no_value_and_no_other_fault(cli, theorem_file, scan, fails):
    path = theorem_file(made(WITH_ENCLOSED, body="return value", scan=scan))
    result = cli("explore", path, "--seconds", "60", "--max-examples", "20")
    if fails:
        assert_one_line(result, "primitive own")
    else:
        # If the approximation has no value, exact arithmetic decides: own(x) = x is not below 2.
        assert result[0] == 1 and "refuted" in result[1]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise SystemExit(0)", "user.mine: its derivation raised SystemExit: 0"),
        ('raise RuntimeError("no good")', "user.mine: its derivation raised RuntimeError: no good"),
        ("return [1]", "user.mine: its derivation returned a list"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",), ("--format", "latex")])
def test_a_derivation_that_fails_is_one_line(cli, theorem_file, body, said, more):
    assert_one_line(cli("derive", theorem_file(made(WITH_PRIMITIVE, body=body)), *more), said)


def test_a_program_that_is_ended_from_within_is_one_line(cli, monkeypatch):
    def ended(*_, **__):
        raise SystemExit(0)

    monkeypatch.setattr("verify.evaluation.instances.conditions", ended)
    assert_one_line(cli("conditions", "wang2024.lemma1"), "its code ended the program: SystemExit: 0")


@pytest.mark.parametrize("verb", [*VERBS, ("conditions",)], ids=lambda verb: verb[0])
def test_prints_of_a_theorem_are_not_our_output(cli, theorem_file, verb):
    _, out, err = cli(verb[0], theorem_file(PRINTING), *verb[1:], "--json")
    assert body_of(out)["theorem"] == "user.mine"
    assert "at import\n" in err and ("in a primitive\n" in err) == (verb[0] != "conditions")


def test_prints_of_other_processes_are_not_our_output(theorem_file, tmp_path, capfd):
    from verify.reports.command_line import run

    capfd.readouterr()
    assert run(["sweep", theorem_file(PRINTING), "--over", "x=1:2:3", "--jobs", "2", "--json"]) == 0
    assert body_of(capfd.readouterr().out)["rows"] == 3


def test_without_parameters_a_search_looks_at_the_one_instance(cli, theorem_file):
    path = theorem_file(NO_PARAMETERS.format(right="y**2 + 2 * y + 1"))
    code, out, err = cli("explore", path)
    assert (code, err) == (0, "") and "found in 1 clean instance\n1 instance (1 clean), " in out
    code, out, err = cli("explore", theorem_file(NO_PARAMETERS.format(right="y**2 + 1"), "false.py"))
    assert (code, err) == (1, "") and "counterexample  the one instance of a statement without parameters" in out
    code, out, _ = cli("explore", theorem_file(NO_PARAMETERS.format(right="y**2 + 1"), "false.py"), "--json")
    assert (code, body_of(out)["counterexample"]) == (1, {})


@pytest.mark.parametrize("over", [(), ("--over", "y=1:2:3")])
def test_without_parameters_there_is_nothing_to_sweep(cli, theorem_file, over):
    path = theorem_file(NO_PARAMETERS.format(right="y**2 + 2 * y + 1"))
    assert_one_line(cli("sweep", path, *over), "--over", "nothing to sweep over: this theorem has no parameters")
