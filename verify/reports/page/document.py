"""The whole page: one file that contains its style and loads nothing from elsewhere."""

import re
from pathlib import Path

from verify.errors import InputError
from verify.files import replaceable, write_whole
from verify.reports.page import figures, graph, made, summary, theorems
from verify.reports.page.contents import Contents
from verify.reports.page.elements import Html, tag

NAME = "report.html"
_TITLE = "What the papers claim, and what holds"
"""The title by which an existing file is recognised as a report."""
_SECTIONS = {
    "summary": "Summary",
    "findings": "Findings",
    "graph": "What rests on what",
    "theorems": "Results",
    "figures": "Figures",
    "diagrams": "Phase diagrams",
    "benchmarks": "Benchmarks",
    "made": "Versions and digests",
}
# A link into a closed `<details>` element opens the element; printing opens all of them.
_SCRIPT = """
const open = () => {
  let at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", open);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true; }));
open();
"""


def document(contents: Contents) -> str:
    """Return the HTML of the page."""
    style = (Path(__file__).with_name("page.css")).read_text(encoding="utf-8")
    links = [tag("li", tag("a", text, href=f"#{name}")) for name, text in _SECTIONS.items()]
    body = [
        tag("a", "Skip to the contents", href="#summary", class_="skip"),
        tag("header", tag("nav", tag("ul", links), aria_label="parts of the report")),
        tag(
            "main",
            summary.summary(contents),
            summary.findings(contents),
            graph.evidence_graph(contents),
            theorems.cards(contents),
            figures.figures(contents),
            figures.diagrams(contents),
            made.benchmarks(contents),
            made.made(contents),
        ),
        tag(
            "footer",
            tag("p", f"Made by lemmascope {contents.made.get('lemmascope', '')}, {contents.made.get('at', '')}."),
        ),
        tag("script", Html(_SCRIPT)),
    ]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", _TITLE),
        tag("link", rel="icon", href="data:,"),
        tag("style", Html(re.sub(r"\s*\n\s*", "\n", style))),
    ]
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


def refuse_other(folder: Path) -> None:
    """Raise InputError if the page would overwrite a file that is not a report; to be called before making a report."""
    target = folder / NAME
    try:
        lost = not replaceable(target, lambda content: _TITLE.encode() in content)
    except OSError as error:
        raise InputError("--out", target, f"exists and cannot be read: {error.strerror}") from error
    if lost:
        raise InputError("--out", target, "exists and is not a report; not overwritten")


def write(contents: Contents, folder: Path) -> Path:
    """Write the page to a folder, which is made if it is missing. Raises InputError if the page cannot be written."""
    text = document(contents)
    target = folder / NAME
    refuse_other(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(target, text)
    except OSError as error:
        raise InputError("--out", folder, f"cannot be written: {error.strerror}") from error
    return target
