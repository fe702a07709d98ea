"""The contents of the report: recorded and quick results, and with `full` also results that take long."""

from fractions import Fraction

import pytest

from verify import (
    Comparison,
    Diagram,
    Evidence,
    Experiment,
    InputError,
    Measurement,
    Outcome,
    Parameter,
    Setting,
    Source,
    Store,
    TheoremError,
    Verdict,
    load_finding,
    load_theorem,
)
from verify.reports.page import contents, recorded
from verify.reports.page.contents import gathered
from verify.runs.sweeps.diagram import load_diagram

SETTINGS = (Setting(Parameter("k", "rational", "a number"), Fraction(1), Fraction(2)),)
RUNS = []


def measure(settings, *, seed, device):
    RUNS.append(settings["k"])
    return {"k": Measurement(float(settings["k"]))}


def diverge(settings, *, seed, device):
    return {"k": Measurement(float("inf"))}


def experiment(name, measure=measure, expect=lambda settings, device: 0.0, number="Figure 1"):
    return Experiment(f"zeta2025.{name}", name, Source(number, "printed"), SETTINGS, measure, expect=expect)


def compare(*, device, full, seed):
    return Verdict(Outcome.REFUTED, Evidence.SIMULATED, f"full {full}")


KNOWN = {
    "theorem": {"li2024.gradient": load_theorem("li2024.gradient")},
    "experiment": {
        "zeta2025.quick": experiment("quick"),
        "zeta2025.long": experiment("long", expect=lambda settings, device: 1000.0),
        "zeta2025.untimed": experiment("untimed", expect=None),
        "zeta2025.wild": experiment("wild", diverge),
        "zeta2025.other": experiment("other", number="Definition 2"),
    },
    "comparison": {"zeta2025.c": Comparison("zeta2025.c", "c", None, None, compare)},
    "finding": {"li2024.claimed_bound_is_vacuous": load_finding("li2024.claimed_bound_is_vacuous")},
    "diagram": {
        "zeta2025.plane": Diagram(
            "zeta2025.plane",
            "t",
            "T.",
            "wang2024.fcn_width",
            {"T": "20", "m": "10,20"},
            {"T": "20", "m": "10,20,30"},
            {"q": 3, "d": 5, "eps": "1/10"},
        ),
        "zeta2025.bad": Diagram(
            "zeta2025.bad", "t", "T.", "wang2024.fcn_width", {"T": "20", "k": "1"}, {"T": "20", "k": "1"}
        ),
    },
}


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    """Let only a few objects be installed, and no package ship recorded entries."""
    RUNS.clear()
    monkeypatch.setattr(contents, "shipped", list)
    monkeypatch.setattr(contents, "ids", lambda kind: sorted(KNOWN[kind]))
    for kind, things in KNOWN.items():
        monkeypatch.setattr(contents, f"load_{kind}", things.__getitem__)


def figures(found):
    return {ran.of.id.partition(".")[2]: ran for ran in found.figures}


def test_quick_things_are_run_and_others_say_why_not():
    told = []
    found = gathered(tell=lambda done, total: told.append((done, total)))
    ran = figures(found)
    assert sorted(ran) == ["long", "quick", "untimed", "wild"] and RUNS == [1]
    assert ran["untimed"].why == "how long a quick run takes is not known, and none is stored"
    assert ran["quick"].result.measurements["k"].value == 1 and not ran["quick"].full
    assert ran["long"].result is None and ran["long"].why == "a quick run takes about 17 min, and none is stored"
    assert ran["wild"].result is None and "diverges" in ran["wild"].why
    plane, bad = sorted(found.diagrams, key=lambda each: each.result is None)
    assert plane.result.done == 2 and not plane.full and "parameter of this theorem" in bad.why
    (known,) = found.theorems
    assert known.checked.outcome is Outcome.VERIFIED and known.certificate[0].endswith(
        "certificates/li2024.gradient.json"
    )
    assert len(known.certificate[1]) == 64 and found.entries == () and told[-1] == (7, 7)
    assert found.made["command"] == "verify report" and found.papers[0].key == "li2024"


