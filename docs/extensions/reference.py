"""The reference, from the code: verbs, Python names, the language, kinds of clause and of proof, rules."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Any

import sympy as sp
import typer

import verify
from docs.extensions.markdown import code, first_paragraph, plain, table
from verify.checking.argument import Rule
from verify.checking.doors import with_doors
from verify.checking.registry import ids, packages
from verify.language.expressions import PRIMITIVES, RELATIONS, Case, to_data
from verify.language.heads.scopes import Iterate
from verify.rechecker.clauses import KINDS
from verify.rechecker.deduction.facts import KNOWN
from verify.rechecker.kinds.deductions import RULES


def verbs() -> str:
    """Return a section for each command: what it does, its arguments, its options, an example."""
    from verify.reports.command_line import app

    commands: Any = typer.main.get_command(app)
    return "\n\n".join(part for name, command in commands.commands.items() for part in _verb(name, command))


def _verb(name: str, command: Any) -> Iterator[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(["verify", name, *(p.metavar or p.name.upper() for p in arguments)])
    yield f"## {name}"
    yield f"```text\n{usage}{' [options]' if options else ''}\n```"
    yield from map(plain, cleandoc(command.help).split("\n\n"))
    if options:
        yield table(("option", "default", "meaning"), map(_option, options))
    yield f"```sh\n{command.epilog.removeprefix('Example: ')}\n```"


def _option(option: Any) -> tuple[str, str, str]:
    # A flag takes no value.
    kind = "NUMBER" if option.type_descriptor.annotation in (int, float) else "TEXT"
    value = "" if option.is_flag else f" {option.metavar or kind}"
    hidden = option.is_flag or option.multiple or option.default in (None, "")
    return code(option.opts[0] + value), "" if hidden else code(str(option.default)), plain(option.help or "")


_GROUP = re.compile(r"^# (.+)\.$|^from \S+ import (\w+) as \w+$", re.MULTILINE)


def groups() -> dict[str, list[str]]:
    """Return the public names by the headings of `verify/__init__.pyi`."""
    text = Path(verify.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for heading, name in _GROUP.findall(text):
        if heading:
            found[heading] = []
        else:
            found[list(found)[-1]].append(name)
    return found


def names_table() -> str:
    """Return a table for each group of the public names, with the first paragraph of each name's docstring."""
    parts = []
    for heading, names in groups().items():
        rows = ((code(name), plain(first_paragraph(getattr(verify, name).__doc__))) for name in names)
        parts += [f"## {heading}", table(("name", "what it is"), rows)]
    return "\n\n".join(parts)


def python_names() -> str:
    """Return a section for each group of the public names, with an autodoc directive for each name."""
    parts = ["# All public names"]
    for heading, names in groups().items():
        parts += [f"## {heading}", "```{eval-rst}", *(_documented(name) for name in names), "```"]
    return "\n".join(parts)


def _documented(name: str) -> str:
    kind = "class" if isinstance(getattr(verify, name), type) else "function"
    members = "   :members:\n" if kind == "class" else ""
    return f".. auto{kind}:: verify.{name}\n{members}"


def expressions() -> str:
    """Return the heads of the language, each with an example and the data that the digest covers."""
    rows = ((name, example, to_data(example)) for name, example in EXAMPLES.items())
    written = ((code(name), code(str(example)), code(str(data).replace("'", '"'))) for name, example, data in rows)
    return table(("head", "an example", "its data"), written)


