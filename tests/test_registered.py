"""This package's objects have their registered ids, their references exist, and FINDINGS.md is up to date."""

import json
import re
from pathlib import Path

import pytest

import verify
from verify.checking.registry import CATALOGUE, KINDS, catalogue
from verify.outcomes import Outcome
from verify.reports.catalogue import catalogue_text
from verify.reports.pinned_files import pages
from verify.runs.sweeps.diagram import load_diagram

ROOT = Path(verify.__file__).parents[1]
FINDINGS = ROOT / "docs" / "findings"
OURS = {kind: sorted(catalogue("theorems")[f"{kind}s"]) for kind in KINDS}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in OURS.items() for name in names])
def test_an_object_carries_the_id_that_it_is_registered_under(kind, name):
    load = load_diagram if kind == "diagram" else getattr(verify, f"load_{kind}")
    assert load(name).id == name


@pytest.mark.parametrize("name", OURS["comparison"])
def test_a_comparison_is_about_a_theorem_and_an_experiment_that_exist(name):
    comparison = verify.load_comparison(name)
    assert comparison.theorem is None or comparison.theorem in OURS["theorem"]
    assert comparison.experiment is None or comparison.experiment in OURS["experiment"]


@pytest.mark.parametrize("name", OURS["prediction"])
def test_a_prediction_is_about_an_experiment_that_exists(name):
    assert name in OURS["experiment"]


def test_findings_are_written_as_they_are():
    written = pages(map(verify.load_finding, OURS["finding"]), map(verify.load_theorem, OURS["theorem"]))
    assert {path: (ROOT / path).read_text(encoding="utf-8") for path in written} == written, "run `make pin`"
    assert {path for path in written if "/" in path} == {f"docs/findings/{path.name}" for path in FINDINGS.glob("*.md")}


def test_the_index_of_findings_links_to_anchors_that_exist():
    links = re.findall(r"\]\((\S+?)#(\S+?)\)", (ROOT / "FINDINGS.md").read_text(encoding="utf-8"))
    assert len(links) == len(OURS["finding"])
    for path, anchor in links:
        assert f'<a id="{anchor}"></a>' in (ROOT / path).read_text(encoding="utf-8")


def test_the_catalogue_has_what_the_modules_have():
    assert (ROOT / "theorems" / CATALOGUE).read_text(encoding="utf-8") == catalogue_text("theorems"), "run `make pin`"
    assert all(len(names) > 1 for names in OURS.values())


def quick_claims(name):
    """Return the points and outcomes of a diagram's quick grid, after asserting that most in scope are verified."""
    rows = list(load_diagram(name).run(None).rows())
    within = [row["claim"] for _, row in rows if row["in_scope"]]
    # On a busy machine the time may not suffice for some claims.
    assert "refuted" not in within and within.count("verified") > len(within) / 2
    return [(point, row["claim"]) for point, row in rows]


@pytest.mark.audit
def test_the_diagram_over_the_step_size_shows_what_its_text_says():
    twice_q = 2 * load_diagram("wang2024.step_size").given["q"]
    found = quick_claims("wang2024.step_size")
    below, above = ([outcome for p, outcome in found if (p["eta"] > twice_q) is past] for past in (False, True))
    assert below and "refuted" not in below and "verified" in below
    # Some instances are not decided. At eta = 12 the path is too irregular to be enclosed.
    assert above.count("refuted") >= len(above) / 2 and "verified" not in above


@pytest.mark.audit
def test_more_dimensions_do_not_refute_what_fewer_verify():
    found = quick_claims("wang2024.encoding_dimension")
    for T in {point["T"] for point, _ in found}:
        d_e = {said: [p["d_e"] for p, outcome in found if p["T"] == T and outcome == said] for said in Outcome}
        assert d_e["verified"] and max(d_e["refuted"], default=0) < min(d_e["verified"])


def test_the_shipped_record_is_of_these_statements_and_findings():
    # `make record` writes the record. Statements that have changed since then are shown as not run; few may be.
    kept = json.loads((ROOT / "paper_checks" / "recorded.json").read_text(encoding="utf-8"))
    pinned = json.loads((ROOT / "theorems" / "statement_digests.json").read_text(encoding="utf-8"))
    current = [name for name in OURS["theorem"] if kept["statements"].get(name) == pinned[name]]
    assert len(current) >= 0.9 * len(OURS["theorem"])
    assert {entry["id"] for entry in kept["entries"] if entry["kind"] == "finding"} == set(OURS["finding"])
