"""A small report of made-up results, and a reader of its HTML."""

from fractions import Fraction
from html.parser import HTMLParser

import pytest
import sympy as sp

from verify import (
    Canary,
    Comparison,
    Curve,
    Diagram,
    Evidence,
    Experiment,
    ExperimentResult,
    Finding,
    HeatMap,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    Measurement,
    Outcome,
    Paper,
    Parameter,
    Predicted,
    Premise,
    Source,
    Statement,
    Theorem,
    Verdict,
    Weight,
    check,
)
from verify.checking.standing import Standing
from verify.outcomes import Established, ForAll
from verify.reports.necessity_map import Mapped
from verify.reports.page.contents import Contents, Known, Ran
from verify.reports.page.document import document
from verify.runs.sweeps.sweep import sweep

HOSTILE = '<script>document.title = "taken"</script> & "quoted" <b id=x>'
"""Text that must never be read as markup."""

x, y = sp.symbols("x y", positive=True)
total, eps = sp.symbols("total eps", real=True)
PAPER = Paper("zeta2025", "Z, Sums, 2025", "2501.00001", 5, ("Lemma 1",), claims="Sums are small.", title="Sums")
SMALL = Hypothesis("small", sp.Le(x, 2))
BELOW = Inequality("below", sp.Le(x**2 / (1 + x), 2 * x), "x^2/(1 + x) <= 2x")
PARAMETERS = (Parameter("x", "rational", "a number", above=0), Parameter("y", "rational", HOSTILE, above=0))
HALF = Inequality("half", sp.Le(y / (1 + y), 2 * y))
SQUARE = Identity("square", (total + eps) ** 2, total**2 + 2 * total * eps + eps**2)
PARTS = {"hypotheses": (SMALL,), "steps": (HALF, SQUARE), "variables": (total, eps)}
STATEMENT = Statement(PARAMETERS, (BELOW,), **PARTS)
FALSE = Statement(PARAMETERS, (Inequality("below", sp.Le(2 * x, x / (1 + x))),), **PARTS)


def theorem(name, title, **more):
    source = Source("Lemma 1", "printed", PAPER)
    argument = (Inference("below", f"it follows, {HOSTILE}", ("half", "square", "small"), "application"),)
    known = {"argument": argument, "canaries": (Canary("twice", FALSE, "below"),)} | more
    return Theorem(name, title, source, STATEMENT, {"x": 1, "y": 2}, **known)


LEMMA = theorem("zeta2025.lemma1", HOSTILE)
AGAIN = theorem(
    "zeta2025.again",
    "The same again",
    argument=(Inference("below", "as before", ("half", "square", "zeta2025.lemma1"), "application"),),
    proof_uses=("zeta2025.lemma1",),
)


def known(one, standing, hypotheses):
    established = Established(standing, frozenset({f"{one.id}:below"}) if standing is ForAll.ARGUED else frozenset())
    clauses = {clause.label: established for clause in one.statement.clauses}
    found = "it is not installed" if one.proof_uses else check(one, x=1, y=2)
    return Known(
        one, Standing(one.id, clauses, established, Evidence.PROVED), found, hypotheses, ("z/one.json", "0" * 64)
    )


NEEDED = {
    "label": "small",
    "status": "needed",
    "why": "without it below is refuted",
    "varied": True,
    "clause": "below",
    "witness": {"x": "23/5", "x_float": 4.6},
    "thresholds": [],
    "relaxed": None,
}


def finding(name, weight, provenance="printed"):
    return Finding(
        id=f"zeta2025.{name}",
        paper=PAPER,
        title=f"{HOSTILE} {name}",
        weight=weight,
        summary=f"The paper says {HOSTILE}; it is so, which is certified.",
        text=f"Details of {name}.",
        command="verify check zeta2025.lemma1 x=1 y=2",
        expect={"clauses.below.evidence": "certified", "values.x": Fraction(1, 3)},
        rests_on=(Premise("Definition 1", provenance),),
    )


def experiment(name):
    return Experiment(
        f"zeta2025.{name}", f"Loss over steps {HOSTILE}", Source("Figure 1", "printed"), (), lambda **_: {}
    )


