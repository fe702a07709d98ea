"""Functions that make HTML: text is escaped, and elements that were made here are not escaped again."""

import re
from collections.abc import Iterable
from html import escape

from verify.shown import visible

_VOID = {"meta", "link", "br"}
_STRANGE = re.compile(r"[^\w.-]+")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Node = str | Iterable["Node"] | None


def tag(name: str, /, *children: Node, **attributes: str | bool | None) -> Html:
    """Return an element. In attribute names, a final _ is dropped and other _ become -; None and False are omitted."""
    said = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{_text(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{name}{said}>" if name in _VOID else f"<{name}{said}>{joined(children)}</{name}>")


def joined(node: Node) -> Html:
    """Return nodes one after the other, with plain text escaped."""
    if node is None:
        return Html("")
    if isinstance(node, Html):
        return node
    if isinstance(node, str):
        return Html(_text(node))
    return Html("".join(map(joined, node)))


def _text(text: str) -> str:
    return escape(visible(text, lines=True))


def anchor(kind: str, name: str) -> str:
    """Return the id of the element about a subject, given by kind and name; different subjects have different ids."""
    return f"{kind}-{_STRANGE.sub(lambda found: '-' + found[0].encode().hex() + '-', name)}"


def link(kind: str, name: str, text: Node = None) -> Html:
    """Return a link to the element about a subject, shown as `text` or, without `text`, as the subject's name."""
    return tag("a", name if text is None else text, href=f"#{anchor(kind, name)}")


def code(text: str) -> Html:
    """Return text as code."""
    return tag("code", text)


def badge(word: str, text: Node = None) -> Html:
    """Return a word, or `text` in its place, in the word's colour."""
    return tag("span", word.replace("_", " ") if text is None else text, class_=f"badge {_STRANGE.sub('-', word)}")


def details(summary: Node, *children: Node, **attributes: str | bool | None) -> Html:
    """Return an element whose contents a click opens; empty text without contents."""
    inside = joined(children)
    return tag("details", tag("summary", summary), inside, **attributes) if inside else Html("")


def items(nodes: Iterable[Node], **attributes: str | bool | None) -> Html:
    """Return a list; empty text without items."""
    inside = [tag("li", node) for node in nodes]
    return tag("ul", inside, **attributes) if inside else Html("")


def table(columns: Iterable[Node], rows: Iterable[Iterable[Node]], caption: str = "") -> Html:
    """Return a table that scrolls in its own frame, by keyboard too; empty text without rows."""
    columns = list(columns)
    body = [tag("tr", [tag("td", cell) for cell in row]) for row in rows]
    if not body:
        return Html("")
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in columns]))
    said = tag("caption", caption) if caption else None
    return framed(tag("table", said, head, tag("tbody", body)), caption or "table")


def framed(wide: Node, label: str) -> Html:
    """Return an element that may be wider than a phone, in a frame of its own that scrolls, by keyboard too."""
    return tag("div", wide, class_="scroll", tabindex="0", role="region", aria_label=label)
