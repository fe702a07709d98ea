"""The command line: exit codes, one line for every error, JSON by the contract, theorem files, interrupts."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from verify import load_theorem
from verify.cli import run

THEOREM = "wang2024.theorem1"
SMALL = ("T=9", "q=2", "d=1", "eta=1/20", "eps=3/500")
SCOPE = ("T=200", "q=3", "d=5")


def _refuse(constant):
    raise AssertionError(f"{constant} in JSON")


def _json(text):
    assert text.count("\n") == 1, "one object on one line"
    return json.loads(text, parse_constant=_refuse)


def _one_line(result, *parts):
    code, out, err = result
    assert code == 2 and out == ""
    assert err.startswith("verify: ") and err.endswith("\n") and err.count("\n") == 1
    assert "Traceback" not in err and "error of ours" not in err
    for part in parts:
        assert part in err


def _with(*changed):
    names = {word.split("=")[0] for word in changed}
    return [*(word for word in SMALL if word.split("=")[0] not in names), *changed]


INSTANCES = {
    "T=abc": ("T = abc", "must be an integer >= 2"),
    "T=2.5": ("T = 2.5", "must be an integer >= 2"),
    "T=-3": ("T = -3", "must be an integer >= 2"),
    "T=1": ("T = 1", "must be an integer >= 2"),
    "T=": ("T", "is empty"),
    "T= ": ("T", "is empty"),
    "T=1e999999": ("T = 1e999999", "10^18"),
    # Would not fit into any memory if it were expanded.
    "T=1e999999999999": ("T = 1e999999999999", "10^18"),
    "T=10000000000000000000": ("T = 10000000000000000000", "10^18"),
    "T=" + "9" * 5000: ("T = 9999", "characters"),
    "q=0": ("q = 0", ">= 1"),
    "q=10": ("q = 10", "must satisfy q <= T", "T = 9"),
    "d=0": ("d = 0", ">= 1"),
    "eta=0": ("eta = 0", "> 0"),
    "eta=-1/2": ("eta = -1/2", "> 0"),
    "eta=nan": ("eta = nan", "must be a number"),
    "eta=1/0": ("eta = 1/0", "denominator is zero"),
    "eta=__import__('os')": ("eta = __import__('os')", "must be a number"),
    "eta=1,2": ("eta = 1,2", "must be a number"),
    "eta=1\n2": ("eta = 1 2", "must be a number"),
    "eps=inf": ("eps = inf", "must be a number"),
    "eps=1e-999999": ("eps = 1e-999999", "exponents are limited"),
    "depth=3": ("depth = 3", "is no parameter", "T, q, d, eta, eps"),
    # Names of arguments inside the program are no parameters either.
    "self=3": ("self = 3", "is no parameter"),
    "theorem=3": ("theorem = 3", "is no parameter"),
    "=3": ("=3", "name=value"),
    "twelve": ("twelve", "name=value"),
}


@pytest.mark.parametrize("verb", ["check", "conditions"])
@pytest.mark.parametrize("word", INSTANCES)
def test_a_value_that_is_not_understood_is_one_line(cli, verb, word):
    _one_line(cli(verb, THEOREM, *_with(word)), *INSTANCES[word])


@pytest.mark.parametrize("verb", ["check", "conditions"])
def test_a_repeated_parameter_is_one_line(cli, verb):
    _one_line(cli(verb, THEOREM, *SMALL, "q=2"), "q = 2", "given twice")


def test_a_missing_parameter_is_an_error_of_check_alone(cli):
    _one_line(cli("check", THEOREM, *SMALL[:3]), "eta, eps", "missing")
    _one_line(cli("check", THEOREM), "T, q, d, eta, eps", "missing")
    assert cli("conditions", THEOREM, *SMALL[:3])[0] == 3
    assert cli("conditions", THEOREM)[0] == 3


@pytest.mark.parametrize("verb", ["check", "conditions", "derive"])
def test_a_theorem_that_is_not_there_is_one_line(cli, theorem_file, verb):
    _one_line(cli(verb, "wang2024.theorem9"), "wang2024.theorem9", "unknown id", "wang2024.theorem1")
    _one_line(cli(verb, "no_such_file.py:theorem"), "no_such_file.py", "no such file")
    empty = theorem_file("x = 1\n", "empty.py", header="")
    _one_line(cli(verb, f"{empty}:x"), "holds no theorem")
    mine = theorem_file('mine = theorem_of(Inequality("c", sp.Lt(x, 2)))\n')
    _one_line(cli(verb, f"{mine}:other"), "the file has the theorems mine")


def test_a_message_names_the_file_however_long_its_path(cli, theorem_file, tmp_path):
    (tmp_path / ("deep" * 12)).mkdir()
    path = theorem_file("x = 1\n", "deep" * 12 + "/empty.py", header="")
    _one_line(cli("check", path), "empty.py", "holds no theorem")
    _one_line(cli("check", path + "x"), "empty.py")


@pytest.mark.parametrize("verb", ["check", "conditions", "derive"])
@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("x = 1\ndef f(:\n", ("line 2", "SyntaxError")),
        ("x = 1\n\nraise RuntimeError('two\\nlines')\n", ("line 3", "RuntimeError: two lines")),
        ("import no_such_module_here\n", ("line 1", "no_such_module_here")),
        ("import sys\nsys.exit()\n", ("line 2", "SystemExit")),
        ("x = 1\n\x00\n", ("null bytes",)),
    ],
)
def test_a_file_that_does_not_import_is_one_line_with_the_line(cli, theorem_file, verb, body, parts):
    path = theorem_file(body, "broken.py", header="")
    result = cli(verb, f"{path}:theorem")
    _one_line(result, *parts)
    # A file with a null byte has no line to name.
    assert "None" not in result[2]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["prove", THEOREM], ("prove",)),
        (["check"], ("THEOREM",)),
        (["check", THEOREM, "--fast"], ("--fast",)),
        (["--fast"], ("--fast",)),
        (["check", THEOREM, *SMALL, "--seconds", "0"], ("seconds = 0", "must be a number > 0")),
        (["check", THEOREM, *SMALL, "--seconds", "-1"], ("seconds = -1",)),
        (["check", THEOREM, *SMALL, "--seconds", "nan"], ("seconds = nan",)),
        (["check", THEOREM, *SMALL, "--seconds"], ("--seconds",)),
        (["check", THEOREM, *SMALL, "--seconds", "abc"], ("seconds", "abc")),
        (["check", THEOREM, *SMALL, "--seed", "x"], ("seed", "x")),
        (["check", THEOREM, *SMALL, "--digits", "1.5"], ("digits", "1.5")),
        (["check", THEOREM, *SMALL, "--digits", "0"], ("digits = 0", "from 1 to 1000")),
        (["check", THEOREM, *SMALL, "--digits", "1001"], ("digits = 1001", "from 1 to 1000")),
        (["conditions", THEOREM, "--seconds", "3"], ("--seconds",)),
        (["derive", THEOREM, "--format", "pdf"], ("--format = pdf", "text or latex")),
        (["derive", THEOREM, "T=3"], ("T=3",)),
        (["list", "--paper", "nope"], ("--paper = nope", "wang2024")),
        (["list", "--paper", ""], ("--paper",)),
        (["list", "extra"], ("extra",)),
    ],
)  # fmt: skip
def test_a_command_that_is_not_understood_is_one_line(cli, arguments, parts):
    _one_line(cli(*arguments), *parts)


CONTRACT = ["list", "conditions", "check", "derive", "explore", "necessity", "sweep", "simulate", "recheck", "report"]


def test_the_help_lists_the_verbs_that_work_and_no_others(cli):
    code, out, err = cli("--help")
    assert (code, err) == (0, "")
    verbs = re.findall(r"^│ ([a-z]+) {2}", out[out.index("Commands") :], re.MULTILINE)
    assert verbs == [verb for verb in CONTRACT if verb in verbs] and verbs[:4] == CONTRACT[:4]
    for verb in CONTRACT:
        code, out, err = cli(verb, "--help")
        assert (code, verb in out) == ((0, True) if verb in verbs else (2, False))


def test_without_a_verb_the_help_is_shown(cli):
    code, out, err = cli()
    assert "Commands" in out
    assert (code, err) == (0, "") or (code == 2 and err.strip() != "verify:")


def test_conditions_out_of_scope(cli):
    code, out, err = cli("conditions", THEOREM, *SCOPE, "eta=1", "--json")
    body = _json(out)
    assert (code, err, body["in_scope"]) == (4, "", False)
    assert set(body) == {"schema", "version", "theorem", "given", "hypotheses", "ranges", "in_scope"}
    assert body["ranges"] == {"eps": "0 < eps < 10/591"}
    failing = [h for h in body["hypotheses"] if h["status"] == "fails"]
    assert [(h["label"], h["slack"], h["slack_float"]) for h in failing] == [("step_size", "-499/500", -0.998)]
    for hypothesis in body["hypotheses"]:
        assert {"label", "kind", "statement", "status", "needs", "slack"} <= set(hypothesis)
        assert set(hypothesis) <= {"label", "kind", "statement", "status", "needs", "slack", "slack_float"}
        assert (hypothesis["slack"] is None) is ("slack_float" not in hypothesis)


def test_conditions_that_wait_for_a_parameter(cli):
    code, out, _ = cli("conditions", THEOREM, *SCOPE, "eta=1/500", "--json")
    body = _json(out)
    assert (code, body["in_scope"]) == (3, None)
    waiting = [h for h in body["hypotheses"] if h["status"] == "needs"]
    assert [(h["label"], h["needs"], h["slack"]) for h in waiting] == [("accuracy", ["eps"], None)]
    assert body["given"] == {
        "T": 200, "T_float": 200.0, "q": 3, "q_float": 3.0, "d": 5, "d_float": 5.0, "eta": "1/500", "eta_float": 0.002,
    }  # fmt: skip


def test_conditions_in_scope(cli):
    code, out, _ = cli("conditions", THEOREM, *SCOPE, "eta=1/500", "eps=1/100", "--json")
    body = _json(out)
    assert (code, body["in_scope"], body["ranges"]) == (0, True, {})
    assert cli("conditions", THEOREM, *SCOPE, "eta=1/500", "eps=1/100")[1].splitlines()[-1] == "in scope"


CHECK_FIELDS = {
    "schema", "version", "theorem", "statement_digest", "instance", "hypotheses", "in_scope", "clauses", "outcome",
    "evidence", "values", "detail", "bits", "seed", "seconds",
}  # fmt: skip


def test_a_check_in_scope(cli):
    code, out, err = cli("check", THEOREM, *SMALL, "--json", "--seed", "7", "--digits", "12")
    body = _json(out)
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
        assert set(hypothesis) - {"slack_float"} == {"label", "kind", "statement", "holds", "slack"}
        assert hypothesis["holds"] is True
    assert [clause["label"] for clause in body["clauses"]] == ["reached", "stays"]
    for clause in body["clauses"]:
        required = {"label", "claim", "holds", "margin", "margin_float", "error", "error_float", "evidence"}
        assert required <= set(clause) <= required | {"detail", "witness"}
        assert clause["holds"] is True and clause["evidence"] == "certified"
        low, high = Fraction(clause["margin"]["lower"]), Fraction(clause["margin"]["upper"])
        # 12 digits: the ends differ by at most 2 units of the last.
        assert 0 < low <= high <= low * (1 + Fraction(2, 10**11))
        assert len(clause["margin"]["lower"].split("e")[0].replace(".", "")) <= 12
    # The limit of 1/(t·L_t) is 4η/(T − 1) = 1/40.
    assert (body["values"]["inverse_loss_slope"], body["values"]["inverse_loss_slope_float"]) == ("1/40", 0.025)


def test_the_number_of_steps_is_that_of_naive_iteration(cli):
    # The textbook recursion at 40 digits; some 10^4 steps of 30 roundings leave 34 of them.
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
    body = _json(cli("check", THEOREM, "T=9", "q=2", "d=1", "eta=1/20", "eps=1/200", "--json")[1])
    assert body["values"]["steps_to_epsilon"] == {"lower": steps, "upper": steps}
    assert body["values"]["steps_to_epsilon_float"] == float(steps)


def test_the_number_of_steps_of_the_design_example(cli):
    code, out, _ = cli("check", THEOREM, "T=20", "q=3", "d=5", "eta=1/500", "eps=1/100", "--json")
    found = _json(out)["values"]["steps_to_epsilon"]
    # In doubles: 3·10^5 steps whose roundings of 1e-16 add up, at worst, to 3·10^5 · 30 · 1e-16 = 1e-9 in C and α;
    # dL/dC ~ 2L = 0.02 makes it 2e-11 in L, and dL/dα vanishes nearly. L falls by L²·4η/(T−1) = 4e-8 a step, and
    # both neighbours of the step that is found are asserted to be farther than 1e-9 from ε: the doubles decide.
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
    code, out, _ = cli("check", THEOREM, *_with("eta=1"), "--json")
    body = _json(out)
    assert (code, body["outcome"], body["in_scope"]) == (4, "out_of_scope", False)
    assert [(clause["label"], clause["holds"]) for clause in body["clauses"]] == [("reached", True), ("stays", True)]
    assert body["detail"].startswith("step_size: eta <= 1/(20*d**2) does not hold")
    assert (
        cli("check", THEOREM, *_with("eta=1"))[1].splitlines()[-1].startswith("out of scope; the claim there: verified")
    )


def test_a_check_without_time_is_inconclusive(cli):
    code, out, _ = cli("check", THEOREM, *_with("eps=1e-12"), "--seconds", "0.01", "--json")
    body = _json(out)
    assert (code, body["outcome"], body["evidence"]) == (3, "inconclusive", None)
    reached = body["clauses"][0]
    assert (reached["holds"], reached["evidence"]) == (None, None) and "the time ran out" in reached["detail"]
    assert body["values"]["steps_to_epsilon"]["upper"] is None
    assert body["values"]["steps_to_epsilon_float"] is None


def test_a_refuted_claim_of_a_file(cli, theorem_file):
    path = theorem_file('mine = theorem_of(Inequality("below", sp.Lt(x**2, x)))\n')
    code, out, _ = cli("check", f"{path}:mine", "x=3/2", "--json")
    body = _json(out)
    assert (code, body["outcome"], body["evidence"]) == (1, "refuted", "certified")
    (clause,) = body["clauses"]
    # x − x² = 3/2 − 9/4
    assert (clause["holds"], clause["margin"], clause["error"]) == (False, "-3/4", 0)
    assert clause["witness"] == {"x": "3/2", "x_float": 1.5}
    assert cli("check", f"{path}:mine", "x=1/2")[0] == 0
    assert cli("check", path, "x=1/2")[0] == 0


def test_the_whole_list(cli):
    code, out, err = cli("list", "--paper", "wang2024", "--json")
    body = _json(out)
    assert (code, err, set(body)) == (0, "", {"schema", "version", "theorems"})
    for row in body["theorems"]:
        assert set(row) == {"id", "title", "paper", "source", "proved", "best_instance_evidence"}
        assert row["id"].startswith("wang2024.") and row["paper"] == "wang2024"
    (row,) = [row for row in body["theorems"] if row["id"] == THEOREM]
    assert (row["proved"], row["best_instance_evidence"]) == (False, "certified")


DERIVED = """
import sympy as sp
from verify import Derivation, Step
STEPS = (Step("expand", (x + 1) ** 2, x**2 + 2 * x + 1), Step("planted", (x + 1) ** 2, x**2 + {wrong} * x + 1))
mine = theorem_of(Inequality("c", sp.Lt(x, 2)), derivation=lambda: Derivation(STEPS))
"""


@pytest.mark.parametrize("arguments", [(), ("--format", "latex"), ("--json",), ("--json", "--format", "latex")])
def test_a_derivation_is_printed(cli, theorem_file, arguments):
    path = theorem_file(DERIVED.format(wrong=2))
    code, out, err = cli("derive", path, *arguments)
    assert (code, err) == (0, "") and "expand" in out and "planted" in out
    if "--json" in arguments:
        body = _json(out)
        assert set(body) == {"schema", "version", "theorem", "format", "notation", "steps"}
        assert [step["number"] for step in body["steps"]] == [1, 2]


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_derivation_with_a_wrong_step_is_not_a_success(cli, theorem_file, arguments):
    code, out, err = cli("derive", theorem_file(DERIVED.format(wrong=3)), *arguments)
    assert code not in (0, 3, 4) and err.count("\n") == 1 and "step 2 (planted)" in err
    if "--json" in arguments:
        assert out == ""


def test_a_theorem_without_a_derivation_is_one_line(cli, theorem_file):
    path = theorem_file('mine = theorem_of(Inequality("c", sp.Lt(x, 2)))\n')
    _one_line(cli("derive", path), "has no derivation")


# Numbers that left the arithmetic, or never were in it: whatever happens, nothing is certified or proved.
LAUNDERED = {
    "a Fraction of a float in a primitive": "return p + Fraction(0.1)",
    "a float constant": "return p * 0.1",
    "a Fraction of the float of a number": "return arithmetic.rational(1) * Fraction(float(p))",
    "float of a number": "return arithmetic.rational(int(float(p) * 10), 10)",
    "int of a number": "return arithmetic.rational(int(p))",
    "round of a number": "return arithmetic.rational(round(p))",
    "a float returned": "return 0.5",
    "a Fraction returned": "return Fraction(1, 2)",
    "an int returned": "return 1",
    "nothing returned": "pass",
    "math.exp": "return arithmetic.rational(1) * math.exp(p)",
    "the ratio of a float": "return p * arithmetic.rational(*(0.1).as_integer_ratio())",
    "numpy": "import numpy as np\n    return np.exp(p)",
    "a number saved from another arithmetic": "SAVED.append(p)\n    return p + SAVED[0] - SAVED[0]",
    "a number of another arithmetic returned": "SAVED.append(p)\n    return SAVED[0]",
}
PRIMITIVE = """
SAVED = []


