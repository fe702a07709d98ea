"""The lines of the ledger, from entries in the form that tests write."""

from dataclasses import replace

import pytest

import verify
from verify.reports.ledger import ledger_lines, summary_lines

DISCLOSED = ["Lemma 1", "Theorem 1"]


def _theorem(name, outcome="verified", evidence="certified", expected="verified", seconds=1.0, **more):
    entry = {"kind": "theorem", "id": name, "outcome": outcome, "evidence": evidence, "seconds": seconds}
    paper = {
        "expected": expected,
        "paper": "p",
        "number": "Theorem 1",
        "numbered": 9,
        "disclosed": DISCLOSED,
        "hypotheses": "",
    }
    return entry | paper | {"rechecked": True, "for_all_parameters": "proved", "in_words": [], "trusts": []} | more


def _comparison(name, outcome="verified", device="cpu", instances=1, expected="verified"):
    detail = {"detail": "d", "device": device, "instances": instances, "expected": expected}
    return {"kind": "comparison", "id": name, "outcome": outcome, "evidence": "simulated"} | detail


def _lines(*entries):
    return [" ".join(line.split()) for line in ledger_lines(entries, 12.4)]


def test_a_theorem_has_one_line_with_its_worst_outcome_and_weakest_evidence():
    entries = [
        _theorem("p.a", evidence="proved", seconds=1.25),
        _theorem("p.a", evidence="certified", seconds=0.5),
        _theorem("p.b", evidence="proved"),
        _theorem("p.c", evidence="certified"),
        _theorem("p.c", outcome="inconclusive", evidence="", rechecked=False),
        _theorem("p.d"),
        _theorem("p.d", outcome="refuted"),
        _theorem("p.d", outcome="inconclusive", evidence=""),
        _theorem("p.e", outcome="out_of_scope"),
        _theorem("p.f", trusts=["a.b/1"]),
        _theorem("p.f", trusts=["a.a/2", "a.b/1"]),
    ]
    assert _lines(*entries)[:6] == [
        "p.a verified certified 2 instances, re-checked, 1.8 s; for all: proved",
        "p.b verified proved 1 instance, re-checked, 1.0 s; for all: proved",
        "p.c inconclusive - 2 instances, not all re-checked, 2.0 s; for all: proved",
        "p.d refuted - 3 instances, re-checked, 3.0 s; for all: proved",
        "p.e out_of_scope certified 1 instance, re-checked, 1.0 s; for all: proved",
        "p.f verified certified 2 instances, re-checked, trusting a.a/2, a.b/1, 2.0 s; for all: proved",
    ]


STANDINGS = {"kind": "standings", "id": "", "text": "for all parameters: 2 proved; argued inferences: 0"}
REFUTED = _theorem("p.a", outcome="refuted", expected="refuted")
SURPRISE = _theorem("p.a", outcome="verified", expected="refuted")
COMPARED = _comparison("c", "refuted", expected="refuted")
FINDING = {"kind": "finding", "id": "p.f", "title": "a constant is 4", "failures": []}


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        (
            [
                _theorem(
                    "p.a",
                    outcome="inconclusive",
                    evidence="",
                    for_all_parameters="argued (2 inferences)",
                    in_words=["global"],
                )
            ],
            "p.a inconclusive - 1 instance, re-checked, in words: global, 1.0 s; for all: argued (2 inferences)",
        ),
        # An expected refutation is counted separately; a surprise and an unexpected refutation are not.
        (
            [_theorem("p.a"), REFUTED],
            "p.a verified certified 1 instance, 1 expected otherwise, re-checked, 2.0 s; for all: proved",
        ),
        ([REFUTED], "p.a refuted certified 1 instance, re-checked, 1.0 s; for all: proved"),
        (
            [REFUTED, SURPRISE],
            "p.a verified certified 1 instance, 1 expected otherwise, re-checked, 2.0 s; for all: proved",
        ),
        (
            [_theorem("p.a"), _theorem("p.a", outcome="refuted")],
            "p.a refuted certified 2 instances, re-checked, 2.0 s; for all: proved",
        ),
        # A comparison says on which devices it ran, and whether each result is as expected.
        ([_comparison("c"), _comparison("c", instances=3)], "c verified simulated 4 instances, cpu, cuda: not run"),
        ([_comparison("c", device="cuda")], "c verified simulated 1 instance, cpu: not run, cuda"),
        ([_comparison("c"), _comparison("c", "refuted", "cuda")], "c refuted simulated 2 instances, cpu, cuda"),
        ([COMPARED], "c refuted simulated 1 instance, cpu, cuda: not run, as expected"),
        ([COMPARED, _comparison("c", "refuted")], "c refuted simulated 2 instances, cpu, cuda: not run"),
        ([_comparison("c", expected="refuted")], "c verified simulated 1 instance, cpu, cuda: not run"),
        ([FINDING], "p.f finding reproduced: a constant is 4"),
        (
            [FINDING, FINDING | {"failures": ["x: is 5", "y: is 6"]}],
            "p.f finding NOT reproduced (x: is 5): a constant is 4",
        ),
        ([STANDINGS, STANDINGS], STANDINGS["text"]),
        ([], "12 s in all"),
    ],
)
def test_a_thing_has_one_line(entries, line):
    lines = _lines(*entries)
    assert lines[0] == line and lines.count(line) == 1 and lines[-1] == "12 s in all"


