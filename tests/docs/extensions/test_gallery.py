"""The gallery has a page for each theorem, with the theorem's standing and links to its findings."""

import re

import pytest

from docs.extensions import gallery
from tests.layout import ROOT
from verify.checking.registry import ids
from verify.checking.theorem import load_theorem
from verify.reports.listing import theorem_row


def made(name):
    theorem = load_theorem(name)
    return gallery.page(theorem, theorem_row(theorem), gallery.by_theorem().get(name, ()))


def test_a_page_has_statement_standing_and_command():
    page = made("wang2024.theorem1")
    assert page.startswith("# wang2024.theorem1\n") and r"$\eta \leq \frac{1}{20 d^{2}}$" in page
    assert re.search(r"For all parameters: \*\*formal \(.*?\)\*\*\. At its example: \*\*certified\*\*\.", page)
    assert "verify check wang2024.theorem1 T=9 q=2 d=1 eta=1/20 eps=1/200\n" in page
    assert [part.partition("\n")[0] for part in page.split("\n## ")[1:]] == [
        *("Parameters", "Domain", "Hypotheses", "Claims", "Steps", "Argument", "Check it", "Findings"),
    ]


def test_a_claim_in_words_and_a_list_are_written_as_they_are():
    page = made("ahn2023.theorem1")
    assert "At its example: **in words**" in page and "## Findings" not in page
    assert re.search(r"verify check ahn2023.theorem1 n=\d+ eigenvalues=[\d/]+,[\d/]+", page)


def test_findings_are_linked_where_they_stand():
    found = gallery.by_theorem()
    assert sum(map(len, found.values())) == len(ids("finding")) and set(found) <= {*ids("theorem"), *ids("experiment")}
    page = made("wang2024.theorem1")
    links = re.findall(r"\]\(\.\./findings/(\w+)\.md#(\w+)\)", page)
    assert len(links) == len(found["wang2024.theorem1"]) > 1
    for paper, name in links:
        assert f'<a id="{name}"></a>' in (ROOT / "docs" / "findings" / f"{paper}.md").read_text(encoding="utf-8")


@pytest.mark.audit
def test_every_theorem_has_a_page_and_a_row():
    pages = gallery.pages()
    assert set(pages) == {"index", *ids("theorem")}
    rows = re.findall(r"^\| \[(\S+)\]\((\S+)\.md\) \|", pages["index"], re.MULTILINE)
    assert [name for _, name in rows] == ids("theorem") and ("ahn2023.lemma1", "ahn2023.lemma1") in rows
    assert pages["index"].count("\n## ") == 3


def test_the_index_of_findings_links_within_the_site():
    text = gallery.findings_index()
    links = re.findall(r"\]\((\S+?\.md)", text)
    assert len(links) > 10 and all((ROOT / "docs" / link).is_file() for link in links)
    assert not text.startswith("# ")
