"""Rocq is given a theorem's formal texts and its exported statement; two commands make a user's theorem formal."""

import json
from dataclasses import replace

import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line, body_of
from verify.checking.formal.record import kernel_of
from verify.formal import __main__ as command
from verify.formal.kernel.acceptance import accepted
from verify.formal.kernel.running import NEEDED
from verify.outcomes import ForAll

x = sp.Symbol("x", real=True)
HALVES = ("positive", "below")
MINE = """
import sympy as sp
import verify

x, y = sp.symbols("x y", positive=True)
means = verify.Theorem(
    "user.means",
    "the product is at most the square of the mean",
    verify.Source("1", "derived here"),
    verify.Statement(
        tuple(verify.Parameter(name, "rational", "a number", above=0) for name in ("x", "y")),
        (verify.Inequality("means", sp.Le(x * y, ((x + y) / 2) ** 2)),),
    ),
    {"x": 1, "y": 2},
)
"""


def halves(package, **proofs):
    """Return a theorem whose claims have propositions of a package as formal texts, each with its Rocq theorem."""
    claims = tuple(verify.Inequality(label, sp.Ge(x**2 + 1, x)) for label in proofs)
    formal = {
        label: verify.formal_text(package, {f"Halves.claims.{label}": f"Halves.proofs.{proof}"})
        for label, proof in proofs.items()
    }
    statement = verify.Statement((verify.Parameter("x", "rational", "a number"),), claims, formal=formal)
    return verify.Theorem("user.halves", "halves", verify.Source("1", "derived here"), statement, {"x": 1})


@pytest.fixture
def mine(tmp_path):
    """Return the path of a user's file."""
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    return str(path)


@pytest.mark.formal
def test_formal_texts_are_accepted_and_a_proof_of_another_proposition_is_not(halves_package, tmp_path):
    right = halves(halves_package, **{label: f"{label}_holds" for label in HALVES})
    found = accepted(right, tmp_path)
    assert (found.entry["typed"]["claims"], found.refused) == (sorted(HALVES), ())
    known = kernel_of(right, found.entry, "compiled").clauses["below"]
    assert known.how == "statement typed, 1 definition" and known.by == "compiled"
    wrong = accepted(halves(halves_package, positive="positive_holds", below="positive_holds"), tmp_path)
    assert wrong.entry["typed"] == {"claims": [], "files": ""}
    assert "the formal text: " in wrong.refused[0] and "claims.below" in wrong.refused[0]
    stated = kernel_of(right, wrong.entry, "compiled").clauses
    assert "below" not in {label for label, formal in stated.items() if "typed" in formal.how}


@pytest.mark.formal
@pytest.mark.parametrize(
    ("proof", "said"),
    [
        ("Axiom bad : False. Theorem positive_holds : claims.positive. Proof. destruct bad. Qed.", "bad is assumed"),
        ("Theorem positive_holds : claims.positive. Admitted.", "positive_holds is assumed"),
        ("Theorem positive_holds : claims.positive. Proof. unfold claims.positive, half. Qed.", "halves/proofs.v"),
    ],
)
def test_a_proof_that_is_none_is_refused(halves_package, halves_folder, tmp_path, proof, said):
    head = "Require Import Reals. From Halves Require Import definitions. From Halves Require claims.\n"
    (halves_folder / "proofs.v").write_text(head + proof, encoding="utf-8")
    found = accepted(halves(halves_package, positive="positive_holds"), tmp_path)
    assert not found.entry["typed"]["claims"] and said in found.refused[0]


@pytest.mark.formal
def test_texts_are_compiled_again_after_a_file_changes(halves_package, halves_folder, tmp_path):
    theorem = halves(halves_package, positive="positive_holds")
    assert accepted(theorem, tmp_path).entry["typed"]["claims"]
    path = halves_folder / "definitions.v"
    path.write_text(path.read_text(encoding="utf-8").replace("1 / 2", "- (1 / 2)"), encoding="utf-8")
    assert not accepted(theorem, tmp_path).entry["typed"]["claims"]