@primitive(1)
def laundered(arithmetic, p):
    {body}


mine = theorem_of(Inequality("c", sp.Gt(sp.sqrt(1 + laundered(x)), sp.Rational(1, 100))))
"""


@pytest.mark.parametrize("what", LAUNDERED)
def test_a_laundered_number_is_never_certified(cli, theorem_file, what):
    path = theorem_file(PRIMITIVE.format(body=LAUNDERED[what]))
    code, out, err = cli("check", path, "x=2", "--json")
    # NumPy meets the number before the guard does, and raises an error of its own.
    assert code == 2 or (what == "numpy" and code == 70)
    assert out == "" and err.count("\n") == 1
    assert any(word in err for word in ("arithmetic", "float", "Number", "rational"))


def test_an_honest_primitive_is_certified(cli, theorem_file):
    path = theorem_file(PRIMITIVE.format(body="return p * arithmetic.rational(1, 10)"))
    code, out, _ = cli("check", path, "x=2", "--json")
    assert (code, _json(out)["evidence"]) == (0, "certified")


@pytest.mark.parametrize(
    "statement",
    [
        "sp.Gt(x, sp.Float('0.1'))",
        "sp.Gt(x, 0.1)",
        "sp.Gt(0.1 * x, 1)",
        "sp.Gt(x, sp.Rational(0.1))",
        "sp.Gt(x, Fraction(0.1))",
        "sp.Gt(x ** 0.5, 1)",
        "sp.Gt(x, math.exp(1))",
        "sp.Gt(x, sp.pi.evalf())",
        "sp.Gt(x, sp.nsimplify(sp.Float(1) / 3) + sp.Float(0))",
    ],
)
def test_a_float_in_a_statement_is_an_error_of_the_file(cli, theorem_file, statement):
    path = theorem_file(f'mine = theorem_of(Inequality("c", {statement}))\n')
    _one_line(cli("check", path, "x=2"), "line ", "TheoremError", "float")


def test_an_interrupt_prints_what_was_found(cli, monkeypatch):
    from contextlib import contextmanager

    def interrupt(step):
        if step >= 2048:
            raise KeyboardInterrupt

    @contextmanager
    def progress():
        yield interrupt

    monkeypatch.setattr("verify.cli._progress", progress)
    code, out, err = cli("check", THEOREM, *_with("eps=1e-9"), "--json")
    body = _json(out)
    assert (code, err, body["outcome"]) == (130, "", "inconclusive")
    assert "interrupted at step 2048" in body["clauses"][0]["detail"]
    assert body["values"]["steps_to_epsilon"]["lower"] in (2048, 2049)
    # What does not need the rest of the run is there: staying is certified by the invariant box.
    assert body["clauses"][1]["evidence"] == "certified"


def test_an_interrupt_elsewhere_ends_with_130(cli, theorem_file):
    code, out, err = cli("check", theorem_file("raise KeyboardInterrupt\n"), "x=1")
    assert (code, out) == (130, "") and "Traceback" not in err


SIGNALLED = f"""
import os, signal, sys
from contextlib import contextmanager
import verify.cli

signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def progress():
    yield lambda step: step and os.kill(os.getpid(), signal.SIGINT)


verify.cli._progress = progress
sys.argv = ["verify", "check", {THEOREM!r}, *{list(_with("eps=1e-9"))!r}]
verify.cli.main()
"""


def test_the_signal_of_control_c_prints_what_was_found():
    done = subprocess.run([sys.executable, "-c", SIGNALLED], capture_output=True, text=True, check=False)
    assert done.returncode == 130 and "interrupted at step" in done.stdout and "Traceback" not in done.stderr


def test_an_error_of_ours_is_one_line_and_70(cli, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("verify.check.check", broken)
    code, out, err = cli("check", THEOREM, *SMALL)
    assert (code, out) == (70, "")
    assert err == "verify: an error of ours, please report it: RuntimeError: two lines\n"


CONSOLE = Path(sys.executable).with_name("verify")


@pytest.mark.parametrize("command", [[sys.executable, "-m", "verify"], [str(CONSOLE)]], ids=["module", "script"])
def test_both_ways_to_start_it_do_the_same(command):
    good = subprocess.run(
        [*command, "conditions", THEOREM, *SMALL, "--json"], capture_output=True, text=True, check=False
    )
    assert (good.returncode, good.stderr) == (0, "") and _json(good.stdout)["in_scope"] is True
    bad = subprocess.run([*command, "check", THEOREM, "T=abc"], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "") and bad.stderr.count("\n") == 1


def test_output_in_another_encoding_is_no_error_of_ours():
    # As when piped on Windows, where α is not to be had.
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-m", "verify", "derive", "wang2024.stationary_points"]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0 and done.stderr == b""


def test_a_check_of_a_symbolic_theorem_never_loads_torch():
    code = (
        "import sys; from verify.cli import run; "
        f"code = run(['check', {THEOREM!r}, *{list(SMALL)!r}]); "
        "sys.exit(code or any(m.split('.')[0] in ('torch', 'matplotlib', 'dask') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_run_returns_what_main_exits_with(monkeypatch, capsys):
    from verify import cli

    monkeypatch.setattr(sys, "argv", ["verify", "conditions", THEOREM, *SCOPE, "eta=1"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 4 == run(["conditions", THEOREM, *SCOPE, "eta=1"])
    capsys.readouterr()


# --- explore

SEARCHED = """
below = theorem_of(Inequality("c", sp.Lt(x, 50)))
positive = theorem_of(Inequality("c", sp.Gt(x, 0, evaluate=False)))
"""
SLOW = """
import os, time