def test_stored_results_are_shown_the_papers_own_size_first(tmp_path):
    store = Store(tmp_path / "store.sqlite")
    KNOWN["experiment"]["zeta2025.long"].run(device="cpu", store=store, full=True)
    KNOWN["experiment"]["zeta2025.quick"].run(device="cpu", store=store)
    RUNS.clear()
    ran = figures(gathered(store=store))
    assert RUNS == [] and ran["long"].full and ran["long"].result.measurements["k"].value == 2
    assert not ran["quick"].full and ran["quick"].result.from_store


def test_in_full_what_takes_long_is_run_and_recorded():
    found = gathered(full=True)
    assert figures(found)["long"].result is not None and sorted(RUNS) == [1, 1, 1]
    assert next(ran for ran in found.diagrams if ran.result is not None).result.done == 3
    (entry,) = found.entered("comparison", "zeta2025.c")
    assert (entry["outcome"], entry["detail"], entry["full"]) == ("refuted", "full False", False)
    assert [entry["failures"] for entry in found.entered("finding", "li2024.claimed_bound_is_vacuous")] == [[]]
    canaries = found.entered("canary", "li2024.gradient")
    assert len(canaries) == len(load_theorem("li2024.gradient").canaries) and all(each["killed"] for each in canaries)
    assert gathered().entered("canary", "li2024.gradient") == list(canaries)


def test_entries_of_a_run_go_before_recorded_ones():
    entry = {"kind": "comparison", "id": "zeta2025.c", "device": "cpu", "full": False, "outcome": "verified"}
    recorded.record([entry])
    assert gathered().entered("comparison", "zeta2025.c")[0]["outcome"] == "verified"
    later = [entry | {"outcome": "inconclusive"}]
    assert [each["outcome"] for each in gathered(entries=later).entries] == ["inconclusive"]


def test_shipped_entries_are_shown_unless_a_run_has_replaced_them(monkeypatch):
    entry = {"kind": "comparison", "id": "zeta2025.c", "device": "cpu", "full": False, "outcome": "verified"}
    monkeypatch.setattr(contents, "shipped", lambda: [entry, entry | {"id": "zeta2025.other"}])
    found = gathered(entries=[entry | {"outcome": "inconclusive"}])
    assert [each["outcome"] for each in found.entered("comparison", "zeta2025.c")] == ["inconclusive"]
    assert [each["outcome"] for each in found.entered("comparison", "zeta2025.other")] == ["verified"]


def test_benchmarks_are_those_of_the_package_and_not_of_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "BENCHMARKS.md").write_text("another project's")
    monkeypatch.setattr(contents, "package_folder", lambda name: tmp_path / "there" / name)
    assert contents._benchmarks() == ""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "BENCHMARKS.md").write_text("ours")
    assert contents._benchmarks() == "ours"


def test_a_diagram_needs_two_parameters():
    with pytest.raises(TheoremError, match=r"diagram p\.d: needs the same two parameters"):
        Diagram("p.d", "t", "T.", "wang2024.fcn_width", {"T": "20"}, {"T": "20"})
    with pytest.raises(TheoremError, match="needs the same two parameters"):
        Diagram("p.d", "t", "T.", "wang2024.fcn_width", {"T": "20", "m": "1"}, {"m": "1", "T": "20"})


def test_a_diagram_says_how_it_is_computed():
    plane = KNOWN["diagram"]["zeta2025.plane"]
    assert plane.command() == (
        "verify sweep wang2024.fcn_width --over T=20 --over m=10,20,30 q=3 d=5 eps=1/10 --seconds 10 --out ."
    )
    assert plane.size() == 3 and plane.size(full=False) == 2
    with pytest.raises(InputError, match=r"diagram = wang2024\.nothing: unknown id"):
        load_diagram("wang2024.nothing")
