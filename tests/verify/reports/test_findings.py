"""Findings: a command has the expected values, or the difference is reported; and the files of findings."""

import json
import sys
from fractions import Fraction

import pytest

from verify import Enclosure, Finding, InputError, Paper, Premise, TheoremError, Weight, findings_pages, reproduce

PAPER = Paper("zeta2025", "Z, Title, 2025", "2501.00001")
PRINTED = Premise("Definition 1", "printed")
COMMAND = "verify check wang2024.theorem1 T=9 q=2 d=1 eta=5 eps=1/200"


def finding(
    expect=None,
    rests_on=(PRINTED,),
    command=COMMAND,
    name="zeta2025.finding",
    paper=PAPER,
    summary="A sentence.",
    weight=Weight.STRONGER,
):
    expect = {"outcome": "verified"} if expect is None else expect
    return Finding(name, paper, "A title", weight, summary, "A text.", command, expect, rests_on)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("outcome", "out_of_scope"),
        ("in_scope", False),
        ("values.inverse_loss_slope", None),
        ("instance.eta", 5),
        ("instance.eps", Fraction(1, 200)),
        ("instance.eps", "1/200"),
        ("instance.eps", Enclosure(Fraction(1, 300), Fraction(1, 200))),
        ("values.steps_to_epsilon", 102),
        ("values.steps_to_epsilon", Enclosure(100, 102)),
        ("values.steps_to_epsilon.lower", 102),
        ("clauses.stays.holds", False),
        ("clauses.1.holds", False),
        ("clauses.stays.margin", Enclosure(Fraction("-0.0016026"), Fraction("-0.0016025"))),
        ("clauses.stays.margin", Enclosure(None, 0)),
        ("clauses.stays.margin_float", Enclosure(-1, 0)),
        ("clauses.stays.witness.above_at", 1601),
    ],
)
def test_expected_values_that_are_there_hold(path, expected):
    found = reproduce(finding({path: expected}))
    assert found.holds and found.failures == () and found.error == ""
    assert (found.finding, found.exit_code) == ("zeta2025.finding", 4) and found.seconds > 0


@pytest.mark.parametrize(
    ("path", "expected", "why"),
    [
        ("outcome", "verified", 'is "out_of_scope", expected verified'),
        ("in_scope", True, "is false, expected true"),
        # JSON's false is not the number 0, and true is not 1.
        ("in_scope", 0, "is false, expected 0"),
        ("in_scope", None, "is false, expected null"),
        ("in_scope", Enclosure(-1, 1), "is false, expected between -1 and 1"),
        ("instance.d", True, "is 1, expected true"),
        ("instance.eta", "5", "is 5, expected 5"),
        ("instance.eps", Fraction(1, 201), 'is "1/200", expected 1/201'),
        ("values.steps_to_epsilon", 103, 'is {"lower": 102, "upper": 102}, expected 103'),
        ("values.steps_to_epsilon", Enclosure(103, 110), "expected between 103 and 110"),
        ("values.inverse_loss_slope", Enclosure(0, 1), "is null, expected between 0 and 1"),
        ("values.inverse_loss_slope", Enclosure(None, 1), "is null, expected between -∞ and 1"),
        # A part of the found enclosure is outside the expected enclosure.
        ("clauses.stays.margin", Enclosure(Fraction("-0.00160259760832011345"), 0), "expected between -1.6"),
        ("clauses.stays.claim", 1, "expected 1"),
        ("clauses.stays.evidence", "proved", "expected proved"),
        ("clauses.leaves.holds", False, "there is no 'leaves'"),
        ("clauses.7.holds", False, "there is no '7'"),
        ("clauses.stays.hold", False, "there is no 'hold'"),
        ("outcome.more", False, "there is no 'more'"),
        ("nothing", None, "there is no 'nothing'"),
    ],
)
def test_a_value_that_differs_or_is_absent_is_reported(path, expected, why):
    found = reproduce(finding({"instance.T": 9, path: expected}))
    assert not found.holds
    (failure,) = found.failures
    assert failure.startswith(f"{path}: ") and why in failure


@pytest.fixture
def printing(monkeypatch):
    """Return a function that makes a finding's command print an object."""

    def of(body):
        monkeypatch.setattr("verify.reports.reproduction.run", lambda _: sys.stdout.write(json.dumps(body)) and 0)

    return of


@pytest.mark.parametrize(("expected", "holds"), [("certified, trusting hardy.pairs/2", True), ("certified", False)])
def test_evidence_names_what_it_trusts(printing, expected, holds):
    trust = {"name": "hardy.pairs", "version": 2, "package": "hardy", "digest": "0" * 64}
    printing({"clauses": [{"label": "c", "evidence": "certified", "trusts": [trust]}]})
    assert reproduce(finding({"clauses.c.evidence": expected})).holds is holds


