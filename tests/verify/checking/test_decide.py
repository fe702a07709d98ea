"""Only `decide` decides clauses: a certified clause has passed the re-checker, and no code bypasses `decide`."""

import ast
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

import verify
from verify import (
    Case,
    Evidence,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    LeastResidual,
    MatrixIdentity,
    Outcome,
    Parameter,
    Statement,
    TheoremError,
    matrix,
)
from verify.checking.check import check
from verify.language.expressions import digest_of, enclosed, primitive
from verify.outcomes import ClauseResult
from verify.search.explore import explore

a, d, t, u, x, v = sp.symbols("a d t u x v", real=True)
KEPT = {"evaluate": False}
A, B = matrix("A"), matrix("B")
SHAPES = {A: (2, 2), B: (2, 2)}
LIMIT = sp.Limit((a * t + 1) / (a * t + 2), t, sp.oo)


def _equal(left, right):
    return Inequality("c", sp.Eq(left, right, **KEPT))


WITHOUT_A_VALUE = {
    "a root squared": ("u", -3, {d: sp.sqrt(u)}, (), _equal(d**2, u)),
    "a reciprocal times itself": ("x", 0, {d: 1 / x}, (), _equal(d * x, 1)),
    "the exponential of a logarithm": ("u", -3, {d: sp.log(u)}, (), _equal(sp.exp(d), u)),
    "the slope of a logarithm": ("u", -3, {}, (), _equal(sp.Derivative(sp.log(u), u), 1 / u)),
    "kept from being evaluated": ("u", -3, {}, (), Inequality("c", sp.Pow(sp.sqrt(u), 2, **KEPT) >= -1)),
    "for all x": (
        "a",
        2,
        {},
        (x,),
        Identity("c", sp.Mul(a, sp.exp(1 / (x - 1)), sp.exp(-1 / (x - 1)), **KEPT), a),
    ),
    "among matrices": ("a", 0, {d: 1 / a}, (), MatrixIdentity("c", d * a * A * B, A * B, SHAPES)),
    "an infinite limit": ("a", 2, {}, (), _equal(sp.Limit(a * t, t, sp.oo), 0)),
    "a limit of what divides by 0": ("a", 0, {d: 1 / a}, (), _equal(sp.Limit(d * a * t / (t + 1), t, sp.oo), 1)),
}


def _theorem(make_theorem, name, definitions, variables, *clauses):
    return make_theorem(*clauses, names=name, definitions=definitions, variables=variables)


@pytest.mark.parametrize("what", WITHOUT_A_VALUE)
def test_clause_without_a_value_is_not_decided(make_theorem, what):
    name, at, definitions, variables, clause = WITHOUT_A_VALUE[what]
    result = check(_theorem(make_theorem, name, definitions, variables, clause), {name: at}).clauses[0]
    assert (result.outcome, result.evidence) == (Outcome.INCONCLUSIVE, None) and result.detail


@pytest.mark.parametrize("what", [what for what in WITHOUT_A_VALUE if what not in ("for all x", "an infinite limit")])
def test_where_it_has_one_the_same_is_verified(make_theorem, what):
    name, _, definitions, variables, clause = WITHOUT_A_VALUE[what]
    result = check(_theorem(make_theorem, name, definitions, variables, clause), {name: 2}).clauses[0]
    assert (result.outcome, result.rechecked) == (Outcome.VERIFIED, True)


@pytest.mark.parametrize(("at", "right", "outcome"), [(0, 1, "refuted"), (0, "1/2", "verified"), (3, 1, "verified")])
def test_a_limit_is_that_at_the_instance(make_theorem, at, right, outcome):
    # The limit is 1 if a ≠ 0, and 1/2 if a = 0.
    assert check(make_theorem(_equal(LIMIT, sp.Rational(right)), names="a"), {"a": at}).outcome == outcome
    held = make_theorem(Inequality("c", sp.Lt(a, 9)), names="a", hypotheses=(Hypothesis("h", sp.Eq(LIMIT, 1)),))
    assert check(held, {"a": at}).in_scope is (at != 0)
    near = sp.Limit(t / (t + a), t, 0)
    assert check(make_theorem(_equal(near, 0), names="a"), {"a": at}).outcome == ("refuted" if at == 0 else "verified")


