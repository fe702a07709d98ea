"""Labels, names, ids, titles and sentences must be one visible line of bounded length, wherever they are written."""

from dataclasses import replace

import pytest
import sympy as sp

from verify import (
    Comparison,
    Dynamics,
    Experiment,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    InWords,
    MatrixIdentity,
    Paper,
    Parameter,
    Prediction,
    Reaches,
    Rule,
    Source,
    Statement,
    Step,
    Theorem,
    TheoremError,
    load_finding,
    matrix,
)
from verify.language.expressions import PRIMITIVES, primitive
from verify.language.labels import (
    NAME,
    SENTENCE,
    TITLE,
    refuse_bad_id,
    refuse_bad_label,
    refuse_bad_name,
    refuse_bad_text,
)

x = sp.Symbol("x", real=True)
X = Parameter("x", "rational", "a number")
SOURCE = Source("1", "derived here")
CLAIM = Inequality("c", sp.Le(x, x**2 + 1))
SPOOFS = {
    "a line of its own": "a\naccepted: wang2024.theorem1",
    "the screen is cleared": "a\x1b[2J",
    "the clipboard is written": "a\x1b]52;c;YQ==\x07",
    "from right to left": "a\u202eb",
    "carriage return": "a\rverified",
    "a line separator": "a\u2028b",
    "no width": "a\u200bb",
    "half a letter": "a\udc80",
}


@pytest.mark.parametrize("text", SPOOFS.values(), ids=SPOOFS)
def test_unprintable_text_is_refused_in_one_printable_line(text):
    for refuse in (refuse_bad_text, refuse_bad_label, refuse_bad_name, refuse_bad_id):
        with pytest.raises(TheoremError) as found:
            refuse("clause", text)
        assert str(found.value).isprintable() and f"has U+{ord(next(c for c in text if not c.isprintable())):04X}" in (
            str(found.value)
        )


def test_text_above_its_limit_alone_is_refused():
    refuse_bad_text("text", "x" * SENTENCE)
    refuse_bad_label("clause", "x" * NAME)
    refuse_bad_name("parameter", "x" * NAME)
    refuse_bad_id("theorem", "x" * NAME)
    for refuse, longest in ((refuse_bad_text, SENTENCE), (refuse_bad_label, NAME), (refuse_bad_id, NAME)):
        with pytest.raises(TheoremError, match=f"has {longest + 1} characters, and may have {longest}") as found:
            refuse("it", "x" * (longest + 1))
        assert len(str(found.value)) < 200


def test_an_unprintable_character_in_a_long_text_is_shown_in_context():
    with pytest.raises(TheoremError, match=r"'…x{30}.x1b") as found:
        refuse_bad_text("text", "x" * 300 + "\x1b" + "y" * 300)
    assert len(str(found.value)) < 200


@pytest.mark.parametrize("name", ["T", "d_e", "n_test", "lambda", "η", "x1"])
def test_a_name_that_can_be_typed_is_one(name):
    refuse_bad_name("parameter", name)
    assert Parameter(name, "rational", "").name == name


@pytest.mark.parametrize("name", ["", " ", "x=1", "--json", "-x", "a b", " x", "x ", "1x", "a.b", "x,y", None, 3])
def test_a_name_that_cannot_be_typed_is_refused(name):
    with pytest.raises(TheoremError, match="a name must be"):
        Parameter(name, "rational", "a number")


@pytest.mark.parametrize("name", ["wang2024.theorem1", "user.a-b", "t", "A.b.c_1"])
def test_an_id_is_parts_joined_by_dots(name):
    refuse_bad_id("theorem", name)
    assert _theorem(id=name).id == name


@pytest.mark.parametrize(
    "name", ["../../escaped", "a/b", ".a", "a.", "a..b", "", "a b", "é", "/tmp/x", "..", "a:b", None]
)
def test_malformed_ids_are_refused(name):
    with pytest.raises(TheoremError, match="an id must be"):
        _theorem(id=name)


def _statement(**parts):
    return Statement(**{"parameters": (X,), "claims": (CLAIM,), **parts})


def _theorem(**parts):
    given = {"id": "user.t", "title": "t", "source": SOURCE, "statement": _statement(), "example": {"x": 1}}
    return Theorem(**{**given, **parts})


def _recursion(text):
    z = sp.Symbol(text, real=True)
    return Reaches("c", Dynamics((z,), (sp.Integer(1),), (z / 2,), z), x)


def _products(one, other):
    return MatrixIdentity("m", one * other, other * one, {one: (1, 1), other: (1, 1)})


def _primitive(text):
    def function(arithmetic, number):
        return number

    function.__name__ = text
    return primitive(version=1)(function)


