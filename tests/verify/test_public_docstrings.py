"""The docstrings of the public names have one form, describe every argument, and have examples that run."""

import ast
import doctest
import enum
import inspect
import re
import textwrap
import warnings

import pytest

import verify

SECTIONS = ("Parameters", "Returns", "Raises", "Examples")
NAMES = verify.__all__


def sections(text):
    """Return the body of each section by its name; the text before the first section has the name ''."""
    lines = inspect.cleandoc(text).split("\n")
    found, name = {"": []}, ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and set(below) == {"-"} and len(below) == len(line):
            name = line
            found[name] = []
        elif not (line and set(line) == {"-"}):
            found[name].append(line)
    return {name: "\n".join(body).strip() for name, body in found.items()}


def entries(body):
    """Return a dict from the names of a section's entries to whether the entry has a description."""
    found = {}
    for block in re.split(r"\n(?=\S)", body):
        names, _, said = block.partition("\n")
        found |= {name.strip(): bool(said.strip()) for name in names.split(",")}
    return found


def given(value):
    """Return the arguments of a function, or of the constructor of a class."""
    # Enumerations, these exceptions and the protocol have no constructor with arguments.
    unmade = (verify.Clause, verify.TheoremError, verify.UndecidedError, verify.UndefinedError)
    if inspect.isclass(value) and (issubclass(value, enum.Enum) or value in unmade):
        return []
    marks = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    return [marks.get(p.kind, "") + p.name for p in inspect.signature(value).parameters.values()]


def raising(value):
    """Whether the function, or the class's `__post_init__`, has a `raise` of its own."""
    part = value.__dict__.get("__post_init__") if inspect.isclass(value) else value
    if part is None or not inspect.isfunction(inspect.unwrap(part)):
        return False
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(part))))
    raised = (ast.unparse(node.exc) for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None)
    # A private error is caught inside the module.
    return any(not error.startswith("_") for error in raised)


def faults(value):
    """Yield the faults of a docstring."""
    text = value.__doc__ or ""
    found = sections(text)
    summary = found[""].split("\n\n")[0]
    if not summary or "\n" in summary or not summary.endswith((".", ".”")):
        yield "its summary is not one line that ends with a full stop"
    if [name for name in found if name] != [name for name in SECTIONS if name in found]:
        yield f"its sections are not {SECTIONS}, in this order"
    said = entries(found["Parameters"]) if "Parameters" in found else {}
    names = given(value)
    if list(said) != names and set(said) != set(names):
        yield f"its parameters are {names}, and it has {list(said)}"
    yield from (f"nothing is said of {name}" for name, told in said.items() if not told)
    if (
        inspect.isfunction(value)
        and value.__annotations__.get("return") not in (None, "None")
        and "Returns" not in found
    ):
        yield "it does not say what is returned"
    if raising(value) and "Raises" not in found:
        yield "it does not say what is raised"
    if "Raises " in "".join(body for name, body in found.items() if name != "Examples"):
        yield "what is raised is said outside of its section"
    if ">>>" not in found.get("Examples", ""):
        yield "it has no example"


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_has_one_form(name):
    assert list(faults(getattr(verify, name))) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_run(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    value = getattr(verify, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(value, name, module=False, globs={})
    assert test.examples
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert found.failed == 0, "".join(said)


def test_faults_of_docstrings_are_found():
    def wrong(one, *, other=1):
        """Do it

        Raises ValueError at times.

        Parameters
        ----------
        one
        """
        raise ValueError(one, other)

    wrong.__annotations__["return"] = int
    assert len(list(faults(wrong))) == 7

    def right(one):
        """Return it.

        Parameters
        ----------
        one
            A number.

        Returns
        -------
        int
            The number.

        Examples
        --------
        >>> 1
        1
        """
        return one

    right.__annotations__["return"] = int
    assert list(faults(right)) == []


def test_the_package_has_a_guide():
    guide = verify.__doc__
    assert guide.count("\n") <= 50 and max(map(len, guide.splitlines())) <= 100
    named = set(re.findall(r"verify\.(\w+)\(", guide))
    assert {"check", "conditions", "prove", "explore", "recheck"} <= named <= set(NAMES)
    test = doctest.DocTestParser().get_doctest(guide, {}, "verify", None, None)
    said = []
    assert test.examples and doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed == 0, "".join(said)