@primitive(1)
def told_slowly(arithmetic, p):
    with open({trace!r}, "a") as trace:
        trace.write("x")
    time.sleep(0.02)
    return p


mine = theorem_of(Inequality("c", sp.Gt(told_slowly(x), 0)))
"""


def test_explore_replays_what_it_found(cli, theorem_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ("explore", f"{theorem_file(SEARCHED)}:below", "--json")
    code, out, err = cli(*command)
    first = _json(out)
    assert (code, err, first["counterexample"]["x"], first["certified"]) == (1, "", 50, True)
    assert first["needed"] > 1 and (tmp_path / ".hypothesis").is_dir()
    code, out, _ = cli(*command, "--max-examples", "1")
    again = _json(out)
    assert (code, again["counterexample"], again["needed"]) == (1, first["counterexample"], 1)
    # The other theorem of the file has nothing to replay, and finds nothing.
    code, out, _ = cli("explore", f"{theorem_file(SEARCHED)}:positive", "--json", "--max-examples", "30")
    none = _json(out)
    assert (code, none["counterexample"], none["clause"], none["certified"]) == (0, None, None, False)
    assert none["stopped"] == "examples" and none["smallest_margin"] > 0 and none["examples"] >= 20


def test_explore_keeps_its_time(cli, theorem_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = theorem_file(SLOW.format(trace=str(tmp_path / "trace")))
    started = time.monotonic()
    code, out, err = cli("explore", path, "--seconds", "1", "--max-examples", "1000000", "--json")
    assert time.monotonic() - started < 2.5
    body = _json(out)
    assert (code, err, body["stopped"], body["counterexample"]) == (0, "", "seconds", None)
    assert 10 < body["examples"] <= 60 and 1 <= body["seconds"] < 2.5


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
def test_control_c_ends_a_search_with_what_it_met(theorem_file, tmp_path, as_json):
    trace = tmp_path / "trace"
    command = [sys.executable, "-m", "verify", "explore", theorem_file(SLOW.format(trace=str(trace)))]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(load_theorem.__code__.co_filename).parents[1])]),
    }
    running = subprocess.Popen(
        [*command, *(["--json"] if as_json else [])],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment,
    )  # fmt: skip
    try:
        until = time.monotonic() + 20
        while not (trace.exists() and trace.stat().st_size > 5) and time.monotonic() < until:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=40)
    finally:
        running.kill()
    assert running.returncode == 130 and "Traceback" not in out + err
    if as_json:
        body = _json(out)
        assert (body["stopped"], body["counterexample"]) == ("interrupted", None)
        assert 5 <= body["examples"] < 500 and body["smallest_margin"] == 1.0 and body["nearest"]["x"] is not None
    else:
        assert "no counterexample found" in out and "interrupted" in out and "smallest margin 1" in out


def test_explore_of_what_cannot_be_searched_is_one_line(cli, theorem_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = f"{theorem_file(SEARCHED)}:below"
    _one_line(cli("explore", path, "x=0"), "x = 0", "must be a number", "> 0")
    _one_line(cli("explore", path, "--drop", "h"), "--drop = h", "is no hypothesis")
    _one_line(cli("explore", path, "--seconds", "0"), "seconds = 0")
    _one_line(cli("explore", path, "--max-examples", "0"), "max-examples = 0")
    _one_line(cli("explore", THEOREM, "eta=1"), "eta = 1")
    assert not (tmp_path / ".hypothesis").exists()