def test_a_search_finds_no_counterexample_to_what_is_true(make_theorem):
    # The limit is 1 or 1/2.
    true = make_theorem(Inequality("c", sp.Le(LIMIT, 1)), Inequality("e", sp.Ge(LIMIT, sp.Rational(1, 2))), names="a")
    assert explore(true, {}, max_examples=60).counterexample is None
    false = make_theorem(_equal(LIMIT, 1), names="a")
    found = explore(false, {"a": 0}, max_examples=5)
    assert found.counterexample == {"a": 0} and found.to_json()["certified"] is True


def test_derivative_of_a_definition_is_not_guessed(make_theorem):
    # If d = u² is kept constant, the derivative of d·u in u is d; otherwise it is 3u². Neither value is proved.
    for right in (d, 3 * u**2):
        clause = _equal(sp.Derivative(d * u, u), right)
        (found,) = check(_theorem(make_theorem, "u", {d: u**2}, (), clause), {"u": 4}).clauses
        assert found.outcome is not Outcome.VERIFIED and found.evidence is None


def test_a_search_finds_where_a_limit_degenerates(make_theorem):
    theorem = _theorem(make_theorem, "a", {}, (), Inequality("c", sp.Gt(LIMIT, sp.Rational(2, 3))))
    assert explore(theorem, {}, max_examples=100).counterexample == {"a": 0}


@pytest.mark.parametrize(
    ("line", "at", "outcome"),
    [
        ("Limit((1 + g/n)**n, n, oo) == exp(g)", 2, "verified"),
        ("Limit((1 + g/n)**n, n, oo) <= 1 + g + g**2/2", 1, "refuted"),
        ("Limit(((1 + (1 + 3*g)**(1/n))/2)**n, n, oo) == 1 + 3*g/2", 1, "refuted"),
        ("Limit(sqrt(n**2 + g*n) - n, n, oo) < g/2", 3, "refuted"),
        # SymPy returns a value for these limits, but the limit does not exist, or the re-checker does not find it.
        ("Limit(g*abs(n)/n, n, 0) == g", 2, "inconclusive"),
        ("Limit(log(1 + exp(n))/n, n, oo) <= 1 - g", 0, "inconclusive"),
        ("Limit(g*sin(n)/n, n, oo) > 1", 1, "inconclusive"),
    ],
)
def test_a_limit_that_is_not_rational_decides_where_it_is_re_checked(line, at, outcome):
    result = verify.check(verify.claim(line), {"g": at}, seconds=60)
    assert result.outcome == outcome
    assert result.evidence == {"verified": "proved", "refuted": "certified", "inconclusive": None}[outcome]


def test_a_hypothesis_on_a_limit_that_is_not_rational_is_not_decided():
    assert verify.check("g <= 1 if Limit(g*abs(n)/n, n, 0) == g", {"g": 2}, seconds=60).outcome == "inconclusive"


def test_a_condition_on_a_limit_that_is_not_rational_refutes_nothing(make_theorem):
    # SymPy returns t, the limit from above; the two-sided limit at 0 does not exist.
    limit = sp.Eq(sp.Limit(t * sp.Abs(x) / x, x, 0), t, **KEPT)
    clause = Implication("c", (limit, sp.Gt(t, a)), sp.Lt(t, a, **KEPT), says="t < a")
    assert check(make_theorem(clause, names="a", variables=(t,)), {"a": 1}).clauses[0].outcome == "inconclusive"


def test_a_wrong_value_of_a_limit_decides_nothing(monkeypatch):
    line = verify.claim("Limit((1 + g/n)**n, n, oo) <= exp(g)/2 + 1")
    assert verify.check(line, {"g": 2}).outcome == "refuted"
    monkeypatch.setattr(sp, "limit", lambda *_: sp.Integer(4))
    assert verify.check(line, {"g": 2}).outcome == "inconclusive"


def test_a_search_refutes_a_limit_that_is_not_rational():
    found = verify.explore("Limit((1 + g/n)**n, n, oo) <= 1 + g + g**2/2 for g > 0", {}, seconds=60)
    assert found.counterexample is not None and found.clause.evidence == "certified"
    assert verify.explore("Limit((1 + g/n)**n, n, oo) <= 1.01*exp(g) for g > 0", {}, seconds=5).counterexample is None