def _examples() -> dict[str, Any]:
    x, y, n = sp.symbols("x y n")
    matrix = sp.Symbol("A", commutative=False)
    word = sp.Symbol("attend")
    relations = {name: kind(x, y, evaluate=False) for name, kind in RELATIONS.items()}
    k = sp.Symbol("k", integer=True)
    operations = (
        *(Case(word, x, y), x + y, x * y, x**n, sp.exp(x), sp.log(x), sp.Tuple(x, y)),
        *(sp.Derivative(x**2, x), sp.Subs(x**2, x, y), sp.Limit(1 / x, x, sp.oo), sp.transpose(matrix)),
        *(head(x) for head in (sp.Abs, sp.sign, sp.floor, sp.ceiling, sp.factorial, sp.sin, sp.cos, sp.tan, sp.atan)),
        *(head(x) for head in (sp.sinh, sp.cosh, sp.tanh)),
        *(sp.Max(x, y), sp.Min(x, y), sp.binomial(n, y), sp.Piecewise((x, x < y), (y, True))),
        *(sp.Sum(x**k, (k, 0, n)), sp.Product(x + k, (k, 1, n)), Iterate(0, n, (k, x), (y,), (x / 2,))),
    )
    return relations | {type(example).__name__: example for example in operations}


EXAMPLES = _examples()
"""An example of each head; a test compares the names with those of the language."""


def clauses() -> str:
    """Return a table of the kinds of clause: the class of each, and the claim that it makes."""
    known = [getattr(verify, name) for name in groups()["Kinds of clause, and the data of their proofs"]]
    kinds = [kind for kind in known if isinstance(kind, type) and hasattr(kind, "to_data") and hasattr(kind, "prove")]
    return table(
        ("clause", "what it claims"),
        ((code(kind.__name__), plain(first_paragraph(kind.__doc__))) for kind in kinds),
    )


def primitives(theorems: Iterable[str] | None = None) -> str:
    """Return a table of the primitives that the given theorems define, by default all installed theorems.

    The table shows each primitive's version and value, and the door to its second computation.
    """
    for name in ids("theorem") if theorems is None else theorems:
        verify.load_theorem(name)
    brought = with_doors()[0].brought
    rows = (
        (
            code(name),
            str(known.version),
            plain(first_paragraph(known.evaluate.__doc__)),
            str(brought.get(("primitives", f"{name}/{known.version}"), "none")),
        )
        for name, known in sorted(PRIMITIVES.items())
        if known.evaluate.__module__.partition(".")[0] in packages()
    )
    return table(("primitive", "version", "value", "second computation"), rows)


def proofs() -> str:
    """Return a section for each kind of proof: the clauses and outcomes that it shows, its data, and its check."""
    parts = []
    for name, kind in KINDS.items():
        shows = "; ".join(f"{code(clause)} {' or '.join(outcomes)}" for clause, outcomes in kind.shows.items())
        scope = "for all parameters" if kind.for_all else "at the instance"
        keys = ", ".join(map(code, [*kind.keys.split(), *kind.more])) or "none"
        checked = _without_subject(cleandoc(kind.check.__doc__ or ""))
        parts += [f"## {name}", f"Shows {shows}, {scope}. Data: {keys}.", *map(plain, checked.split("\n\n"))]
    return "\n\n".join(parts)


def deductions() -> str:
    """Return a table of the rules of a deduction, and one of the facts that a deduction may use."""
    told = _by_text({name: cleandoc(rule.__doc__ or "") for name, (_, rule) in RULES.items()})
    facts = {name: fact.func if isinstance(fact, partial) else fact for name, (_, _, fact) in KNOWN.items()}
    known = _by_text({name: cleandoc(fact.__doc__ or "") for name, fact in facts.items()})
    return "\n\n".join((table(("rule", "what it shows"), told), table(("known", "fact"), known)))


def _by_text(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield for each text the names that have it, and the text."""
    for text in dict.fromkeys(texts.values()):
        yield ", ".join(code(name) for name, its in texts.items() if its == text), plain(text)


def _without_subject(documentation: str) -> str:
    """Leave out the first sentence's part before its colon: it names the clause, which the page names already."""
    subject, colon, rest = documentation.partition(": ")
    if not colon or "." in subject:
        return documentation
    return rest[:1].upper() + rest[1:]


def rules(known: Iterable[Rule]) -> str:
    """Return a table of rules of inference."""
    rows = ((code(rule.name), rule.kind, plain(rule.says), plain(rule.reference)) for rule in known)
    return table(("rule", "kind", "says", "reference"), rows)
