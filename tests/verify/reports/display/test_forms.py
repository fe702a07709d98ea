"""The forms of a result: one line by repr, the command line's text by print, escaped tables in a notebook."""

import json
from fractions import Fraction
from html.parser import HTMLParser

import pytest
import sympy as sp
from hypothesis.vendor.pretty import pretty

import verify
from verify import (
    Curve,
    Derivation,
    Enclosure,
    Experiment,
    Hypothesis,
    Identity,
    Inequality,
    InputError,
    Measurement,
    Outcome,
    Parameter,
    Setting,
    Source,
    Statement,
    Step,
    Theorem,
    ids,
)
from verify.checking.derivation import CheckedStep
from verify.reports import text as texts
from verify.reports.display.short import LONGEST, number

x, y = sp.symbols("x y", positive=True)
HOSTILE = "</td><script>alert('$x$')</script> | **a** _b_ [c](javascript:d) {e} \\f & #g <!-- `h` %"
PARAMETERS = (Parameter("x", "rational", f"a number {HOSTILE}", above=0),)
STATEMENT = Statement(
    PARAMETERS,
    (
        Inequality("small", sp.Le(x, 2), f"at most 2 {HOSTILE}"),
        Identity("square", (x + 1) ** 2, x**2 + 2 * x + 1),
    ),
    (Hypothesis("near", sp.Lt(x, 10)), Hypothesis("said", text=HOSTILE)),
    definitions={sp.Symbol("u"): x + 1},
)
MINE = Theorem("user.mine", f"a title {HOSTILE}", Source("Lemma 7", "derived here"), STATEMENT, {"x": 1})
DERIVATION = Derivation((Step(f"expanded {HOSTILE}", (x + 1) ** 2, x**2 + 2 * x + 1),), {y: x + 1})
LEVELS = Experiment(
    "user.levels",
    "levels",
    Source("1", "derived here"),
    (Setting(Parameter("n", "integer", "a number", minimum=1), 2, 3),),
    lambda chosen, **_: {
        "level": Curve("steps", "level", (1.0, 2.0), (Measurement(1.0, 0.0), Measurement(2.0, 0.1, 9)))
    },
)


@pytest.fixture(scope="module")
def shown():
    """One object of each kind that a notebook displays, with hostile text in every string that can contain it."""
    checked = verify.check(MINE, x="1/3")
    refuted = verify.check(MINE, x=3)
    return {
        "theorem": MINE,
        "statement": STATEMENT,
        "derivation": DERIVATION,
        "step": next(DERIVATION.checked_steps()),
        "check": checked,
        "refuted": refuted,
        "clause": refuted.clauses[0],
        "hypothesis": checked.hypotheses[0],
        "enclosure": Enclosure(Fraction(1, 3), Fraction(10**200 + 1, 10**200)),
        "conditions": verify.conditions(MINE),
        "prove": verify.prove(MINE, seconds=2),
        "explore": verify.explore(MINE, max_examples=20),
        "nothing found": verify.explore(MINE, x=1, max_examples=5),
        "necessity": (needs := verify.necessity(MINE, seconds=2)),
        "need": needs.hypotheses[0],
        "reach": (beyond := verify.necessity(MINE, x=1, seconds=2)),
        "line": beyond.extended_ranges[0],
        "sweep": verify.sweep(MINE, {"x": [1, 2, 3]}),
        "experiment": LEVELS.run(device="cpu"),
        "observation": verify.observe("wang2024.theorem1", [1, 10], {"eta": ["1/20", "1/10"]}, T=9, q=2, d=1),
    }


KINDS = (
    *("theorem", "statement", "derivation", "step", "check", "refuted", "clause", "hypothesis", "enclosure"),
    *(
        "conditions",
        "prove",
        "explore",
        "nothing found",
        "necessity",
        "need",
        "reach",
        "line",
        "sweep",
        "experiment",
        "observation",
    ),
)
RESULTS = ("check", "conditions", "prove", "explore", "necessity", "reach", "sweep")


class Parsed(HTMLParser):
    """A parser that records the elements and the text of HTML, and refuses unclosed elements and other markup."""

    KNOWN = frozenset(["div", "strong", "p", "table", "caption", "thead", "tbody", "tr", "th", "td", "span"])

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.said = [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in self.KNOWN and {name for name, _ in attrs} <= {"class", "title"}, (tag, attrs)
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data):
        self.said.append(data)


def test_every_kind_is_tried(shown):
    assert set(KINDS) == set(shown)


