"""The generated reference is complete."""

import typer

import verify
from docs.extensions import reference
from docs.extensions.markdown import code, first_paragraph, plain, table
from verify.checking.argument import RULES
from verify.language.expressions import HEADS, RELATIONS, to_data
from verify.rechecker.clauses import KINDS
from verify.reports.command_line import app


def sections(text):
    return {part.partition("\n")[0]: part for part in text.removeprefix("## ").split("\n\n## ")}


def test_every_verb_is_described_with_its_options_and_example():
    described, commands = sections(reference.verbs()), typer.main.get_command(app).commands
    assert set(described) == set(commands) and len(commands) > 10
    for name, command in commands.items():
        options = [p.opts[0] for p in command.params if p.param_type_name == "option" and p.name != "help"]
        assert all(f"`{option}" in described[name] for option in options)
        assert command.epilog.removeprefix("Example: ") in described[name]
    assert "| `--seconds NUMBER` | `60` |" in described["check"]
    assert "| `--paper TEXT` |" in described["list"]
    assert "| `--json` |  |" in described["check"] and "verify recheck CERTIFICATE ..." in described["recheck"]


def test_every_public_name_is_in_one_group():
    groups = reference.groups()
    names = [name for group in groups.values() for name in group]
    assert sorted(names) == sorted(verify.__all__) and len(groups) > 4
    text = reference.python_names()
    assert all(f":: verify.{name}\n" in text for name in names)
    assert ".. autoclass:: verify.Theorem\n   :members:" in text and ".. autofunction:: verify.check\n" in text


def test_every_head_of_the_language_has_an_example():
    assert set(reference.EXAMPLES) == {*HEADS, *RELATIONS}
    assert all(to_data(example)[0] == name for name, example in reference.EXAMPLES.items())
    assert '| `Add` | `x + y` | `["Add", ["Symbol", "x"' in reference.expressions()


def test_every_kind_of_clause_is_described():
    text = reference.clauses()
    assert all(f"| `{kind}` |" in text for kind in ("Inequality", "Reaches", "IsolatedRoot", "InWords"))
    assert "| `Tube` |" not in text


def test_primitives_say_whether_they_are_rechecked():
    text = reference.primitives(["ahn2023.theorem3", "wang2024.theorem2"])
    assert "| `wishart_trace_moment` | 1 |" in text
    (row,) = (line for line in text.splitlines() if "`wishart_trace_moment`" in line)
    (other,) = (line for line in text.splitlines() if "`gain_is_attained`" in line)
    assert row.endswith("| lemmascope.wishart/1 |") and other.endswith("| none |")


def test_every_kind_of_proof_says_what_it_shows():
    described = sections(reference.proofs())
    assert set(described) == set(KINDS)
    assert "Shows `inequality` verified, for all parameters. Data: `shifts`, `relations`." in described["positive"]
    assert "Shows `reaches` verified or refuted, at the instance." in described["tube"]
    # The name of the kind of clause does not occur twice.
    assert all("`, verified:" not in text and len(text) > 60 for text in described.values())


def test_every_rule_has_its_reference():
    text = reference.rules(RULES.values())
    assert all(f"| `{name}` |" in text for name in RULES) and len(text.splitlines()) == len(RULES) + 2


def test_markdown_shows_text_as_it_is():
    assert plain("a_b * |x|\n and `c_d | e`") == r"a\_b \* \|x\| and `c_d \| e`"
    assert code("a|b") == r"`a\|b`" and code("a`b") == "``a`b``"
    assert table(("a", "b"), [("1", "2\n3")]) == "| a | b |\n|---|---|\n| 1 | 2 3 |"
    assert first_paragraph("One.\n\n    Two.\n") == "One." and first_paragraph(None) == ""
