"""What a label of a hypothesis, a clause or an inference may be."""

from verify.errors import TheoremError

_TAKEN = ".:"
"""What separates a paper, a theorem and one of its claims, as in `wang2024.lemma1:loss`."""


def refuse_bad_label(what: str, label: object) -> None:
    """Raise TheoremError for a label that is no text, is empty, or has what separates ids; `what` has it."""
    if not isinstance(label, str) or not label.strip():
        raise TheoremError(f"{what} {label!r}: a label must be text, and not empty")
    if any(each in label for each in _TAKEN):
        raise TheoremError(f"{what} {label}: a label must have no '.' and no ':', which separate the parts of an id")