@pytest.mark.parametrize("kind", KINDS)
def test_a_repr_is_short(shown, kind):
    said = repr(shown[kind])
    assert len(said) <= LONGEST and "\n" not in said and said.startswith(f"<{type(shown[kind]).__name__} ")


@pytest.mark.parametrize("kind", KINDS)
def test_a_failing_case_of_hypothesis_shows_the_short_form(shown, kind):
    assert pretty([shown[kind]]) == f"[{shown[kind]!r}]"


@pytest.mark.parametrize("kind", KINDS)
def test_html_is_well_formed_and_escaped(shown, kind):
    found = Parsed(shown[kind]._repr_html_())
    assert "script" not in found.seen and found.seen[0] == "div" and "".join(found.said)


@pytest.mark.parametrize("kind", ["theorem", "statement", "check", "conditions"])
def test_hostile_texts_are_shown_as_they_are(shown, kind):
    assert HOSTILE in "".join(Parsed(shown[kind]._repr_html_()).said)


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_is_escaped(shown, kind):
    said = shown[kind]._repr_markdown_()
    assert "<script" not in said and "<!--" not in said and "](" not in said.replace("\\](", "")
    rows = [line for line in said.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)


def test_ranges_known_beyond_the_hypotheses_are_shown():
    shown = verify.conditions("wang2024.theorem1", T=200, q=3, d=5, eta=1)
    assert "| step\\_size: eta &lt;= 1/500" in shown._repr_markdown_()
    assert "step_size: eta &lt;= 1/500" in shown._repr_html_()


def test_a_table_of_markdown_has_as_many_cells_in_each_row():
    lines = MINE.statement._repr_markdown_().splitlines()
    at = lines.index("| name | value | meaning |")
    cells = lines[at + 2].replace("\\|", "").split("|")
    assert len(cells) == 5 and "script" in cells[3] and lines[at + 1] == "|---|---|---|"


@pytest.mark.parametrize("kind", ["theorem", "statement", "derivation", "step"])
def test_latex_is_balanced(shown, kind):
    said = shown[kind]._repr_latex_()
    assert said.startswith("$$\\begin{array}") and said.endswith("\\end{array}$$")
    plain = said.replace("\\{", "").replace("\\}", "")
    assert plain.count("{") == plain.count("}") and said.count("\\begin") == said.count("\\end")
    assert "<script" not in said and "</td>" not in said


def test_formulas_are_by_sympys_printer():
    said = STATEMENT._repr_latex_()
    assert "\\displaystyle x \\leq 2" in said and sp.latex((x + 1) ** 2) + " = " + sp.latex(x**2 + 2 * x + 1) in said
    assert "$x \\leq 2$" in STATEMENT._repr_markdown_() and ">$x \\leq 2$<" in STATEMENT._repr_html_()
    assert not hasattr(verify.check(MINE, x=1), "_repr_latex_")


def steps_of(derivation):
    return [step.text() for step in derivation.checked_steps()]


@pytest.mark.parametrize(
    ("kind", "printed"),
    [
        ("check", texts.check_text),
        ("conditions", texts.conditions_text),
        ("prove", texts.prove_text),
        ("explore", texts.explore_text),
        ("necessity", texts.necessity_text),
        ("sweep", texts.sweep_text),
        ("experiment", texts.experiment_text),
        ("observation", lambda result: result.text()),
        ("step", lambda step: step.text()),
        ("derivation", lambda derivation: "\n".join([*texts.notation_lines(derivation), *steps_of(derivation)])),
        ("enclosure", verify.outcomes.number_text),
    ],
)
def test_in_print_as_on_the_command_line(shown, kind, printed):
    assert str(shown[kind]) == printed(shown[kind])


def test_a_statement_in_print():
    assert str(
        Statement(PARAMETERS[:0], (Inequality("c", sp.Lt(sp.Integer(1), y, evaluate=False)),), variables=(y,))
    ) == ("statement\nclaims\n  c  1 < y")
    lines = str(MINE).splitlines()
    assert lines[0] == "user.mine" and "  near  x < 10" in lines and "  u  x + 1" in lines


def test_a_step_that_fails_is_said_and_the_rest_is_shown():
    wrong = Derivation((*DERIVATION.steps, Step("wrong", x, x + 1)))
    for said in (str(wrong), wrong._repr_markdown_(), wrong._repr_html_()):
        assert "does not hold" in said and "expanded" in said
    assert repr(wrong) == "<Derivation of 2 steps, 0 definitions, 0 shorthands>"


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_has_no_truth_value(shown, kind):
    with pytest.raises(TypeError, match=r"is neither true nor false: (compare|ask|look)") as error:
        bool(shown[kind])
    assert "\n" not in str(error.value) and type(shown[kind]).__name__ in str(error.value)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (*RESULTS, "refuted", "nothing found")])