def measured(name):
    curve = Curve(
        "step", "loss", (0.0, 1.0, 2.0), (Measurement(3.0, 0.1, 5), Measurement(2.0, 0.1, 5), Measurement(1.0))
    )
    return ExperimentResult(
        experiment=f"zeta2025.{name}",
        settings={},
        seed=3,
        device="cpu",
        measurements={"loss_start": curve.measured[0], "loss_end": curve.measured[-1], "rate": Measurement(0.5)},
        seconds=0.1,
        curves={"loss": curve},
        heat_maps={"W": HeatMap("row", "column", "entry of W", ((1.0, -1.0), (0.0, 2.0)))},
        theory={"least_loss": Predicted.level(curve, 1.0)},
    )


def comparison(name, title):
    def compare(**_):
        return Verdict(Outcome.VERIFIED, Evidence.SIMULATED, "d")

    return Comparison(f"zeta2025.{name}", title, "zeta2025.lemma1", "zeta2025.figure1", compare)


DIAGRAM = Diagram(
    "zeta2025.plane",
    "Where the bound holds",
    "Everywhere.",
    "zeta2025.lemma1",
    {"x": "1,2,3", "y": "1,2"},
    {"x": "1,2,3", "y": "1,2"},
)
ENTRIES = (
    {
        "kind": "comparison",
        "id": "zeta2025.trained",
        "outcome": "refuted",
        "evidence": "simulated",
        "expected": "refuted",
    }
    | {
        "detail": f"3 against 2 {HOSTILE}",
        "device": "cpu",
        "instances": 1,
        "seed": 7,
        "full": False,
        "at": "2026-01-02",
    },
    {"kind": "comparison", "id": "zeta2025.trained", "outcome": "verified", "evidence": "simulated", "expected": ""}
    | {"detail": "again", "device": "cuda", "instances": 1, "seed": 7, "full": True, "at": "2026-01-02"},
    {"kind": "canary", "id": "zeta2025.lemma1", "label": "twice", "killed": True, "needed": 2},
    {"kind": "finding", "id": "zeta2025.first", "title": "t", "failures": [], "at": "2026-01-02"},
    {"kind": "finding", "id": "zeta2025.second", "title": "t", "failures": ["values.x: is 1, expected 1/3"]},
)
BENCHMARKS = f"# Benchmarks\n\n| work | ours |\n|---|---|\n| a sum {HOSTILE} | 2 ms |\n"


@pytest.fixture(scope="session")
def contents():
    """The contents of a report: two theorems, three findings, a figure that ran, one that did not, and a diagram."""
    ran = Ran(experiment("figure1"), measured("figure1"))
    not_run = Ran(experiment("figure2"), None, f"it takes an hour {HOSTILE}")
    return Contents(
        theorems=(
            known(AGAIN, ForAll.ARGUED, Mapped(AGAIN.id, (), 0, 0, "no map is shipped")),
            known(LEMMA, ForAll.PROVED, Mapped(LEMMA.id, (NEEDED,), 1.0, 0)),
        ),
        findings=(
            finding("first", Weight.FIGURES),
            finding("second", Weight.CONTRADICTED, "our reading"),
            finding("third", Weight.STRONGER),
        ),
        comparisons=(
            comparison("trained", f"Figure 1: it falls {HOSTILE}"),
            comparison("idle", "Figure 1: it is level"),
        ),
        figures=(ran, not_run),
        diagrams=(Ran(DIAGRAM, sweep(LEMMA, DIAGRAM.quick, {})),),
        entries=ENTRIES,
        benchmarks=BENCHMARKS,
        made={"lemmascope": "0", "at": "now", "seed": "0", "command": "verify report"},
    )


@pytest.fixture(scope="session")
def text(contents):
    """The whole page."""
    return document(contents)


class Read(HTMLParser):
    """A parsed HTML page: its elements in order, with their attributes and the text in them."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "text": "", **dict(attrs)}
        self.elements.append(element)
        if tag not in ("meta", "link", "br"):
            self.open.append(element)

    def handle_endtag(self, tag):
        while self.open and self.open.pop()["tag"] != tag:
            pass

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, *tags):
        return [element for element in self.elements if element["tag"] in tags]


@pytest.fixture(scope="session")
def page(text):
    """The parsed page."""
    return Read(text)
