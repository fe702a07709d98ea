"""Writes the generated pages before Sphinx reads the source folder: the reference, the gallery and the picture."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def pages() -> dict[str, str]:
    """Return all generated files, by their path in `docs/`."""
    from docs.extensions import gallery, json_objects, picture, reference
    from theorems import rules
    from verify.checking.argument import RULES, Rule

    return {
        "generated/verbs.md": reference.verbs(),
        "generated/python.md": reference.python_names(),
        "generated/expressions.md": reference.expressions(),
        "generated/clauses.md": reference.clauses(),
        "generated/primitives.md": reference.primitives(),
        "generated/proofs.md": reference.proofs(),
        "generated/deductions.md": reference.deductions(),
        "generated/rules.md": reference.rules(RULES.values()),
        "generated/papers_rules.md": reference.rules(rule for rule in vars(rules).values() if isinstance(rule, Rule)),
        **{f"generated/json_{verb}.md": text for verb, text in json_objects.described().items()},
        "generated/architecture.svg": picture.subpackages(),
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
        # A file that stays as it is keeps its time, so that Sphinx does not read it again.
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")


def _escape_bars(_app: "Sphinx", _what: str, _name: str, _item: Any, _options: Any, text: list[str]) -> None:
    """Escape |x| in docstrings, which reStructuredText takes for a substitution; code stays as it is."""
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
