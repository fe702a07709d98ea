"""The output of `conditions`, `check`, `list` and `derive`: exit codes, JSON by the contract, interrupts."""

import math
import re
import subprocess
import sys
from fractions import Fraction

import mpmath
import pytest

from tests.verify.command_line import SCOPE, SMALL, THEOREM, assert_one_line, body_of, small_with
from verify import load_theorem


def test_conditions_out_of_scope(cli):
    code, out, err = cli("conditions", THEOREM, *SCOPE, "eta=1", "--json")
    body = body_of(out)
    assert (code, err, body["in_scope"]) == (4, "", False)
    assert set(body) == {"schema", "version", "theorem", "given", "hypotheses", "ranges", "reaches", "in_scope"}
    assert body["ranges"] == {"eps": "0 < eps < 10/591"}
    failing = [h for h in body["hypotheses"] if h["status"] == "fails"]
    assert [(h["label"], h["slack"], h["slack_float"]) for h in failing] == [("step_size", "-499/500", -0.998)]
    for hypothesis in body["hypotheses"]:
        assert {"label", "kind", "statement", "status", "needs", "slack"} <= set(hypothesis)
        assert set(hypothesis) <= {"label", "kind", "statement", "status", "needs", "slack", "slack_float"}
        assert (hypothesis["slack"] is None) is ("slack_float" not in hypothesis)


def test_conditions_that_wait_for_a_parameter(cli):
    code, out, _ = cli("conditions", THEOREM, *SCOPE, "eta=1/500", "--json")
    body = body_of(out)
    assert (code, body["in_scope"]) == (3, None)
    waiting = [h for h in body["hypotheses"] if h["status"] == "needs"]
    assert [(h["label"], h["needs"], h["slack"]) for h in waiting] == [("accuracy", ["eps"], None)]
    assert body["given"] == {
        "T": 200, "T_float": 200.0, "q": 3, "q_float": 3.0, "d": 5, "d_float": 5.0, "eta": "1/500", "eta_float": 0.002,
    }  # fmt: skip


def test_conditions_in_scope(cli):
    code, out, _ = cli("conditions", THEOREM, *SCOPE, "eta=1/500", "eps=1/100", "--json")
    body = body_of(out)
    assert (code, body["in_scope"], body["ranges"]) == (0, True, {})
    assert cli("conditions", THEOREM, *SCOPE, "eta=1/500", "eps=1/100")[1].splitlines()[-1] == "in scope"


CHECK_FIELDS = {
    "schema", "version", "theorem", "statement_digest", "instance", "hypotheses", "in_scope", "clauses", "outcome",
    "evidence", "trusts", "refuted_steps", "for_all_parameters", "for_all_trusts", "inferences_argued",
    "inferences_own", "values", "values_rechecked", "value_trusts", "detail", "bits", "seed", "seconds",
}  # fmt: skip


def test_a_check_in_scope(cli):
    code, out, err = cli("check", THEOREM, *SMALL, "--json", "--seed", "7", "--digits", "12")
    body = body_of(out)
    assert (code, err) == (0, "")
    assert set(body) == CHECK_FIELDS and body["schema"] == 1 and isinstance(body["version"], str)
    assert (body["theorem"], body["in_scope"], body["outcome"], body["evidence"]) == (
        THEOREM,
        True,
        "verified",
        "certified",
    )
    assert body["statement_digest"] == load_theorem(THEOREM).statement.digest
    assert (body["seed"], body["instance"]["eps"], body["instance"]["eps_float"]) == (7, "3/500", 0.006)
    for hypothesis in body["hypotheses"]:
        assert set(hypothesis) - {"slack_float"} == {"label", "kind", "statement", "status", "holds", "slack"}
        said = ("holds", True) if hypothesis["kind"] == "parametric" else ("assumed", None)
        assert (hypothesis["status"], hypothesis["holds"]) == said
    claims = [clause for clause in body["clauses"] if clause["role"] == "claim"]
    assert [clause["label"] for clause in claims] == ["reached", "stays"]
    for clause in claims:
        required = {"label", "role", "claim", "holds", "margin", "margin_float", "error", "error_float", "evidence"}
        required |= {"for_all_parameters"}
        assert required <= set(clause) <= required | {"rechecked", "trusts", "unchecked", "detail", "witness"}
        assert clause["trusts"] == [] == body["trusts"]
        assert clause["holds"] is True and clause["evidence"] == "certified"
        assert clause["rechecked"] is True and clause["unchecked"] == ""
        low, high = Fraction(clause["margin"]["lower"]), Fraction(clause["margin"]["upper"])
        # With 12 digits the ends differ by at most 2 units of the last digit.
        assert 0 < low <= high <= low * (1 + Fraction(2, 10**11))
        assert len(clause["margin"]["lower"].split("e")[0].replace(".", "")) <= 12
    # The limit of 1/(t·L_t) is 4η/(T − 1) = 1/40.
    assert (body["values"]["inverse_loss_slope"], body["values"]["inverse_loss_slope_float"]) == ("1/40", 0.025)