def test_moments_of_no_measure_decide_nothing(make_theorem):
    k = sp.Symbol("k", integer=True, nonnegative=True)
    # m_0 = −5, and all other moments are 1: the least mean of (1 − a s)² would be −6.
    moment = 1 - 6 * sp.Pow(0, k, **KEPT)
    for minimum in (-6, 3):
        clause = LeastResidual("c", sp.Integer(1), moment, k, minimum=sp.Integer(minimum))
        result = check(make_theorem(clause, names="a"), {"a": 1}).clauses[0]
        assert result.outcome is Outcome.INCONCLUSIVE and "no measure" in result.detail


def test_both_sides_of_an_identity_of_matrices_differ_as_they_are_written():
    with pytest.raises(TheoremError, match="both sides are written the same"):
        MatrixIdentity("c", A * A**-1, sp.Integer(1), {A: (2, 2)})


def test_a_primitive_of_ones_own_is_computed_at_most(make_theorem):
    @primitive(1)
    def twice(arithmetic, number):
        return number + number

    @enclosed(1, scan=float)
    def about(number):
        return verify.Enclosure(number, number + 1)

    for own, true in ((twice(a), True), (about(a), True), (twice(a), False)):
        bound = sp.Lt(own, 9) if true else sp.Lt(own, 1)
        result = check(make_theorem(Inequality("c", bound), names="a"), {"a": 2})
        (clause,) = result.clauses
        assert (clause.holds, clause.evidence, clause.rechecked) == (true, Evidence.COMPUTED, False)
        assert "not known to this program" in clause.unchecked and result.evidence is Evidence.COMPUTED
        assert result.to_json()["clauses"][0]["rechecked"] is False
    found = explore(make_theorem(Inequality("c", sp.Lt(twice(a), 1)), names="a"), {"a": 2}, max_examples=3)
    assert found.counterexample == {"a": 2} and found.to_json()["certified"] is False


def test_a_hypothesis_that_is_not_re_checked_leaves_no_certified_counterexample(make_theorem):
    @primitive(1)
    def twice(arithmetic, number):
        return number + number

    held = (Hypothesis("h", sp.Lt(twice(a), 9)),)
    theorem = make_theorem(Inequality("c", sp.Lt(a, 1)), names="a", hypotheses=held)
    result = check(theorem, {"a": 2})
    assert (result.outcome, result.evidence, result.scope_confirmed) == (Outcome.REFUTED, Evidence.COMPUTED, None)
    assert result.clauses[0].evidence is Evidence.CERTIFIED and "all hypotheses hold" in result.detail
    found = explore(theorem, {"a": 2}, max_examples=3)
    assert found.counterexample == {"a": 2} and found.to_json()["certified"] is False


def test_values_are_re_checked_or_marked(make_theorem):
    @primitive(1)
    def twice(arithmetic, number):
        return number + number

    values = {"half": a / 2, "root": sp.sqrt(a), "own": twice(a), "small": sp.Lt(a, 9)}
    result = check(make_theorem(Inequality("c", sp.Lt(a, 9)), names="a", values=values), {"a": 2})
    assert result.rechecked == {"half": True, "root": True, "own": False, "small": True}
    assert result.to_json()["values_rechecked"] == result.rechecked and result.values["half"] == 1


def test_cases_inside_a_limit_are_of_its_bound_symbol(make_theorem):
    w = sp.Symbol("w")
    parameters = (
        Parameter("x", "rational", "x"),
        Parameter("t", "rational", "t"),
        Parameter("w", "word", "w", words=("p", "q")),
    )
    limit, put = sp.Limit(Case(w, 1 / (t + 1), t), t, 0), sp.Subs(Case(w, 1 / t, t), t, x)
    for left, right, at, outcome in (
        (limit, 1, "p", "verified"),
        (limit, 0, "p", "refuted"),
        (limit, 0, "q", "verified"),
        (put, 1 / x, "p", "verified"),
        (put, x, "q", "verified"),
        (put, 5 / x, "p", "refuted"),
    ):
        # 1/(t + 1) has no value at the parameter t = −1, but this does not matter for the limit, whose t is bound.
        held = (Hypothesis("h", sp.Ge(limit, 0)),)
        theorem = make_theorem(_equal(left, sp.sympify(right)), parameters=parameters, hypotheses=held)
        assert check(theorem, {"x": 2, "t": -1, "w": at}).outcome == outcome