def test_a_paper_says_what_is_covered_known_and_undisclosed():
    both = [_theorem("p.a"), _theorem("p.b", number="Lemma 1")]
    assert _lines(*both)[2] == "p: 2 of 9 numbered statements checked (Lemma 1, Theorem 1); unknown to us: 7"
    (line,) = [line for line in _lines(both[0]) if line.startswith("p:")]
    assert line == (
        "p: 1 of 9 numbered statements checked (Theorem 1); known but not checked here: Lemma 1; unknown to us: 7"
    )
    ours = [_theorem("p.a", number="a corollary"), _theorem("p.b", number="a rate"), _theorem("p.b", number="a rate")]
    (line,) = [line for line in _lines(*ours) if line.startswith("p:")]
    assert line.startswith("p: 0 of 9 numbered statements checked (none)") and line.endswith("results of our own: 2")


def test_a_paper_with_an_unknown_number_of_statements_and_a_theorem_without_a_paper():
    (line,) = [line for line in _lines(_theorem("p.a", numbered=0)) if line.startswith("p:")]
    assert "of its numbered statements" in line and "undisclosed" not in line
    alone = _lines(_theorem("a", paper="", numbered=0, disclosed=[]))
    assert len(alone) == 2 and not any(line.startswith(":") for line in alone)


def test_names_are_aligned():
    lines = list(ledger_lines([_theorem("a"), _theorem("longer.name"), _comparison("c")], 1))
    assert len({line.index("verified") for line in lines[:3]}) == 1


def test_the_hypotheses_of_a_theorem_are_counted_once():
    lines = _lines(*[_theorem("a", hypotheses="1 needed (small)")] * 2, _theorem("b"))
    assert [line for line in lines if "hypotheses:" in line] == ["a hypotheses: 1 needed (small)"]


def test_mutants_are_counted_and_survivors_listed():
    entries = [
        {"kind": "mutants", "id": "a", "killed": 3, "equivalent": 1, "survived": [["bound: 1 -> 2", "not refuted"]]},
        {"kind": "mutants", "id": "b", "killed": 2, "equivalent": 0, "survived": []},
    ]
    lines = _lines(*entries)
    assert "mutants: 5 killed, 1 equivalent (proved), 1 survived" in lines
    assert "survived: a: bound: 1 -> 2: not refuted" in lines
    assert not any("mutants" in line for line in _lines(_theorem("a")))


def _crossing(of, what="holds", **more):
    about = {"of": of, "theorem": "p.a", "exact": "proved", "device": "cpu", "test": "test_it"}
    counts = {"draws": 10, "instances": 9, "trainings": 0, "worst": 0.25, "sizes": {}, "outcome": "as_expected"}
    return {"kind": "crossing", "id": of, "what": what} | about | (counts if what == "holds" else {}) | more


def test_the_summary_shows_a_line_a_crossing_and_only_what_is_unexpected_of_the_rest():
    entries = [
        *(_theorem(f"p.{i}") for i in range(40)),
        _theorem("p.bad", outcome="refuted"),
        *(_comparison(f"c.{i}") for i in range(60)),
        _comparison("c.left", "inconclusive") | {"left_open": True},
        {"kind": "finding", "id": "p.f", "title": "a constant is 4", "failures": ["x: is 5"]},
        _crossing("agreeing"),
        _crossing("agreeing", "planted", label="1 %", caught=True),
        _crossing("failing", outcome="failed"),
        _crossing("blind"),
        _crossing("blind", "planted", label="1 %", caught=False),
        _crossing("blind", "planted", label="2 %", caught=True),
    ]
    lines = [" ".join(line.split()) for line in summary_lines(entries, 12.4)]
    assert lines[0].startswith("p.bad refuted") and lines[1].startswith("p.f finding NOT reproduced (x: is 5)")
    assert (
        "agreeing agrees at 10 draws, 9 distinct; worst deviation 0.25 of what is allowed; planted errors 1 of 1 caught"
        in lines
    )
    assert any(line.startswith("DOES NOT AGREE") for line in lines)
    assert any(line.startswith("planted errors: 1 of 2 caught") for line in lines)
    assert sum("blind" in line for line in lines) == 1
    assert "41 theorems, 40 as expected; instances: 40 verified, 1 refuted" in lines
    said = "61 comparisons, 60 as expected, 1 left open by chance; instances: 60 verified, 1 inconclusive"
    assert said in lines
    assert "1 finding, 0 as expected" in lines and lines[-1] == "12 s in all" and len(lines) < 26
    assert len(list(ledger_lines(entries, 1))) > 100


def test_a_theorem_without_canaries_fails_the_test_and_is_said_to_have_none(ledger):
    theorem = replace(verify.load_theorem("li2024.gradient"), canaries=())
    with pytest.raises(pytest.fail.Exception, match=r"li2024\.gradient: it has no canaries$"):
        ledger.canaries(theorem)