def test_other_things_are_true(shown, kind):
    assert shown[kind]


@pytest.mark.parametrize("name", ["\\href{javascript:alert(1)}{x}", "<b>x</b>", "$x$", "x & y", "\\require{html}"])
@pytest.mark.parametrize("make", [sp.Symbol, lambda name: sp.Function(name)(x)])
def test_a_name_that_is_no_word_is_text(name, make):
    shown = CheckedStep(1, "why", make(name) + x, x)
    assert "$" not in shown._repr_markdown_().replace("\\$", "")
    assert "\\displaystyle" not in shown._repr_latex_() and "\\href" not in shown._repr_latex_()
    found = Parsed(shown._repr_html_())
    assert "span" not in found.seen and name in "".join(found.said)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Fraction(1, 3), "1/3"),
        (12345678901234567890, "12345678901234567890"),
        (10**40, "about 1e40"),
        (Fraction(10**200, 3 * 10**190 + 1), "about 3333333333"),
        (Fraction(1, 10**400), "about 1e-400"),
        (10**4000, "about 1e4000"),
        (Enclosure(1, None), "at least 1 (no upper bound known)"),
        (Enclosure(None, Fraction(1, 2)), "at most 0.5 (no lower bound known)"),
        (Enclosure(3, 3), "3"),
        ((1, 2), "1, 2"),
        (list(range(9)), "0, 1, 2, 3, 4, 5, …"),
        ("a word", "a word"),
        (True, "True"),
        (None, "none"),
    ],
)
def test_numbers_are_short(value, said):
    assert number(value) == said


SHOWN = ("ahn2023.lemma4", "ahn2023.theorem1", "li2024.gradient", "wang2024.theorem1")
"""Some theorems of each paper; the others are shown in the audit, and all by `make docs`."""


def test_some_of_each_paper_are_shown():
    assert {*SHOWN} <= {*ids("theorem")} and {name.split(".")[0] for name in SHOWN} == {"ahn2023", "li2024", "wang2024"}


@pytest.mark.parametrize(
    "name", [each if each in SHOWN else pytest.param(each, marks=pytest.mark.audit) for each in ids("theorem")]
)
def test_every_theorem_of_the_library_shows_itself(name):
    theorem = verify.load_theorem(name)
    for thing in (theorem, theorem.statement):
        assert len(repr(thing)) <= LONGEST and "\n" not in repr(thing)
        Parsed(thing._repr_html_())
        assert thing._repr_latex_() and thing._repr_markdown_() and str(thing)
    # The default values of this theorem take long to compute; a check without them has no instance.
    result = verify.check(theorem, theorem.example, seconds=60 if name == "wang2024.length_generalization" else 5)
    for thing in (result, *result.clauses, *result.hypotheses):
        assert len(repr(thing)) <= LONGEST and "\n" not in repr(thing)
    Parsed(result._repr_html_())


def test_a_refuted_instance_is_given_back(shown):
    refuted = shown["refuted"]
    assert refuted.outcome is Outcome.REFUTED and refuted.witness == {"x": 3}
    assert (
        verify.check(MINE, refuted.witness).witness == verify.check(MINE, **refuted.witness).witness == refuted.witness
    )
    assert shown["check"].witness is None
    assert verify.check(MINE, x=11).witness is None


def test_a_counterexample_is_given_back(shown):
    found = shown["explore"]
    assert found.witness == found.counterexample is not None and shown["nothing found"].witness is None
    assert verify.check(MINE, found.witness).outcome is Outcome.REFUTED
    assert verify.prove(MINE, seconds=2).witness is not None


def test_the_witness_of_a_clause_is_given_back():
    wrong = Identity("wrong", (x + 1) ** 2 + y, x**2 + 2 * x + 1 + 2 * y)
    theorem = MINE.variant(Statement(PARAMETERS, (wrong,), variables=(y,)))
    (clause,) = verify.check(theorem, x=2).clauses
    assert clause.evidence == "certified" and {"x", "y", "left_minus_right"} <= set(clause.witness)
    again = verify.check(theorem, clause.witness)
    assert again.instance == {"x": 2} and again.clauses[0].witness == clause.witness
    with pytest.raises(InputError, match="is not a parameter of this theorem"):
        verify.check(theorem, dict(clause.witness))
    assert json.dumps(again.to_json())
