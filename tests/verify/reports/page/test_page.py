"""The page by itself: one file, no dead links, pictures with texts, and no text that is read as markup."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from latex2mathml.converter import convert

from tests.verify.reports.page.conftest import HOSTILE, Read, measured
from verify import Curve, FormalText, InputError, Measurement, Predicted
from verify.outcomes import CheckResult, Established, ForAll, Formal, Trust
from verify.reports.display.pages import Written
from verify.reports.page import document as written, elements, figures, summary, theorems
from verify.reports.page.pictures import picture

LOADED = {"src", "href", "srcset", "data", "action", "poster", "xlink:href"}


def faults(page):
    """Return the faults of a page: repeated ids, dead links, files loaded from elsewhere."""
    ids = [element["id"] for element in page.elements if element.get("id")]
    found = [f"twice: {name}" for name in sorted(set(ids)) if ids.count(name) > 1]
    for element in page.elements:
        for name in LOADED & element.keys():
            target = element[name] or ""
            if target.startswith("#"):
                found += [] if target[1:] in ids else [f"leads nowhere: {target}"]
            elif not target.startswith("data:"):
                found.append(f"from elsewhere: {target}")
        style = (element.get("style") or "") + (element["text"] if element["tag"] == "style" else "")
        found += [f"from elsewhere: {url}" for url in re.findall(r"url\((?!#)[^)]*\)|@import.*", style)]
    labelled = " ".join(e.get("aria-labelledby") or "" for e in page.elements).split()
    return found + [f"no such label: {name}" for name in labelled if name not in ids]


def without_words(page):
    """Return the pictures without a text for readers who do not see them."""
    ids = {element.get("id"): element["text"] for element in page.elements}
    names = [(e, (e.get("aria-labelledby") or "").split()) for e in page.all("svg")]
    silent = [e for e, labels in names if not labels or not all(ids.get(label, "").strip() for label in labels)]
    return silent + [image for image in page.all("img") if not image.get("alt")]


def test_every_link_leads_somewhere_and_nothing_is_loaded(page):
    assert len(page.all("a")) > 20 and faults(page) == []


def test_pictures_have_words(page):
    # The evidence graph and one part of it, two arguments, a figure and a diagram.
    assert len(page.all("svg")) == 6 and without_words(page) == []


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ('<a href="#gone">x</a>', "leads nowhere: #gone"),
        ('<script src="https://cdn.example/a.js"></script>', "from elsewhere: https://cdn.example/a.js"),
        ("<style>a{background:url(https://e.x/a.png)}</style>", "from elsewhere: url(https://e.x/a.png)"),
        ('<p id="summary"></p>', "twice: summary"),
        ('<div aria-labelledby="nobody"></div>', "no such label: nobody"),
    ],
)
def test_a_planted_fault_is_found(text, planted, fault):
    assert faults(Read(text.replace("</main>", f"{planted}</main>"))) == [fault]


def test_a_picture_without_words_is_found(text):
    assert len(without_words(Read(text.replace("</main>", "<svg></svg><img src='data:,'></main>")))) == 2


def test_hostile_texts_are_never_markup(text, page):
    assert HOSTILE not in text and "x" not in [element.get("id") for element in page.elements]
    # The only script is the page's own.
    assert [element["text"] for element in page.all("script")] == [written._SCRIPT]
    said = [element for element in page.all("p", "td", "summary", "figcaption", "h3") if HOSTILE in element["text"]]
    assert len(said) > 10


def test_the_page_is_small_and_valid_for_phones(text, page):
    assert len(text.encode()) < 400_000
    assert {
        "tag": "meta",
        "text": "",
        "name": "viewport",
        "content": "width=device-width, initial-scale=1",
    } in page.elements
    assert page.all("html")[0]["lang"] == "en" and len(page.all("h1")) == 1


def test_headings_go_down_one_level_at_a_time(page):
    levels = [int(element["tag"][1]) for element in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels


def test_findings_stand_by_weight_with_how_sure(page):
    heads = [e["text"] for e in page.all("details") if (e.get("id") or "").startswith("finding-")]
    names = ["second", "third", "first"]
    assert len(heads) == 3 and all(f"Details of {name}." in head for name, head in zip(names, heads, strict=True))
    assert "certified" in heads[0] and "under our reading" in heads[0] and "under our reading" not in heads[1]
    assert "Not reproduced: values.x: is 1, expected 1/3" in heads[0]
    assert (
        "Not run: verify report --full runs it" in heads[1]
        and "Run again (2026-01-02): it reported all of this." in heads[2]
    )
    for head in heads:
        assert "verify check zeta2025.lemma1 x=1 y=2" in head and "Definition 1" in head and "1/3" in head


def test_the_first_screen_says_what_is_claimed_what_holds_and_what_does_not(page):
    first = next(e["text"] for e in page.all("section") if e["id"] == "summary")
    said = "2 results. For all parameters: 1 proved, 1 argued (proved steps joined by prose). "
    assert said in first and "Open." not in first
    assert "Claims. Sums are small." in first and "proved Lemma 1" in first
    assert "What does not hold as printed. The paper says" in first and "And 2 more findings" in first
    assert re.search(r"so, which is certified\. under our reading And 2 more", first)


def test_the_page_says_what_made_it_and_names_papers_by_their_titles(contents):
    made = {"lemmascope": "9.8", "by": "somebody", "commit": "abc1234", "at": "2026-01-02 03:04 UTC"}
    page = Read(written.document(replace(contents, made=made)))
    first = next(e["text"] for e in page.all("section") if e["id"] == "summary")
    assert "lemmascope 9.8, somebody, commit abc1234, 2026-01-02 03:04 UTC" in first
    assert [e["text"] for e in page.all("h2")][:1] == ["Sums"]


def test_a_card_has_the_picture_of_what_its_result_rests_on_alone(contents, page):
    used = {known.theorem.id: known.theorem.proof_uses for known in contents.theorems}
    for name, uses in used.items():
        card = next(e["text"] for e in page.all("details") if e.get("id") == f"theorem-{name}")
        assert (f"What {name} rests on" in card) is bool(uses)
    assert any(used.values()) and not all(used.values())


def test_clauses_that_pass_the_core_alone_are_counted(contents):
    known = next(each for each in contents.theorems if isinstance(each.checked, CheckResult))
    one, trust = known.checked.clauses[0], Trust("a.b", 1, "p", "0" * 64)
    clauses = (
        replace(one, rechecked=True, trusts=(trust,)),
        replace(one, rechecked=True),
        replace(one, rechecked=False),
    )
    changed = replace(known, checked=replace(known.checked, clauses=clauses))
    lead = Read(str(summary.summary(replace(contents, theorems=(changed,))))).all("section")[0]["text"]
    said = (
        "1 of 2 clauses re-checked at the examples, and 0 of 1 certificate as a whole, pass the re-checker's core alone"
    )
    assert f"{said}. 3 findings" in lead


def test_a_formal_claim_shows_its_formal_text_and_what_stays_in_prose(contents):
    known = contents.theorems[-1]
    text = FormalText((("Z.claims.below", "0 < half"),), ("Z.definitions.half",), "0" * 64, ("a sentence",))
    theorem = replace(known.theorem, statement=replace(known.theorem.statement, formal={"below": text}))
    formal = Formal("statement typed, 1 definition", "as recorded with Rocq 8.16.1", ("a sentence",))
    established = Established(ForAll.FORMAL, formal=frozenset({formal}))
    shown = replace(known, theorem=theorem, standing=replace(known.standing, for_all_parameters=established))
    card = Read(str(theorems.cards(replace(contents, theorems=(shown,))))).all("section")[0]["text"]
    assert re.search(r"Z\.claims\.below ?: ?0 < half", card) and "In prose: a sentence." in card
    assert "formal (statement typed, 1 definition; 1 sentence in prose), as recorded with Rocq 8.16.1" in card


def test_open_theorems_are_listed_as_open_alone(contents):
    established = Established(ForAll.OPEN, frozenset())
    opened = [
        replace(known, standing=replace(known.standing, for_all_parameters=established)) for known in contents.theorems
    ]
    first = Read(str(summary.summary(replace(contents, theorems=tuple(opened))))).all("section")[0]["text"]
    assert "Open. Lemma 1, Lemma 1" in first and "Holds as stated here" not in first


def test_results_that_are_derived_here_are_not_among_the_papers_numbered_statements(contents):
    again, lemma = contents.theorems
    source = replace(again.theorem.source, provenance="derived here")
    own = replace(again, theorem=replace(again.theorem, source=source))
    first = Read(str(summary.summary(replace(contents, theorems=(own, lemma))))).all("section")[0]["text"]
    assert "proved Lemma 1 argued 1 result derived here" in first


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ({"clauses.below.evidence": "certified"}, ["certified"]),
        ({"values.evidence_of": "proved", "detail": "proved"}, []),
        ({"for_all_parameters": "argued", "evidence": "proved"}, ["proved", "argued"]),
        ({"for_all_parameters": "argued", "clauses.half.evidence": "proved"}, ["argued"]),
        ({"clauses.half.for_all_parameters": "proved"}, []),
        ({"clauses.below.for_all_parameters": "proved"}, ["proved"]),
        ({"values.below.evidence": "proved"}, []),
    ],
)
def test_no_word_of_how_sure_is_read_into_a_command(contents, expect, words):
    assert summary.sure(replace(contents.findings[0], expect=expect), ["below"]) == words


def test_a_simulation_is_simulated(contents):
    assert summary.sure(replace(contents.findings[0], command="verify simulate zeta2025.figure1"), []) == ["simulated"]


def test_a_step_that_is_proved_gives_its_finding_no_badge(contents):
    one = replace(contents.findings[0], expect={"clauses.half.evidence": "proved", "evidence": "certified"})
    page = Read(str(summary.findings(replace(contents, findings=(one,)))))
    assert [e["class"] for e in page.all("span") if e["class"].startswith("badge")] == [
        "badge certified",
        "badge premise",
    ]


def test_cards_have_hypotheses_canaries_margins_and_simulation(page):
    card = next(e["text"] for e in page.all("details") if e.get("id") == "theorem-zeta2025.lemma1")
    for said in ("needed", "below refuted at x=23/5", "holds", "1 of 1 refuted", "2 instances", "margin", "not run"):
        assert said in card, said
    assert "pytest paper_checks -k idle" in card and "0" * 64 in card
    other = next(e["text"] for e in page.all("details") if e.get("id") == "theorem-zeta2025.again")
    assert "no map is shipped" in other and "not run (verify report --full)" in other and "not mapped" in other


def test_each_device_has_a_row_of_a_comparison(page):
    card = next(e["text"] for e in page.all("details") if e.get("id") == "theorem-zeta2025.lemma1")
    for said in (
        "(simulated, cpu; run on 2026-01-02)",
        "again (simulated, cuda, the paper's own size; run on 2026-01-02)",
    ):
        assert said in card, said


@pytest.mark.parametrize(
    ("what", "outcome", "draws", "said"),
    [
        ("holds", "as_expected", 3, "badge verified"),
        ("holds", "otherwise", 3, "badge survived"),
        ("planted", "as_expected", 0, "not run"),
    ],
)
def test_a_crossing_that_was_not_drawn_is_not_refuted(contents, what, outcome, draws, said):
    entry = {"kind": "crossing", "id": "c", "of": "the gradient", "theorem": "zeta2025.lemma1", "exact": "e"}
    entry |= {"what": what, "outcome": outcome, "draws": draws, "instances": draws, "trainings": 0, "worst": None}
    entry |= {"test": "t", "sizes": {}, "caught": 1, "device": "cpu"}
    text = str(theorems.cards(replace(contents, entries=(entry,))))
    row = next(row for row in re.findall("<tr>.*?</tr>", text) if "the gradient" in row)
    assert said in row and "refuted" not in row


def test_formulas_are_typeset(page):
    assert len(page.all("math")) > 5 and not [e for e in page.all("mtext") if "\\" in e["text"]]


def test_a_formula_is_typeset_then_behind_a_click_then_text():
    def shown(terms):
        return str(theorems._folded(Written("1 + " * terms + "x", "1 + " * terms + "x")))

    assert "<math" in shown(50) and "<details" not in shown(50)
    assert "<math" in shown(200) and "a long formula" in shown(200)
    assert "<math" not in shown(600) and "a long formula" in shown(600) and "<code>1 + 1" in shown(600)


def test_a_name_of_several_letters_is_one_name(text):
    assert "<mi>e</mi><mi>p</mi><mi>s</mi>" in convert("eps")
    assert not re.search(r"<mi>e</mi><mi>p</mi><mi>s</mi>|<mi>t</mi><mi>o</mi><mi>t</mi>", text)
    assert "<mi>ε</mi>" in text and "<mtext>total</mtext>" in text


def test_a_figure_that_was_not_run_says_why_and_how_to_run_it(page):
    absent = [e["text"] for e in page.all("p") if e.get("class") == "absent"]
    assert (
        len(absent) == 1
        and "Not drawn: it takes an hour" in absent[0]
        and "verify simulate zeta2025.figure2" in absent[0]
    )


def test_figures_are_in_words_and_numbers(page):
    figure = next(e["text"] for e in page.all("article") if e.get("id") == "figure-zeta2025.figure1")
    assert "loss goes from 3.00 ± 0.10 to 1" in figure and "theory: least loss 1 at the end" in figure
    assert "W: 2 by 2 numbers from -1 to 2" in figure and "A quick run" in figure and "refuted" in figure


def test_a_prediction_stands_beside_the_curve_that_its_name_begins_with_and_else_beside_all():
    curve = Curve("step", "coefficient", (0.0, 1.0), (Measurement(0.0), Measurement(2.0)))
    predicted = {"alpha_by_descent": Predicted.level(curve, 1.0), "largest": Predicted.level(curve, 3.0)}
    result = replace(measured("figure1"), curves={"alpha": curve, "C": curve}, theory=predicted, measurements={})
    beside = {name: theory for name, _, _, theory in figures._rows(result)}
    assert beside == {"alpha": "alpha by descent: 1 at the end; largest: 3 at the end", "C": "largest: 3 at the end"}


def test_benchmarks_versions_and_digests_are_there(page, contents):
    parts = {e["id"]: e["text"] for e in page.all("section")}
    assert "2 ms" in parts["benchmarks"] and "seeds 7" in parts["made"] and "2026-01-02" in parts["made"]
    assert contents.theorems[0].theorem.statement.digest in parts["made"]


def test_a_report_is_written_whole_or_refused(contents, tmp_path):
    path = written.write(contents, tmp_path / "new")
    assert path.name == "report.html" and path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [each.name for each in path.parent.iterdir()] == ["report.html"]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written: File exists"):
        written.write(contents, tmp_path / "file")


def test_different_things_have_different_anchors():
    names = ["a.b", "a b", "a-b", "a:b", "a_b", "ä", "a<b>"]
    found = [elements.anchor("k", name) for name in names]
    assert len(set(found)) == len(names) and all(re.fullmatch(r"[\w.-]+", each) for each in found)


def test_two_images_that_are_the_same_in_one_picture_have_no_id_twice():
    def draw():
        from matplotlib.figure import Figure

        figure = Figure()
        for axes in figure.subplots(1, 2):
            axes.imshow([[0, 1], [1, 0]])
        return figure

    drawn = str(picture(draw, "plot", "Two", "Two that are the same."))
    found = re.findall(r'\bid="([^"]+)"', drawn)
    assert drawn.count("<image") == 2 and found and len(found) == len(set(found))


def test_the_places_of_a_picture_have_one_decimal_and_its_texts_have_all():
    def draw():
        from matplotlib.figure import Figure

        figure = Figure()
        figure.subplots().plot([0, 1 / 3, 1], [0, 1 / 7, 1])
        figure.text(0.5, 0.5, "1.2345")
        return figure

    drawn = str(picture(draw, "plot", "A line", "From 0.12345."))
    places = re.findall(r'\b(?:d|x|y|width|height)="([^"]*)"', drawn)
    assert re.search(r"\.\d\b", " ".join(places)) and not re.search(r"\.\d\d", " ".join(places))
    assert ">1.2345<" in drawn and "0.12345" in drawn
