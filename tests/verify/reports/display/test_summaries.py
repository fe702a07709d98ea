"""`verify show` prints each part of a theorem with its standing, and each setting of an experiment."""

import dataclasses
import json

import pytest
import sympy as sp

import verify
from verify import Dynamics, Inequality, Parameter, Reaches, Source, Statement, Theorem
from verify.outcomes import standings

x, z = sp.symbols("x z", positive=True)
TWICE = sp.Symbol("twice", real=True)
STATEMENT = Statement(
    (Parameter("x", "rational", "a number", above=0), Parameter("kind", "word", "which", words=("one", "two"))),
    (
        Inequality("larger", sp.Gt(TWICE, x)),
        Reaches("halved", Dynamics((z,), (x,), (z / 2,), z**2, "E"), sp.Rational(1, 100)),
    ),
    (verify.Hypothesis("small", sp.Lt(x, 3)),),
    definitions={TWICE: 2 * x},
)
MINE = Theorem("user.mine", "a title", Source("1", "derived here"), STATEMENT, {"x": 2, "kind": "two"})


def test_each_part_of_a_statement_is_shown():
    shown = verify.show(MINE)
    lines = [" ".join(line.split()) for line in str(shown).splitlines()]
    for line in (
        *("user.mine", "a title", "x number > 0 a number", "kind one | two which", "twice = 2*x", "small x < 3"),
        *("recursion of halved", "z from x; next z/2", "observable E z**2", "larger twice > x open"),
    ):
        assert line in lines
    # No digest covers the observable's name; a table has the name only if one is given.
    named = STATEMENT.claims[1].dynamics
    unnamed = dataclasses.replace(named, name="")
    assert unnamed.to_data() == named.to_data()
    assert (unnamed.title, unnamed.name) == ("observable", "")
    # The theorem cannot be named on the command line.
    assert "verify check" not in str(shown)
    body = json.loads(json.dumps(shown.to_json()))
    assert body["parameters"][0] == {"name": "x", "domain": "number > 0", "meaning": "a number"}
    assert body["recursions"] == [
        {
            "claims": ["halved"],
            "state": [{"name": "z", "start": "x", "next": "z/2"}],
            "observable": "z**2",
            "observable_name": "E",
        }
    ]
    assert body["definitions"] == [{"name": "twice", "definition": "2*x"}]
    assert body["example"] == {"x": 2, "x_float": 2.0, "kind": "two"}
    assert (body["for_all_parameters"], body["paper"], body["best_instance_evidence"]) == ("open", None, None)
    assert "<td>larger</td>" in shown._repr_html_() and "user.mine: a title" in repr(shown)


def test_each_claim_is_shown_with_its_standing_and_further_commands(cli):
    code, out, err = cli("show", "wang2024.theorem1")
    assert (code, err) == (0, "")
    known = verify.prove("wang2024.theorem1", seconds=1)
    for label in ("reached", "stays"):
        assert standings(known.clauses)[label].text() in " ".join(out.split())
    assert "verify check wang2024.theorem1 T=9 q=2 d=1 eta=1/20 eps=1/200" in out
    listed = next(row for row in verify.list_theorems("wang2024") if row["id"] == "wang2024.theorem1")
    body = json.loads(cli("show", "wang2024.theorem1", "--json")[1])
    same = ("title", "paper", "source", "for_all_parameters", "inferences_argued", "inferences_own")
    assert {key: body[key] for key in same} == {key: listed[key] for key in same}
    assert [claim["label"] for claim in body["claims"]] == [claim["label"] for claim in listed["claims"]]
    assert "| claim |" in cli("show", "wang2024.theorem1", "--format", "markdown")[1]


def test_a_statement_in_a_line_is_quoted_in_the_commands(cli):
    code, out, _ = cli("show", "x**2 >= 0 for x > 1")
    assert code == 0 and "verify prove 'x**2 >= 0 for x > 1'" in out and "`verify prove`" in out


def test_an_experiment_shows_each_setting_with_both_values(cli):
    experiment = verify.load_experiment("wang2024.figure1")
    code, out, err = cli("show", experiment.id)
    assert (code, err) == (0, "") and out.rstrip().endswith("verify simulate wang2024.figure1")
    rows = json.loads(cli("show", experiment.id, "--json")[1])["settings"]
    assert [row["name"] for row in rows] == [setting.parameter.name for setting in experiment.settings]
    steps = next(row for row in rows if row["name"] == "steps")
    assert (steps["quick"], steps["full"], steps["domain"]) == (800, 100_000, "integer >= 1")
    assert "steps" in verify.show(experiment.id)._repr_html_() and experiment.title in repr(verify.show(experiment.id))


def test_experiments_are_listed(cli):
    rows = verify.list_experiments("li2024")
    assert [row["experiment"] for row in rows] == [name for name in verify.ids("experiment") if "li2024" in name]
    code, out, err = cli("list", "--experiments", "--paper", "li2024")
    assert (code, err) == (0, "") and all(row["experiment"] in out for row in rows)
    assert json.loads(cli("list", "--experiments", "--paper", "li2024", "--json")[1])["experiments"] == rows
    with pytest.raises(verify.InputError, match="paper = zeta: has no experiments here"):
        verify.list_experiments("zeta")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "wang2024.nothing"), "unknown id"),
        (("check", "wang2024.figure1"), "is not of kind theorem: use `verify simulate`"),
        (("simulate", "wang2024.theorem1"), "is not of kind experiment: use `verify check`"),
    ],
)
def test_another_name_is_answered_with_what_takes_it(cli, arguments, said):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1
