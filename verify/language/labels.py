"""Names, labels, ids, titles and sentences: one line of printable characters, of limited length.

Labels and texts are printed beside verdicts. A line break in a text would begin a line of its own, such as a second
verdict, and a terminal would obey a control character.
"""

import re

from verify.errors import TheoremError

NAME, TITLE, SENTENCE = 100, 300, 4000
"""Maximum lengths of a name (also of a label, a word or an id), of a title, and of a sentence, in characters."""

ID = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
"""The form of the id of a theorem, an experiment or a finding; ids are used in the names of files."""
_TAKEN = ".:;"
"""Characters that separate a paper, a theorem and a claim, as in `wang2024.lemma1:loss`, and the clauses in a line."""
_SHOWN = 60


def refuse_bad_text(what: str, text: object, longest: int = SENTENCE, *, empty: bool = False, noun: str = "it") -> None:
    """Raise TheoremError for a value that is no text of one line, too long or, without `empty`, blank.

    `what` begins the message.
    """
    if not isinstance(text, str) or not (empty or text.strip()):
        raise TheoremError(f"{what} {text!r}: {noun} must be text, and not empty")
    if len(text) > longest:
        raise TheoremError(f"{what} {text[:_SHOWN]!r}…: {noun} has {len(text)} characters, and may have {longest}")
    if strange := next((letter for letter in text if not letter.isprintable()), ""):
        code = f"U+{ord(strange):04X}"
        raise TheoremError(
            f"{what} {_around(text, strange)!r}: {noun} must be one line of printable characters, and has {code}"
        )


def refuse_bad_label(what: str, label: object) -> None:
    """Raise TheoremError for a label that is no line of text, blank, or has a separator or irregular spaces.

    `what` begins the message.
    """
    refuse_bad_text(what, label, NAME, noun="a label")
    if any(each in str(label) for each in _TAKEN):
        raise TheoremError(f"{what} {label}: a label must have no '.', ':' or ';', which separate parts of a line")
    if str(label) != " ".join(str(label).split()):
        raise TheoremError(f"{what} {label!r}: a label must have single spaces, and none at its ends")


def refuse_bad_name(what: str, name: object) -> None:
    """Raise TheoremError for a text that is no name to type before `=`: letters, digits and _, and no digit first."""
    refuse_bad_text(what, name, NAME, noun="a name")
    if not str(name).isidentifier():
        raise TheoremError(f"{what} {name!r}: a name must be of letters, digits and _, and begin with no digit")


def refuse_bad_id(what: str, name: object) -> None:
    """Raise TheoremError for a text that does not have the form of an id, such as `paper.result`."""
    refuse_bad_text(what, name, NAME, noun="an id")
    if not ID.fullmatch(str(name)):
        raise TheoremError(f"{what} {name!r}: an id must be of parts joined by '.', each of A-Z, a-z, 0-9, _ and -")


def _around(text: str, strange: str) -> str:
    """Return the part of a text around an unprintable character."""
    place = text.index(strange)
    return text if len(text) <= _SHOWN else f"…{text[max(0, place - _SHOWN // 2) : place + _SHOWN // 2]}…"
