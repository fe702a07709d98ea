"""The files of an export, its refusals, and the reasons that it gives."""

import re

import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line, body_of
from theorems.sparse_token_selection.gain_primitives import attention_gain
from verify.formal.export import FILES, export

HOSTILE = "*) Axiom bad = False (*"
x = sp.Symbol("x", real=True)


def theorem_of(*claims, hypotheses=()):
    statement = verify.Statement((verify.Parameter("x", "rational", "a number"),), claims, hypotheses)
    return verify.Theorem("user.mine", "mine", verify.Source("1", "derived here"), statement, {"x": 2})


def test_a_hostile_label_stays_inside_a_comment(tmp_path):
    hostile = verify.Hypothesis("large", sp.Ge(x, 1), text=HOSTILE)
    files = verify.export(
        theorem_of(verify.Inequality(HOSTILE, sp.Ge(x**2, x), says=HOSTILE), hypotheses=(hostile,)),
        to="rocq",
        out=tmp_path,
    ).files
    for text in files.values():
        assert "Axiom" not in re.sub(r"\(\*[^*]*\*\)|\b\w*u2a_\w*", "", text)
    assert files["Statement.v"].count("Axiom bad = False") == 3


def test_the_same_statement_gives_the_same_bytes(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        verify.export("wang2024.one_hot_rate", to="rocq", out=folder)
    assert [p.read_bytes() for p in sorted(first.iterdir())] == [p.read_bytes() for p in sorted(second.iterdir())]


def test_clauses_not_exported_are_listed_with_their_reasons(tmp_path):
    found = verify.export("wang2024.one_hot_rate", to="rocq", out=tmp_path)
    rest = {clause.label: clause for clause in found.clauses if clause.exported != "proof"}
    assert rest and all(clause.why for clause in rest.values())
    text = found.files["Statement.v"]
    assert all(f"Not exported: {label}:" in text for label, c in rest.items() if c.exported == "nothing")


def test_a_clause_that_is_not_proved_has_a_statement_and_no_proof(tmp_path):
    open_claim = verify.Inequality("c", sp.Ge(sp.sin(x) ** 2, sp.sin(x)))
    found = verify.export(theorem_of(open_claim), to="rocq", out=tmp_path, seconds=1)
    assert [(c.exported, c.why) for c in found.clauses] == [("statement", "it is not proved for all parameters")]
    assert "claim_c" in found.files["Statement.v"] and "claim_c" not in found.files["Proof.v"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        # The prover replaces exp(log(d/2)) by d/2; the tactic that compares two sides does not.
        ("2*exp(-n) <= d if n == log(2/d) for 0 < d < 1", "an exponential of a logarithm that is a power"),
        (
            "4*x**6 + 2*x**4*y**3 + 5*x*y**7 >= -3.84 for -1 <= x <= 1, -1 <= y <= 1",
            "the rule box is not exported",
        ),
    ],
)
def test_a_proof_that_is_not_exported_is_left_out(line, why, tmp_path):
    (clause,) = verify.export(line, to="rocq", out=tmp_path).clauses
    assert clause.exported == "statement" and why in clause.why


def test_a_hypothesis_that_is_not_exported_is_not_supposed(tmp_path):
    enclosed = verify.Hypothesis("enclosed", sp.Gt(x, attention_gain(3, 3, 2, 1)), text="x is large")
    square, sign = verify.Inequality("square", sp.Ge(x**2, 2 * x - 1)), verify.Inequality("sign", sp.Ge(x, 0))
    found = verify.export(theorem_of(square, sign, hypotheses=(enclosed,)), to="rocq", out=tmp_path, seconds=20)
    # Without the hypothesis the claim with a proof is stronger, and is exported; the other claim may be false.
    assert [(c.label, c.exported) for c in found.clauses] == [("square", "proof"), ("sign", "nothing")]
    text = found.files["Statement.v"]
    assert "Not exported, and so not supposed below: enclosed: Primitive is not exported" in text
    assert "hypothesis_enclosed" not in text


def test_another_proof_assistant_is_refused(cli, tmp_path):
    result = cli("export", "wang2024.lemma1", "--to", "lean", "--out", str(tmp_path))
    assert_one_line(result, "--to = lean: must be rocq")


def test_a_file_that_is_no_export_is_not_overwritten(cli, tmp_path):
    (tmp_path / "Proof.v").write_text("Mine.")
    result = cli("export", "x**2 >= 0", "--to", "rocq", "--out", str(tmp_path))
    assert_one_line(result, "exists and is not an export of a statement; not overwritten")
    assert [path.name for path in tmp_path.iterdir()] == ["Proof.v"]


def test_the_command_says_what_is_exported(cli, tmp_path):
    code, out, _ = cli("export", "x**2 + 1 >= 2*x", "--to", "rocq", "--out", str(tmp_path), "--json")
    said = body_of(out)
    assert code == 0 and [clause["exported"] for clause in said["clauses"]] == ["proof"] and said["example"] is True
    assert sorted(said["files"]) == sorted(map(str, tmp_path.iterdir()))


def test_the_command_names_the_files_that_it_writes(cli, tmp_path):
    _, out, _ = cli("export", "x**2 + 1 >= 2*x", "--to", "rocq", "--out", str(tmp_path))
    assert out.splitlines()[-1] == f"wrote {', '.join(str(tmp_path / name) for name in FILES)}"


def test_a_proof_too_long_for_the_checker_is_left_out(monkeypatch):
    line = verify.claim("2*x*y <= x**2 + y**2")
    assert [clause.exported for clause in export(line).clauses] == ["proof"]
    monkeypatch.setattr("verify.formal.export.LONGEST", 10)
    (clause,) = export(line).clauses
    assert clause.exported == "statement" and re.fullmatch(r"its proof has \d+ characters, more than .*", clause.why)


t = sp.Symbol("t", real=True)


@pytest.mark.parametrize(
    "relation",
    [
        # A logarithm of a bound symbol, a logarithm of 0 at x = 2, and a logarithm of an irrational number there.
        sp.Subs(sp.Derivative(sp.log(t**2 * (x**2 + 1) + 1), t), t, 2) > 0,
        sp.log(x - 2) + x > 0,
        sp.log(1 + sp.exp(x)) > 1,
    ],
)
def test_a_logarithm_that_is_none_of_a_rational_number_has_no_bounds(relation):
    hypothesis = verify.Hypothesis("logarithm", relation)
    found = export(theorem_of(verify.Inequality("claim", sp.Ge(x**2, 2 * x - 1)), hypotheses=(hypothesis,)), seconds=1)
    assert "ln_of_squared" not in found.files["Proof.v"]