def test_the_number_of_steps_is_that_of_naive_iteration(cli):
    # The textbook recursion is iterated with 40 digits; after 10^4 steps of 30 roundings each, about 34 are right.
    with mpmath.workdps(40):
        T, q, d, eta, eps = 9, 2, 1, mpmath.mpf(1) / 20, mpmath.mpf(1) / 200
        a = C = mpmath.mpf(0)
        steps = 0
        while True:
            w = mpmath.exp(-C)
            P = q / (q + (T - q) * w)
            S = P + (1 - P) * w
            if mpmath.mpf(d) / (2 * q) * (1 - 2 * a * P + a * a * P * S) <= eps:
                break
            a, C = (
                a + (eta * P / q) * (1 - a * S),
                C + eta * d / (q * (T - 1)) * a * P * (1 - P) * (1 - a * P * (1 - w)),
            )
            steps += 1
    instance = ("T=9", "q=2", "d=1", "eta=1/20", "eps=1/200")
    body = body_of(cli("check", THEOREM, *instance, "--seconds", "600", "--json")[1])
    assert body["values"]["steps_to_epsilon"] == {"lower": steps, "upper": steps}
    assert body["values"]["steps_to_epsilon_float"] == float(steps)


def test_the_number_of_steps_of_the_design_example(cli):
    instance = ("T=20", "q=3", "d=5", "eta=1/500", "eps=1/100")
    code, out, _ = cli("check", THEOREM, *instance, "--seconds", "600", "--json")
    found = body_of(out)["values"]["steps_to_epsilon"]
    # In doubles, the roundings of 3·10^5 steps add up to at most 3·10^5 · 30 · 1e-16 = 1e-9 in C and α. The error of L
    # is 2e-11, because dL/dC ~ 2L = 0.02 and dL/dα ~ 0. L falls by L²·4η/(T−1) = 4e-8 per step. Doubles decide, because
    # the losses at the found step and at the step before differ from ε by more than 1e-9, as is asserted.
    T, q, d, eta, eps = 20, 3, 5, 0.002, 0.01
    a = C = 0.0
    steps, before = 0, math.inf
    while True:
        w = math.exp(-C)
        N = q + (T - q) * w
        P, Q = q / N, (T - q) * w / N
        loss = d / (2 * q) * ((1 - a * P) ** 2 + a * a * P * Q * w)
        if loss <= eps:
            break
        S = P + Q * w
        a, C = a + eta * P / q * (1 - a * S), C + eta * d / (q * (T - 1)) * a * P * Q * (1 - a * P * (1 - w))
        steps, before = steps + 1, loss
    assert before - eps > 1e-9 and eps - loss > 1e-9
    assert (code, found) == (0, {"lower": steps, "upper": steps})


