"""Rocq accepts exported files, and refuses them if the statement, the translation or the certificate is wrong."""

import re

import pytest
import sympy as sp

import verify
from verify.formal.__main__ import main
from verify.formal.export import export
from verify.formal.kernel.compiling import accepted_part, compiled, logical_name, rechecked
from verify.formal.kernel.running import NEEDED, checked_alone, not_run

pytestmark = pytest.mark.formal
SQUARES = "(x - y)**2 + 1/(1 + z) > 0 if z >= x, x >= 1 for x real, y real, z real"
RATIO = "x/(1 + z) > 0 if x >= 1 for x real, z > 0"
SUM = {"rule": "sum", "times": ["Integer", "1"]}
NEGATION = """
From Coq Require Import Reals ZArith Lra Lia.
Require Statement.
Local Open Scope R_scope.
Theorem not_claim : ~ Statement.claim_claim.
Proof.
  unfold Statement.claim_claim, Statement.in_domain; intro H; specialize (H {witness}).
  repeat match type of H with ?A -> _ => assert (P : A) by (unfold Statement.hypothesis_claim; lra);
    specialize (H P); clear P end.
  {contradiction}
Qed.
"""


def written(line, folder, **more):
    """Export a statement in a line to a new folder."""
    folder.mkdir()
    found = export(verify.claim(line), **more)
    found.write(folder)
    return found