class Own(Inequality):
    """A user's own class of clauses, which may claim anything."""

    def evaluate(self, question):
        return self.says_of_itself(self, question)

    def to_data(self):
        return super().to_data() | {"says": ""} | self.more


@pytest.mark.parametrize(
    ("says", "error"),
    [
        (
            lambda clause, _: ClauseResult(label="c", claim="1 = 2", outcome=Outcome.OUT_OF_SCOPE),
            "is not an outcome of a clause",
        ),
        (lambda clause, _: "verified", "not to a ClauseResult"),
        (lambda clause, _: ClauseResult.verified(clause, {}, margin=float("nan")), "is not an exact number"),
        (lambda *_: int("none"), "clause c: ValueError: invalid literal"),
    ],
)
def test_invalid_result_or_exception_of_a_clause_is_an_error_of_the_file(make_theorem, says, error):
    Own.says_of_itself, Own.more = staticmethod(says), {}
    with pytest.raises(TheoremError, match=error):
        check(make_theorem(Own("c", sp.Lt(a, 9)), names="a"), {"a": 2})


def test_a_clause_vouches_for_nothing_but_its_proof(make_theorem):
    proof = {"kind": "exact", "margin": "7"}
    Own.more, more = {}, {"margin": 77, "values": {"v": 42}, "witness": {"a": 1}}
    Own.says_of_itself = staticmethod(lambda own, _: replace(ClauseResult.verified(own, proof, **more), claim="1 = 2"))
    values = {"v": verify.ClauseValue("c", "v")}
    result = check(make_theorem(Own("c", sp.Lt(a, 9)), names="a", values=values), {"a": 2})
    assert result.clauses[0].claim == "a < 9" and not result.clauses[0].witness
    assert (result.clauses[0].margin, result.clauses[0].rechecked) == (7, True)
    assert result.values == {"v": 42} and result.rechecked == {"v": False}


@pytest.mark.parametrize("proof", [None, {"kind": object()}, {"kind": "exact", "margin": "1"}])
def test_a_false_claim_of_a_known_kind_is_not_verified_without_a_proof(make_theorem, proof):
    Own.more = {}
    Own.says_of_itself = staticmethod(lambda own, _: ClauseResult.verified(own, proof))
    clause = check(make_theorem(Own("c", sp.Lt(a, 1)), names="a"), {"a": 2}).clauses[0]
    assert (clause.outcome, clause.evidence) == (Outcome.INCONCLUSIVE, None)


def test_a_clause_changes_neither_the_instance_nor_its_data_as_it_is_evaluated(make_theorem):
    def changes(clause, question):
        Own.more = {"relation": ["Lt", ["Integer", "0"], ["Integer", "1"]]}
        object.__setattr__(question, "instance", {"a": 0})
        return ClauseResult.verified(clause, {"kind": "exact", "margin": "1"})

    Own.more, Own.says_of_itself = {}, staticmethod(changes)
    theorem = make_theorem(Own("c", sp.Lt(a, 1)), Inequality("e", sp.Lt(a, 2)), names="a")
    result = check(theorem, {"a": 2})
    assert [clause.outcome for clause in result.clauses] == ["inconclusive", "refuted"]


def test_a_proof_that_is_refused_and_returned_again_is_refused(make_theorem, monkeypatch):
    given = []

    def returns_the_first(clause, question):
        given.append(question.proof_for_all()[0])
        return ClauseResult.verified(clause, given[0])

    Own.more, Own.says_of_itself = {}, staticmethod(returns_the_first)
    monkeypatch.setattr(Own, "prove", lambda *_, **__: {"kind": "exact", "margin": "1"})
    (clause,) = check(make_theorem(Own("c", sp.Lt(a, 1)), names="a"), {"a": 2}).clauses
    assert (clause.outcome, len(given), given[1]) == (Outcome.INCONCLUSIVE, 2, None)