def test_a_command_that_fails_fails_everything_it_should_have_said():
    found = reproduce(finding({"outcome": "verified", "in_scope": True}, command="verify check wang2024.theorem9"))
    assert found.exit_code == 2 and found.error.startswith("verify: theorem = wang2024.theorem9: unknown id")
    assert [failure.split(": ")[0] for failure in found.failures] == ["outcome", "in_scope"]
    assert found.failures[0] == f"outcome: {found.error}"


def test_a_command_without_json_is_reported(monkeypatch):
    monkeypatch.setattr("verify.reports.reproduction.run", lambda _: 0)
    assert reproduce(finding()).failures == ("outcome: the command printed no JSON",)


def test_an_interrupted_command_interrupts(monkeypatch):
    monkeypatch.setattr("verify.reports.reproduction.run", lambda _: 130)
    with pytest.raises(KeyboardInterrupt):
        reproduce(finding())


@pytest.mark.parametrize(
    ("expected", "holds"),
    [(Enclosure(3, None), True), (3, False), (Enclosure(0, 10**9), False), (Enclosure(4, None), False)],
)
def test_an_enclosure_with_an_unknown_end_is_in_no_bounded_interval(printing, expected, holds):
    printing({"x": {"lower": 3, "upper": None}})
    assert reproduce(finding({"x": expected})).holds is holds


COMMANDS = ["", "verify", "verify check x --json", "python -m verify check x", "rm -r x", "; verify list"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        *(({"command": command}, "the command must be `verify …`, without --json") for command in COMMANDS),
        ({"expect": {}}, "needs expected values"),
        ({"rests_on": ()}, "what it rests on"),
        ({"expect": {"x": 0.1}}, r"x: write 0\.1 as a Fraction"),
        ({"expect": {"x": Enclosure(None, None)}}, "x: an interval without ends"),
        ({"summary": ""}, "its summary is one sentence"),
        ({"summary": "no full stop"}, "its summary is one sentence"),
        ({"weight": "heavy"}, r"finding zeta2025\.finding: weight 'heavy'"),
    ],
    ids=str,
)
def test_malformed_findings_are_refused(given, why):
    with pytest.raises(TheoremError, match=why):
        finding(**given)


def test_a_provenance_that_is_not_known():
    with pytest.raises(TheoremError, match="'hearsay' is not one of"):
        Premise("Definition 1", "hearsay")


@pytest.mark.parametrize(
    ("provenance", "ours"),
    [
        ("printed", False),
        ("recalled", False),
        ("derived here", False),
        ("observed", False),
        ("our reading", True),
        ("open", True),
    ],
)
def test_a_finding_that_rests_on_a_reading_says_so(provenance, ours):
    found = finding(rests_on=(PRINTED, Premise("the layer", provenance)))
    assert found.under_our_reading is ours
    assert found.heading == "A title" + (" (under our reading)" if ours else "")


def test_findings_as_pages():
    reading = Premise("the layer", "our reading")
    first = finding({"a.b": Fraction(1, 3), "c": True, "d": None, "e": "word"}, (PRINTED, reading), name="zeta2025.a")
    second = finding({"x": Enclosure(1, Fraction(5, 2))}, name="zeta2025.b", weight=Weight.CONTRADICTED)
    other = finding(name="alpha2024.c", paper=Paper("alpha2024", "A, 2024", "2401.00001"))
    pages = findings_pages([second, first, other])
    assert pages == findings_pages([other, first, second])
    assert list(pages) == ["FINDINGS.md", "docs/findings/alpha2024.md", "docs/findings/zeta2025.md"]
    assert pages["FINDINGS.md"].split("\n\n", 2)[2] == (
        """## What does not hold as printed

- [`zeta2025.b`](docs/findings/zeta2025.md#b): A sentence.

## Where more holds than is printed

- [`alpha2024.c`](docs/findings/alpha2024.md#c): A sentence.
- [`zeta2025.a`](docs/findings/zeta2025.md#a): A sentence. *(under our reading)*

## The theorems behind these

- [How each theorem is established](docs/findings/standing.md) for all parameters
- [Which hypotheses are needed](docs/findings/hypotheses.md), and how sharp their bounds are
"""
    )
    assert pages["docs/findings/zeta2025.md"] == (
        """# Findings: zeta2025

Z, Title, 2025, arXiv 2501.00001. Written by `verify pin`.

## What does not hold as printed

<a id="b"></a>

### A title

`zeta2025.b`

**A sentence.**

A text.

```
verify check wang2024.theorem1 T=9 q=2 d=1 eta=5 eps=1/200
```

What it reports:

- `x`: between 1 and 2.5

Rests on premise 1.

## Where more holds than is printed

<a id="a"></a>

### A title (under our reading)

`zeta2025.a`

**A sentence.**

A text.

```
verify check wang2024.theorem1 T=9 q=2 d=1 eta=5 eps=1/200
```

What it reports:

- `a.b`: 1/3
- `c`: true
- `d`: null
- `e`: word

Rests on premises 1, 2.

## Premises

1. Definition 1 (printed)
2. the layer (our reading)
"""
    )


def test_a_finding_is_reproduced_by_its_id():
    with pytest.raises(InputError, match="finding = zeta: unknown id"):
        reproduce("zeta")