def test_a_check_out_of_scope_evaluates_the_clauses(cli):
    code, out, _ = cli("check", THEOREM, *small_with("eta=1"), "--json")
    body = body_of(out)
    assert (code, body["outcome"], body["in_scope"]) == (4, "out_of_scope", False)
    held = [(clause["label"], clause["holds"]) for clause in body["clauses"] if clause["role"] == "claim"]
    assert held == [("reached", True), ("stays", True)]
    assert body["detail"].startswith("step_size: eta <= 1/(20*d**2) does not hold")
    text = cli("check", THEOREM, *small_with("eta=1"))[1]
    assert "\nout of scope; the claim there: verified (certified); for all parameters in scope: formal" in text


def test_a_check_without_time_is_inconclusive(cli, clock):
    # The run has some 4·10^13 steps, and reads the clock after every 1024 steps.
    clock.tick = 0.001
    code, out, _ = cli("check", THEOREM, *small_with("eps=1e-12"), "--seconds", "0.01", "--json")
    body = body_of(out)
    assert (code, body["outcome"], body["evidence"]) == (3, "inconclusive", None)
    reached = body["clauses"][0]
    assert (reached["holds"], reached["evidence"]) == (None, None) and "the time ran out" in reached["detail"]
    assert body["values"]["steps_to_epsilon"]["upper"] is None
    assert body["values"]["steps_to_epsilon_float"] is None


def test_a_refuted_claim_of_a_file(cli, theorem_file):
    path = theorem_file('mine = theorem_of(Inequality("below", sp.Lt(x**2, x)))\n')
    code, out, _ = cli("check", f"{path}:mine", "x=3/2", "--json")
    body = body_of(out)
    assert (code, body["outcome"], body["evidence"]) == (1, "refuted", "certified")
    (clause,) = body["clauses"]
    # The margin is x − x² = 3/2 − 9/4.
    assert (clause["holds"], clause["margin"], clause["error"]) == (False, "-3/4", 0)
    assert clause["witness"] == {"x": "3/2", "x_float": 1.5}
    assert cli("check", f"{path}:mine", "x=1/2")[0] == 0
    assert cli("check", path, "x=1/2")[0] == 0


def test_the_whole_list(cli):
    code, out, err = cli("list", "--paper", "li2024", "--json")
    body = body_of(out)
    assert (code, err, set(body)) == (0, "", {"schema", "version", "theorems"})
    for row in body["theorems"]:
        own = {"why", "claims", "for_all_parameters", "inferences_argued", "inferences_own", "trusts", "for_all_trusts"}
        own |= {"formal", "formal_claims", "not_formal"}
        assert set(row) == {"id", "title", "paper", "source", "proved", "best_instance_evidence"} | own
        assert row["id"].startswith("li2024.") and row["paper"] == "li2024"
    (row,) = [row for row in body["theorems"] if row["id"] == "li2024.gradient"]
    assert (row["proved"], row["best_instance_evidence"]) == (True, "proved")


