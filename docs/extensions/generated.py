"""Generated text: parts of pages in the repository, between marks, and whole pages that only the site has.

`python -m docs.extensions.generated` writes the parts and the picture of the architecture anew; a test compares each
part with the code. The gallery, the index of findings and the pages of autodoc are written before Sphinx reads the
source folder.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
_PART = re.compile(r"(?<=^<!-- generated: )(\w+)( -->\n).*?(?=^<!-- end -->$)", re.DOTALL | re.MULTILINE)
"""A part of a page, between `<!-- generated: NAME -->` and `<!-- end -->`."""
PICTURE = DOCS / "pictures" / "architecture.svg"


def parts() -> dict[str, Callable[[], str]]:
    """Return the function that makes each part of a page, by the part's name."""
    from docs.extensions import json_objects, licences, reference
    from theorems import rules
    from verify.checking.argument import RULES, Rule

    papers = [rule for rule in vars(rules).values() if isinstance(rule, Rule)]
    return {
        "verbs": reference.verbs,
        "names": reference.names_table,
        "expressions": reference.expressions,
        "clauses": reference.clauses,
        "primitives": reference.primitives,
        "proofs": reference.proofs,
        "deductions": reference.deductions,
        "rules": partial(reference.rules, RULES.values()),
        "licences": licences.licences,
        "papers_rules": partial(reference.rules, papers),
        **{f"json_{verb}": partial(json_objects.described, verb) for verb in json_objects.EXAMPLES},
    }


def rewritten(text: str, made: dict[str, Callable[[], str]]) -> str:
    """Return a page with its parts made anew. Raises KeyError for an unknown part."""
    return _PART.sub(lambda found: f"{found[1]}{found[2]}\n{made[found[1]]().strip()}\n\n", text)


def with_parts() -> Iterator[Path]:
    """Yield the pages that have generated parts."""
    for path in sorted((DOCS / "reference").glob("*.md")):
        if _PART.search(path.read_text(encoding="utf-8")):
            yield path


def pages() -> dict[str, str]:
    """Return the pages that only the site has, by their path in `docs/`."""
    from docs.extensions import gallery, reference

    return {
        "generated/python.md": reference.python_names(),
        "generated/findings.md": gallery.findings_index(),
        **{f"gallery/{name}.md": text for name, text in gallery.pages().items()},
    }


def _write(app: "Sphinx") -> None:
    root = Path(app.srcdir)
    made = {root / name: text for name, text in pages().items()}
    for folder in {path.parent for path in made}:
        folder.mkdir(exist_ok=True)
        for old in set(folder.iterdir()) - set(made):
            old.unlink()
    for path, text in made.items():
        # An unchanged file keeps its modification time, so that Sphinx does not read it again.
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")


def _escape_bars(_app: "Sphinx", _what: str, _name: str, _item: Any, _options: Any, text: list[str]) -> None:
    """Escape |x| in docstrings, which reStructuredText would read as a substitution; code is unchanged."""
    text[:] = [re.sub(r"(`[^`]*`)|\|", lambda found: found[1] or r"\|", line) for line in text]


def _name_findings(_app: "Sphinx", name: str, text: list[str]) -> None:
    """Make the anchors of the findings' pages targets that other pages link to."""
    if name.startswith("findings/"):
        text[0] = re.sub(r'^<a id="(\w+)"></a>$', r"(\1)=", text[0], flags=re.MULTILINE)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages before the source folder is read; change docstrings and the findings' pages as they are read."""
    app.connect("builder-inited", _write)
    app.connect("source-read", _name_findings)
    app.connect("autodoc-process-docstring", _escape_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _rewrite() -> None:
    """Write the parts of all pages, and the picture."""
    from docs.extensions import picture

    made = parts()
    for path in with_parts():
        before = path.read_text(encoding="utf-8")
        if (after := rewritten(before, made)) != before:
            path.write_text(after, encoding="utf-8", newline="\n")
    PICTURE.write_text(picture.subpackages(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    _rewrite()