def changed(folder, name, old, new):
    """Replace a text that a file contains by another one."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    [
        SQUARES,
        RATIO,
        # Relations between numbers, in which exponentials and logarithms have bounds.
        "exp(3/5) <= 183/100",
        "log(2) > 693147/1000000",
        "sqrt(3)/18 >= 1/16",
        # A logarithm of a parameter.
        "4*log(t) <= t**2 for t > 0",
        # The mean of the three cubes is at least the cube root of their product.
        "x**3 + y**3 + z**3 >= 3*x*y*z for x >= 0, y >= 0, z >= 0",
    ],
)
def test_a_statement_in_a_line_is_accepted_on_the_axioms_of_the_reals(tmp_path, line):
    assert [c.exported for c in written(line, tmp_path / "it").clauses] == ["proof"]
    found = compiled(tmp_path / "it")
    assert found.accepted, found.refused
    assert "Coq.Reals.ClassicalDedekindReals.sig_forall_dec" in found.axioms


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  hypothesis_hypothesisu20_1 x z ->\n", ""),
        ("0 < z", "0 <= z"),
        ("1 + z <> 0 /\\ ", ""),
    ],
    ids=["hypothesis dropped", "another domain", "no definedness"],
)
def test_a_statement_that_was_changed_is_not_accepted(tmp_path, old, new):
    written(RATIO, tmp_path / "it")
    changed(tmp_path / "it", "Statement.v", old, new)
    assert not compiled(tmp_path / "it").accepted


TWICE = "x >= 0 if log(2*x) + log(x + 2) >= 2 for x >= 2"
ROOTS = "x*log(y) <= x*y if 7/2 <= x*log(4*sqrt(2)*y*sqrt(x)**3/3), x*log(y) <= 3 for x > 0, y > 0"


@pytest.mark.parametrize("line", [ROOTS, TWICE], ids=["roots", "two logarithms of one number"])
def test_an_example_satisfies_hypotheses_with_logarithms(tmp_path, line):
    found = written(line, tmp_path / "it")
    assert found.example and compiled(tmp_path / "it").accepted


def test_an_example_with_a_bound_of_another_logarithm_is_refused(tmp_path):
    written(ROOTS, tmp_path / "it")
    text = (tmp_path / "it" / "Proof.v").read_text(encoding="utf-8")
    (square,) = set(re.findall(r"ln_of_squared (\(\d+ / 9\))", text))
    changed(tmp_path / "it", "Proof.v", f"ln_of_squared {square}", "ln_of_squared (31 / 9)")
    assert "Proof.v" in compiled(tmp_path / "it").refused


def test_natural_numbers_are_not_accepted_for_integers(tmp_path):
    line = "n*(n - 1) >= n - 1 for integer n"
    assert written(line, tmp_path / "right").clauses[0].exported == "proof" and compiled(tmp_path / "right").accepted
    written(line, tmp_path / "wrong")
    for old, new in (("n : Z", "n : nat"), ("IZR n", "INR n")):
        changed(tmp_path / "wrong", "Statement.v", old, new)
    refused = compiled(tmp_path / "wrong").refused
    # The statement about natural numbers compiles, but the proof is for the statement about integers.
    assert "Proof.v" in refused or "Check.v" in refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Theorem claim_claim : Statement.claim_claim. Admitted.\n", "claim_claim is assumed"),
        ("Axiom bad : False. Theorem claim_claim : Statement.claim_claim. Proof. case bad. Qed.\n", "bad is assumed"),
        ("Theorem claim_claim : True. exact I. Qed.\n", "Check.v"),
    ],
)
def test_a_proof_that_is_none_is_not_accepted(tmp_path, text, said):
    written("x**2 + 1 > 2*x - 1", tmp_path / "it")
    example = "Theorem example_in_scope : Statement.example_in_scope. exact I. Qed.\n"
    (tmp_path / "it" / "Proof.v").write_text(f"Require Statement.\n{text}{example}")
    found = compiled(tmp_path / "it")
    assert not found.accepted and said in found.refused


def test_a_mutated_certificate_fails_where_it_was_mutated_and_its_twin_compiles(tmp_path):
    one, root = ["Integer", "1"], ["Add", ["Symbol", "x", "real"], ["Integer", "-1"]]
    for name, factor in (("right", "1"), ("wrong", "2")):
        tree = {**SUM, "terms": [[["Integer", factor], [], root], [one, [], None]]}
        proof = {"kind": "deduction", "relations": [], "tree": tree}
        written("x**2 + 2 > 2*x", tmp_path / name, proofs={"claim": proof})
    assert compiled(tmp_path / "right").accepted
    refused = compiled(tmp_path / "wrong").refused
    lines = (tmp_path / "wrong" / "Proof.v").read_text(encoding="utf-8").splitlines()
    place = next(i for i, line in enumerate(lines, 1) if "positive_by_multiple _ _" in line)
    assert f'"./Proof.v", line {place},' in refused


u, x = sp.Symbol("u", real=True), sp.Symbol("x", real=True)


@pytest.mark.parametrize(
    ("left", "right", "old", "new"),
    [
        # By hand: the second derivative of x³ e^{2x} is (6 x + 12 x² + 4 x³) e^{2x}; the third derivative of x³ is 6.
        (
            sp.Derivative(x**3 * sp.exp(2 * x), (x, 2)),
            (6 * x + 12 * x**2 + 4 * x**3) * sp.exp(2 * x),
            "12 * x",
            "13 * x",
        ),
        (sp.Derivative(x**3, (x, 3)), sp.Integer(6), "3%nat", "2%nat"),
        # 1/(1 + x²) has a value everywhere; its second derivative at 0 is −2.
        (sp.Subs(sp.Derivative(1 / (1 + x**2), (x, 2)), x, 0), sp.Integer(-2), "- 2", "2"),
        (sp.Limit((x * (1 + u) - x) / u, u, 0, "+"), x, "= x", "= x + 1"),
        # The divisor 1 + 1/u is infinite at 0.
        (sp.Limit(1 / (1 + 1 / u), u, 0, "+"), sp.Integer(0), "= 0", "= 1"),
        # The divisor u + u² is 0 at 0; u (1 + x + u)/(u + u²) tends to 1 + x.
        (sp.Limit(u * (1 + x + u) / (u + u**2), u, 0, "+"), 1 + x, "= 1 + x", "= x"),
    ],
)
def test_a_derivative_of_higher_order_and_a_limit_are_those_alone(tmp_path, left, right, old, new):
    for name in ("right", "wrong"):
        found = export(equation(left, right))
        assert [(c.exported, c.why) for c in found.clauses] == [("proof", "")]
        (tmp_path / name).mkdir()
        found.write(tmp_path / name)
    accepted = compiled(tmp_path / "right")
    assert accepted.accepted, accepted.refused
    changed(tmp_path / "wrong", "Statement.v", old, new)
    assert '"./Proof.v"' in compiled(tmp_path / "wrong").refused


def test_divisors_that_are_above_0_near_the_point_alone_are_shown_apart_from_0(tmp_path):
    # The divisors are y − 3 u and (y − u)/(y − 3 u) − u, and the fraction tends to y.
    y = sp.Symbol("y", positive=True)
    claim = verify.Identity("claim", sp.Limit((y - 2 * u) / ((y - u) / (y - 3 * u) - u), u, 0, "+"), y)
    statement = verify.Statement((verify.Parameter("y", "rational", "y", above=0),), (claim,))
    source = verify.Source("1", "derived here")
    export(verify.Theorem("user.mine", "mine", source, statement, {"y": 1})).write(tmp_path)
    found = compiled(tmp_path)
    assert found.accepted, found.refused


def equation(left, right, *, parameter="y"):
    """Return a theorem that claims an equation, with a parameter that the equation need not use."""
    parameters = (verify.Parameter(parameter, "rational", "a number"),)
    statement = verify.Statement(parameters, (verify.Identity("claim", left, right),), variables=(x,))
    return verify.Theorem("user.mine", "mine", verify.Source("1", "derived here"), statement, {parameter: 2})


@pytest.mark.parametrize(
    ("inside", "value", "why"),
    [
        (u * sp.exp(u) / u, 1, "not rational"),
        (sp.log(1 + u - u**2) / (1 + u), 0, "not rational"),
        (sum(x**k * (u + k) for k in range(80)) / (1 + u), 0, "more than 200 operations, or too high a degree"),
        (1 / u, 0, "infinite"),
        ((u + u**2) * (x + 1) ** (10**12) / u, 0, "too high a degree"),
        (sp.Pow(sp.sqrt(1 + u - u**2), 2, evaluate=False), 1, "whose sign is not found"),
    ],
)
def test_a_limit_whose_proof_is_not_exported_says_why(inside, value, why):
    theorem = equation(sp.Limit(inside, u, 0, "+"), sp.Integer(value))
    (clause,) = export(theorem, proofs={"claim": {"kind": "identity", "scope": [], "factors": []}}).clauses
    assert clause.exported == "statement" and why in clause.why


@pytest.mark.parametrize("name", ["at_right", "W", "I"])
def test_a_limit_has_a_proof_whatever_the_names_of_parameters(tmp_path, name):
    named = sp.Symbol(name, rational=True)
    # The limit has a number that is not in the statement: 1/1022117, the product of 1/1009 and 1/1013.
    inside = (named * u + u / 1009) * (u + sp.Rational(1, 1013)) / u
    theorem = equation(1009 * 1013 * sp.Limit(inside, u, 0, "+"), 1009 * named + 1, parameter=name)
    export(theorem).write(tmp_path)
    found = compiled(tmp_path)
    assert found.accepted and "claim_claim" in (tmp_path / "Proof.v").read_text(), found.refused


@pytest.mark.parametrize(
    ("line", "witness", "contradiction"),
    [
        ("x**2 >= x for x > 0", "(1 / 2)", "lra."),
        ("x**2 > 0", "0", "lra."),
        # At 1 the claim has no value; 1/0 = 0 satisfies the relation in Rocq.
        ("1/(x - 1) >= 0 if x >= 1", "1", "destruct H as [H _]; apply H; lra."),
        ("sqrt(x) >= 0", "(- 1)", "destruct H as [H _]; lra."),
    ],
)
def test_the_negation_of_a_false_statement_is_proved_at_its_witness(tmp_path, line, witness, contradiction):
    found = written(line, tmp_path / "it", seconds=1)
    assert [c.exported for c in found.clauses] == ["statement"]
    hypotheses = [part for part in found.files["Statement.v"].split() if part.startswith("hypothesis_")]
    text = NEGATION.format(witness=witness, contradiction=contradiction)
    named = f"unfold Statement.{hypotheses[0]}; lra" if hypotheses else "lra"
    text = text.replace("unfold Statement.hypothesis_claim; lra", named)
    (tmp_path / "it" / "Proof.v").write_text(text, encoding="utf-8")
    (tmp_path / "it" / "Check.v").write_text("Require Proof.\nPrint Assumptions Proof.not_claim.\n")
    found = compiled(tmp_path / "it")
    assert found.accepted, found.refused


CONSTANT = {"kind": "constant", "bits": 64, "margin": ["0", "1"]}
MEAN = {"rule": "known", "name": "mean", "then": {**SUM, "terms": [[["Integer", "1"], [0], None]]}}


@pytest.mark.parametrize(
    ("line", "proof", "refused"),
    [
        ("exp(2) <= 37/5", CONSTANT, ""),
        ("exp(2) <= 7", CONSTANT, "lra."),
        ("sqrt(3)/18 >= 1/10", CONSTANT, "lra."),
        # For x >= 1 the geometric mean of x and 1 is at least 1, but it is not always at least 2.
        ("x + 1 >= 2 if x >= 1 for x >= 0", ["Integer", "1"], ""),
        ("x + 1 >= 4 if x >= 1 for x >= 0", ["Integer", "2"], "by_mean (2)"),
    ],
)
def test_a_known_fact_is_accepted_where_it_is_true_alone(tmp_path, line, proof, refused):
    if proof is not CONSTANT:
        tree = {**MEAN, "of": [proof, ["Symbol", "x", "nonnegative", "real"], ["Integer", "1"]]}
        proof = {"kind": "deduction", "relations": [], "tree": tree}
    found = written(line, tmp_path / "it", proofs={"claim": proof})
    assert [c.exported for c in found.clauses] == ["proof"]
    result = compiled(tmp_path / "it")
    lines = found.files["Proof.v"].splitlines()
    assert result.accepted == (not refused) and refused in lines[result.line - 1]


def test_a_proof_that_rocq_refuses_is_left_out_and_the_others_are_accepted(tmp_path, monkeypatch):
    def proof(stated, clause, *data):
        name = stated.claims[clause["label"]]
        return f"Theorem {name} : Statement.{name}.\nProof. {SCRIPTS[clause['label']]} Qed.\n"

    x = sp.Symbol("x", real=True)
    claims = (verify.Inequality("true", sp.Ge(x**2 + 1, 2 * x)), verify.Inequality("unproved", sp.Ge(x**2 + 1, x)))
    statement = verify.Statement((verify.Parameter("x", "rational", "a number"),), claims)
    theorem = verify.Theorem("user.mine", "mine", verify.Source("1", "derived here"), statement, {"x": 2})
    monkeypatch.setattr("verify.formal.export.proof_of", proof)
    exported, found, refused = accepted_part(theorem, tmp_path / "it")
    assert (found.accepted, refused) == (True, ("unproved",)), found.refused
    assert [(c.label, c.exported, c.why) for c in exported.clauses] == [
        ("true", "proof", ""),
        ("unproved", "statement", "Rocq refuses its proof"),
    ]


SCRIPTS = {"true": "intros x _; pose proof (pow2_ge_0 (x - 1)); lra.", "unproved": "intros; lra."}


def test_the_command_counts_the_proofs_and_names_the_clauses_that_are_left_out(tmp_path, capsys, monkeypatch):
    written_down = []
    monkeypatch.setattr("verify.formal.__main__.checked", lambda *_: ("", frozenset()))
    monkeypatch.setattr("verify.formal.__main__.write", written_down.append)
    assert main(tmp_path, ["ahn2023.lemma3"], every=True) == 0
    *others, total, checked = capsys.readouterr().out.splitlines()[1:]
    accepted, proved = (int(count) for count in total.split(" proofs ")[0].split(" of "))
    assert checked.startswith("coqchk: accepts") and len(others) == proved - accepted
    assert all(line.startswith("not exported: ahn2023.lemma3 ") for line in others)
    assert len(written_down[0]["ahn2023.lemma3"]["exported"]["clauses"]) == accepted


@pytest.mark.audit
def test_the_checker_reads_all_again(tmp_path):
    written(SQUARES, tmp_path / "it")
    assert compiled(tmp_path / "it").accepted
    assert rechecked([tmp_path / "it"]).accepted


def test_a_folder_has_a_name_for_rocq(tmp_path):
    assert logical_name(tmp_path / "line.1 a") == "Lemmascope_line_1_a"


def test_without_rocq_one_line_names_the_packages(monkeypatch):
    monkeypatch.setattr("verify.formal.kernel.running.shutil.which", lambda name: None)
    assert not_run() == f"rocq: not run; it needs {NEEDED}" and "coq" in NEEDED


def test_a_file_read_without_its_libraries_may_have_no_axiom(tmp_path):
    folder = tmp_path / "ratio"
    written(RATIO, folder)
    root, name = ("-R", str(folder), logical_name(folder)), f"{logical_name(folder)}.Proof"
    assert compiled(folder).accepted and checked_alone(folder, root, [name]) == ""
    text = (folder / "Proof.v").read_text(encoding="utf-8")
    (folder / "Proof.v").write_text(f"{text}\nAxiom bad : False.\n", encoding="utf-8")
    assert compiled(folder).accepted
    assert checked_alone(folder, root, [name]) == f"{name}.bad is assumed, which is not an axiom of Rocq's real numbers"