FINDING = load_finding("li2024.claimed_bound_is_vacuous")
PLACES = {
    "a parameter's name": lambda text: Parameter(text, "rational", ""),
    "a parameter's meaning": lambda text: Parameter("x", "rational", text),
    "a word": lambda text: Parameter("x", "word", "", words=(text,)),
    "a clause's label": lambda text: _statement(claims=(replace(CLAIM, label=text),)),
    "a clause's words": lambda text: _statement(claims=(replace(CLAIM, says=text),)),
    "a claim in words": lambda text: _statement(claims=(CLAIM, InWords("w", text))),
    "an identity's words": lambda text: _statement(claims=(Identity("i", (x + 1) ** 2, x**2 + 2 * x + 1, says=text),)),
    "a hypothesis's label": lambda text: _statement(hypotheses=(Hypothesis(text, sp.Le(x, 3)),)),
    "a hypothesis's text": lambda text: _statement(hypotheses=(Hypothesis("h", sp.Le(x, 3), text),)),
    "a structural hypothesis": lambda text: _statement(hypotheses=(Hypothesis("h", text=text),)),
    "a definition's symbol": lambda text: _statement(definitions={sp.Symbol(text, real=True): x}),
    "a variable": lambda text: _statement(variables=(sp.Symbol(text, real=True),)),
    "a state": lambda text: _statement(claims=(_recursion(text),)),
    "a matrix": lambda text: _statement(claims=(_products(matrix(text), matrix("B")),)),
    "a primitive": _primitive,
    "an inference's label": lambda text: Inference(text, "it follows", ("c",), "Cauchy-Schwarz"),
    "an inference's sentence": lambda text: Inference("i", text, ("c",), "Cauchy-Schwarz"),
    "what an inference uses": lambda text: Inference("i", "it follows", (text,), "Cauchy-Schwarz"),
    "a rule": lambda text: Rule(text, "", "", "analysis"),
    "what a rule says": lambda text: Rule("a rule", text, "", "analysis"),
    "a rule's reference": lambda text: Rule("a rule", "", text, "analysis"),
    "a step's reason": lambda text: Step(text, x + x, 2 * x),
    "a theorem's id": lambda text: _theorem(id=text),
    "a theorem's title": lambda text: _theorem(title=text),
    "a value": lambda text: _theorem(values={text: x}),
    "a used theorem": lambda text: _theorem(statement_uses=(text,)),
    "a source's number": lambda text: Source(text, "derived here"),
    "a source's note": lambda text: Source("1", "derived here", note=text),
    "a paper's key": lambda text: Paper(text, "", ""),
    "a citation": lambda text: Paper("doe2025", text, ""),
    "an arXiv id": lambda text: Paper("doe2025", "", text),
    "a paper's claims": lambda text: Paper("doe2025", "", "", claims=text),
    "a finding's id": lambda text: replace(FINDING, id=text),
    "a finding's title": lambda text: replace(FINDING, title=text),
    "a finding's summary": lambda text: replace(FINDING, summary=f"{text}."),
    "an experiment's id": lambda text: Experiment(text, "", SOURCE, (), _primitive),
    "an experiment's title": lambda text: Experiment("user.e", text, SOURCE, (), _primitive),
    "a comparison's id": lambda text: Comparison(text, "t", None, None, _primitive),
    "a comparison's title": lambda text: Comparison("user.c", text, None, None, _primitive),
    "a prediction's title": lambda text: Prediction("user.e", text, _primitive),
}


@pytest.mark.parametrize("place", PLACES)
def test_unprintable_text_is_refused_wherever_it_is_written(place):
    for text in SPOOFS.values():
        with pytest.raises(TheoremError, match=r"must be one line of printable characters, and has U\+") as found:
            PLACES[place](text)
        assert str(found.value).isprintable()
    assert not set(SPOOFS.values()) & set(PRIMITIVES)


@pytest.mark.parametrize("place", PLACES)
def test_overlong_text_is_refused_wherever_it_is_written(place):
    with pytest.raises(TheoremError, match=rf"has \d+ characters, and may have ({NAME}|{2 * NAME}|{TITLE}|{SENTENCE})"):
        PLACES[place]("x" * (SENTENCE + 1))


def test_printable_text_of_every_language_is_accepted():
    spoken = "für alle η ≤ ½ gilt ‖x‖ < ∞, 定理, <b>[red]$\\input{x}$|"
    statement = _statement(
        claims=(replace(CLAIM, label="größer", says=spoken),), hypotheses=(Hypothesis("h", sp.Le(x, 3), spoken),)
    )
    assert _theorem(title=spoken, source=Source(spoken, "derived here"), statement=statement).title == spoken


def test_only_a_variant_is_named_by_what_it_does_without():
    variant = _theorem().variant(_statement())
    assert replace(variant, id="user.t without small enough").id == "user.t without small enough"
    for name in ("user.t without a\x1b[2J", "../t without small", "user.t without ", "user.t with small"):
        with pytest.raises(TheoremError, match="must be"):
            replace(variant, id=name)
    with pytest.raises(TheoremError, match="an id must be"):
        _theorem(id="user.t without small")