def test_clause_beyond_reach_leaves_the_other_clauses_decided(make_theorem):
    far = sp.Limit(sp.exp(a) * sp.log(t) / (t + 1), t, sp.oo)
    result = check(make_theorem(_equal(far, 0), Inequality("e", sp.Lt(a, 9)), names="a"), {"a": 2})
    assert [clause.outcome for clause in result.clauses] == ["inconclusive", "verified"]
    assert "not re-checked" in result.clauses[0].detail
    large = check(make_theorem(Inequality("c", sp.Gt(sp.Pow(2, 10**6, **KEPT), a)), names="a"), {"a": 1}).clauses[0]
    assert (large.holds, large.evidence) == (True, Evidence.COMPUTED) and "digits" in large.unchecked


def test_floats_are_no_ends_of_an_enclosure():
    for wrong in ((0.5, 1), (0, 1.5), (True, 1), ("0", 1), (2, 1)):
        with pytest.raises(TheoremError, match="enclosure"):
            verify.Enclosure(*wrong)
    assert verify.Enclosure(Fraction(1, 3), None).midpoint is None


def test_a_statement_cannot_change_after_its_digest_was_taken():
    shapes, words = dict(SHAPES), ["one", "two"]
    clause = MatrixIdentity("c", A * (A + B), A * A + A * B, shapes)
    parameters = (Parameter("a", "rational", "a"), Parameter("w", "word", "w", words=words))
    definitions = {d: 1 / a}
    statement = Statement(parameters, (clause,), definitions=definitions)
    before = statement.digest
    shapes[A], definitions[d] = (3, 3), a
    words.append("three")
    with pytest.raises(TypeError):
        statement.definitions[d] = a
    with pytest.raises(TypeError):
        statement.clauses[0].shapes[A] = (3, 3)
    assert replace(statement).digest == before and statement.parameters[1].words == ("one", "two")
    assert digest_of(statement.canonical()) == before
    object.__setattr__(statement, "parameters", parameters[:1])
    with pytest.raises(TheoremError, match="has changed since its digest was taken"):
        statement.canonical()


def around(source: str) -> list[str]:
    """Return a module's calls that only `decide` may make: they evaluate a clause, or set a result's evidence."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr == "evaluate":
            owner = ast.unparse(node.value)
            found += [] if owner in ("primitive", "made", "known", "PRIMITIVES[name]") else [f"{owner}.evaluate"]
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            named = {keyword.arg for keyword in node.keywords} & {"evidence", "rechecked"}
            if function == "replace" or function.startswith("ClauseResult"):
                found += sorted(f"{name}=" for name in named)
    return found


ENGINE = Path(verify.__file__).parent
SOURCES = sorted(path for path in ENGINE.rglob("*.py") if "rechecker" not in path.parts)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ENGINE).as_posix())
def test_nothing_goes_around_the_one_way(path):
    found = around(path.read_text(encoding="utf-8"))
    allowed = {"checking/decide.py": found, "search/verdicts/decision.py": ["evidence=", "rechecked="]}
    # A sweep counts its rows by their evidence, and counts the rows that it computed again.
    allowed["runs/sweeps/sweep.py"] = ["evidence=", "rechecked="]
    assert [what for what in found if what not in allowed.get(path.relative_to(ENGINE).as_posix(), ())] == []


def test_evaluations_that_bypass_the_decider_are_found():
    assert around("result = clause.evaluate(question)") == ["clause.evaluate"]
    assert around("result = ended(hard_end, clause.evaluate, question)") == ["clause.evaluate"]
    assert around("replace(result, evidence=Evidence.PROVED)") == ["evidence="]
    assert around("ClauseResult(label=label, rechecked=True)") == ["rechecked="]
    assert around("ClauseResult(label=label, evidence=Evidence.CERTIFIED)") == ["evidence="]
    assert around("decider.decide(clause)") == []


@pytest.mark.parametrize(("power", "evidence"), [(2, Evidence.CERTIFIED), (7, Evidence.CERTIFIED)])
def test_a_margin_may_have_thousands_of_digits(make_theorem, no_deduction, power, evidence):
    # exp(4**7) has 7 116 digits, more than Python reads as one number.
    clause = check(make_theorem(Inequality("c", sp.Gt(sp.exp(x**power), x))), {"x": 4}, seconds=5).clauses[0]
    assert (clause.outcome, clause.evidence) == (Outcome.VERIFIED, evidence)
    assert clause.margin.lower > Fraction(2) ** (4**power) - 4