@pytest.mark.formal
def test_nothing_is_accepted_under_hypotheses_that_contradict_each_other(tmp_path):
    hypotheses = (verify.Hypothesis("high", sp.Ge(x, 1)), verify.Hypothesis("low", sp.Le(x, 0)))
    claim = verify.Inequality("claim", sp.Ge(x**2 + 1, 2 * x))
    statement = verify.Statement((verify.Parameter("x", "rational", "a number"),), (claim,), hypotheses)
    theorem = verify.Theorem("user.empty", "nothing", verify.Source("1", "derived here"), statement, {"x": 1})
    found = accepted(theorem, tmp_path)
    assert found.entry["exported"]["clauses"] == []
    assert "the example is not proved to satisfy the hypotheses" in found.refused


@pytest.mark.formal
def test_a_users_file_is_formal_by_two_commands(cli, mine, tmp_path):
    code, out, _ = cli("export", mine, "--to", "rocq", "--out", str(tmp_path / "rocq"))
    assert code == 0 and "1 with a proof" in out and (tmp_path / "rocq" / "Statement.v").is_file()
    code, out, _ = cli("prove", "--formal", mine)
    assert code == 0 and out.splitlines()[-1].startswith("formal (statement exported), compiled with Rocq 8.")
    assert verify.prove(mine).for_all_parameters.standing is ForAll.PROVED


@pytest.mark.formal
def test_proofs_that_rocq_refuses_are_not_formal_and_the_reason_is_shown(cli, mine, monkeypatch):
    def proof(stated, clause, *_):
        name = stated.claims[clause["label"]]
        return f"Axiom bad : False.\nTheorem {name} : Statement.{name}.\nProof. case bad. Qed.\n"

    monkeypatch.setattr("verify.formal.export.proof_of", proof)
    code, out, _ = cli("prove", "--formal", mine, "--json")
    body = body_of(out)
    assert (code, body["for_all_parameters"], body["formal"]) == (0, "proved", None)
    assert "bad is assumed, which is not an axiom of Rocq's real numbers" in body["not_formal"]


@pytest.mark.formal
@pytest.mark.audit
def test_the_command_records_what_is_accepted_and_skips_it_then(halves_package, tmp_path, monkeypatch, capsys):
    theorem = halves(halves_package, positive="positive_holds")
    for place in ("verify.checking.formal.record", "verify.formal.__main__"):
        monkeypatch.setattr(f"{place}.package_of", lambda name: halves_package)
    monkeypatch.setattr(command, "load_theorem", lambda name: theorem)
    assert command.main(tmp_path / "build", [theorem.id]) == 0
    assert "coqchk: accepts 4 files" in capsys.readouterr().out
    (entry,) = json.loads((tmp_path / halves_package / "formal.json").read_text(encoding="utf-8")).values()
    assert entry["typed"]["claims"] == ["positive"] == entry["exported"]["clauses"]
    assert "Coq.Reals.ClassicalDedekindReals.sig_forall_dec" in entry["axioms"] and entry["libraries"]["Coquelicot"]
    assert command.main(tmp_path / "build", [theorem.id]) == 0
    assert capsys.readouterr().out == "user.halves: as recorded\n"
    theorem = replace(theorem, statement=replace(theorem.statement, formal={}))
    # Rocq's checker would read the libraries that these files require again, which takes a minute each time.
    monkeypatch.setattr(command, "checked", lambda *_: ("", frozenset()))
    assert command.main(tmp_path / "build", [theorem.id]) == 0
    assert "as recorded" not in capsys.readouterr().out


def test_without_rocq_it_is_said_in_one_line(cli, mine, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("verify.formal.kernel.running.shutil.which", lambda name: None)
    assert_one_line(cli("prove", "--formal", mine), f"--formal = user.means: rocq: not run; it needs {NEEDED}")
    assert command.main(tmp_path, ["wang2024.lemma1"]) == 0
    assert capsys.readouterr().out == f"rocq: not run; it needs {NEEDED}\n" and not list(tmp_path.glob("wang*"))