DERIVED = """
import sympy as sp
from verify import Derivation, Step
STEPS = (Step("expand", (x + 1) ** 2, x**2 + 2 * x + 1), Step("planted", (x + 1) ** 2, x**2 + {wrong} * x + 1))
mine = theorem_of(Inequality("c", sp.Lt(x, 2)), derivation=lambda: Derivation(STEPS))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--format", "text"),
        ("--format", "latex"),
        ("--format", "markdown"),
        ("--json",),
        ("--format", "json"),
        ("--format", "latex", "--json"),
    ],
)
def test_a_derivation_is_printed(cli, theorem_file, arguments):
    path = theorem_file(DERIVED.format(wrong=2))
    code, out, err = cli("derive", path, *arguments)
    assert (code, err) == (0, "") and "expand" in out and "planted" in out
    if {"--json", "json"} & set(arguments):
        body = body_of(out)
        assert set(body) == {"schema", "version", "theorem", "format", "notation", "steps"}
        assert body["format"] == ("latex" if "latex" in arguments else "text")
        assert [step["number"] for step in body["steps"]] == [1, 2]


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_derivation_with_a_wrong_step_is_not_a_success(cli, theorem_file, arguments):
    code, out, err = cli("derive", theorem_file(DERIVED.format(wrong=3)), *arguments)
    assert code not in (0, 3, 4) and err.count("\n") == 1 and "step 2 (planted)" in err
    if "--json" in arguments:
        assert out == ""


def test_a_theorem_without_a_derivation_is_one_line(cli, theorem_file):
    path = theorem_file('mine = theorem_of(Inequality("c", sp.Lt(x, 2)))\n')
    assert_one_line(cli("derive", path), "has no derivation")


def test_an_interrupt_prints_what_was_found(cli, monkeypatch):
    from contextlib import contextmanager

    def interrupt(step):
        if step >= 2048:
            raise KeyboardInterrupt

    @contextmanager
    def progress():
        yield interrupt

    monkeypatch.setattr("verify.reports.commands.theorems.progress_shown", progress)
    code, out, err = cli("check", THEOREM, *small_with("eps=1e-9"), "--json")
    body = body_of(out)
    assert (code, err, body["outcome"]) == (130, "", "inconclusive")
    assert "interrupted at step 2048" in body["clauses"][0]["detail"]
    assert body["values"]["steps_to_epsilon"]["lower"] in (2048, 2049)
    # A claim that does not need the rest of the run is decided: `stays` is certified by the invariant box.
    assert body["clauses"][1]["evidence"] == "certified"


def test_an_interrupt_elsewhere_ends_with_130(cli, theorem_file):
    code, out, err = cli("check", theorem_file("raise KeyboardInterrupt\n"), "x=1")
    assert (code, out) == (130, "") and "Traceback" not in err


SIGNALLED = f"""
import os, signal, sys
from contextlib import contextmanager
import verify.reports.command_line
import verify.reports.commands.theorems

signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def progress():
    yield lambda step: step and os.kill(os.getpid(), signal.SIGINT)


verify.reports.commands.theorems.progress_shown = progress
sys.argv = ["verify", "check", {THEOREM!r}, *{list(small_with("eps=1e-9"))!r}]
verify.reports.command_line.main()
"""


def test_the_signal_of_control_c_prints_what_was_found():
    done = subprocess.run([sys.executable, "-c", SIGNALLED], capture_output=True, text=True, check=False)
    assert done.returncode == 130 and "interrupted at step" in done.stdout and "Traceback" not in done.stderr


KEYS = {
    "list": "theorems: [{id, title, paper, source, for_all_parameters, inferences_argued, proved, "
    "best_instance_evidence, trusts, for_all_trusts, formal, formal_claims, not_formal}]",
    "conditions": "theorem, given, hypotheses: [{label, kind, statement, status, needs, slack}], ranges, reaches, "
    "in_scope",
    "check": "theorem, statement_digest, instance, hypotheses, in_scope, clauses: [{label, role, claim, holds, margin, "
    "error, evidence, rechecked, trusts, for_all_parameters}], outcome, evidence, trusts, refuted_steps, "
    "for_all_parameters, values, detail, bits, seed, seconds",
    "prove": "theorem, statement_digest, clauses: [{label, role, for_all_parameters, kind, detail, lines, reasons, "
    "trusts, formal, propositions}], formal, not_formal, argument, for_all_parameters, counterexample, refuted_steps, "
    "searched, evaluated, stopped, seconds",
    "explore": "counterexample, clause, certified, smallest_margin, examples, clean, refuted, undecided, "
    "without_value, seconds, seed",
}
"""The keys of each verb's object that other programs rely on."""


def test_the_promised_keys_are_printed(cli):
    arguments = {
        "list": ("--paper", "li2024"),
        "prove": ("wang2024.stationary_points",),
        "conditions": (THEOREM, *SMALL),
        "check": (THEOREM, *SMALL),
    }
    arguments["explore"] = ("wang2024.lemma1", "--max-examples", "5")
    for verb, keys in KEYS.items():
        body = body_of(cli(verb, *arguments[verb], "--json")[1])
        top = set(re.findall(r"\w+", re.sub(r"\{[^}]*\}", "", keys)))
        assert top <= set(body)
        for inner, listed in re.findall(r"(\w+): \[\{([^}]*)\}", keys):
            assert body[inner] and set(re.findall(r"\w+", listed)) <= set().union(*map(set, body[inner]))
