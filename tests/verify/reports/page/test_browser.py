"""The page in a real browser: no errors, readable in light and dark, on a phone and by keyboard, no dead links."""

import pytest

import verify
from tests.verify.reports.page.browser import CHROMIUM, looked_at
from tests.verify.reports.page.conftest import Read
from tests.verify.reports.page.test_page import faults, without_words

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian: apt-get install chromium)")

WIDE, NARROW = 1280, 360


@pytest.fixture(scope="module")
def seen(text, tmp_path_factory):
    """The findings of the browser, by the width and whether the page is dark."""
    looks = ((WIDE, False), (NARROW, False), (NARROW, True))
    return {look: looked_at(text, tmp_path_factory.mktemp("seen"), width=look[0], dark=look[1]) for look in looks}


@pytest.mark.parametrize("look", [(WIDE, False), (NARROW, False), (NARROW, True)])
def test_the_page_in_a_browser(seen, look):
    found, console = seen[look]
    assert (found["width"], found["dark"]) == look and console == []
    assert found["texts"] > 200 and found["faint"] == []
    assert found["wide"] <= found["width"]
    assert found["focusable"] > 40 and found["unmarked"] == []
    assert found["lost"] == [] and found["opened"] and found["math"] > 3
    assert found["loaded"] == [] and found["title"] == "What the papers claim, and what holds"


@pytest.mark.audit
def test_the_librarys_whole_report(tmp_path):
    whole = verify.report(tmp_path / "whole").read_text(encoding="utf-8")
    read = Read(whole)
    assert len(whole.encode()) < 5_000_000 and faults(read) == [] and without_words(read) == []
    cards = [e for e in read.all("details") if (e.get("id") or "").startswith(("theorem-", "finding-"))]
    assert len(cards) == len(verify.ids("theorem")) + len(verify.ids("finding"))
    for width, dark in ((WIDE, False), (NARROW, True)):
        found, console = looked_at(whole, tmp_path, width=width, dark=dark)
        assert console == [] and found["faint"] == found["unmarked"] == found["lost"] == found["loaded"] == []
        assert found["wide"] <= found["width"] == width


PLANTED = """
<p style="color:#999;background:#fff">faint</p><div style="width:2000px">wide</div><a href="#gone">gone</a>
<a href="#summary" style="outline:none">unmarked</a><script>console.error("planted"); missing();</script></main>
"""


def test_planted_faults_of_a_page_are_seen(text, tmp_path):
    found, console = looked_at(text.replace("</main>", PLANTED), tmp_path, width=NARROW)
    assert len(found["faint"]) == 1 and "faint: 2.8" in found["faint"][0]
    assert found["wide"] > NARROW and found["lost"] == ["#gone"] and len(found["unmarked"]) == 1
    assert any("planted" in line for line in console) and any("missing is not defined" in line for line in console)
