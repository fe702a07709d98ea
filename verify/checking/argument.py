"""Arguments: the inferences in prose that lead from the steps of a proof to its claims, as data.

An inference is a step in prose, of one or more sentences, with the rule that it names. It may contain more than one
deduction, so that the number of inferences measures the length of an argument, and not its certainty. An inference
names its premises by label: steps, hypotheses and claims of its theorem, and earlier inferences. It names another
theorem by its id, and one claim of that theorem as `id:label`. The inference that concludes a claim has the claim's
label.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from verify.errors import TheoremError, meant
from verify.language.labels import NAME, SENTENCE, TITLE, refuse_bad_label, refuse_bad_text
from verify.language.statement import Statement

_ALGEBRA = ("substitution", "identity", "expansion")
RuleKind = Literal["definition", "case", "analysis", "linear algebra", "probability"]
"""The part of mathematics that a rule is from. Algebra belongs in steps, which are proved."""


@dataclass(frozen=True)
class Rule:
    """A rule of inference, with a reference to the literature.

    Parameters
    ----------
    name
        Its name.
    says
        Its text, in one sentence.
    reference
        A textbook with its section, or a paper, that proves it.
    kind
        "definition" (a definition is unfolded, or a result applied), "case" (cases, induction), "analysis", "linear
        algebra" or "probability".

    Raises
    ------
    TheoremError
        For text that is not one line, an unknown kind, and a name for algebra: substitution, identity or expansion.

    Examples
    --------
    >>> from verify import Rule
    >>> Rule("Jensen's inequality", "f(E X) <= E f(X) for a convex f", "Rudin 1987, 3.3", "probability").name
    "Jensen's inequality"
    """

    name: str
    says: str
    reference: str
    kind: RuleKind

    def __post_init__(self) -> None:
        refuse_bad_text("rule", self.name, NAME)
        for part, longest in (("says", SENTENCE), ("reference", TITLE)):
            refuse_bad_text(f"rule {self.name}: {part}", getattr(self, part), longest, empty=True)
        if self.name.strip().lower() in _ALGEBRA:
            why = "names algebra, which belongs in a step of the statement, where it is proved"
            raise TheoremError(f"rule {self.name}: {why}")
        if self.kind not in get_args(RuleKind):
            raise TheoremError(f"rule {self.name}: kind is {self.kind!r}, not one of {', '.join(get_args(RuleKind))}")


_SHIPPED = (
    Rule(
        "application", "a statement that is known for all values holds for the given values", "elementary", "definition"
    ),
    Rule("case distinction", "a claim that holds in each of the cases holds", "elementary", "case"),
    Rule(
        "Cauchy-Schwarz",
        "(E XY)² ≤ E X² E Y²",
        "Steele 2004, The Cauchy-Schwarz Master Class, chapter 1",
        "probability",
    ),
    Rule("continuity", "a limit passes through a continuous function", "Rudin 1976, Theorem 4.6", "analysis"),
    Rule("definition", "a name is replaced by its definition", "elementary", "definition"),
    Rule(
        "independent factors",
        "the mean of a product of independent factors is the product of their means",
        "Williams 1991, Probability with Martingales, section 7.1",
        "probability",
    ),
    Rule(
        "induction",
        "a property that holds at the first step, and at each next step if it holds at the step before, holds at "
        "every step",
        "elementary",
        "case",
    ),
    Rule("Jensen's inequality", "f(E X) ≤ E f(X) for a convex f", "Rudin 1987, Theorem 3.3", "probability"),
    Rule(
        "linearity of expectation",
        "the mean of a sum is the sum of the means",
        "Williams 1991, section 5.8",
        "probability",
    ),
    Rule("lower bound attained", "a lower bound that is attained is the least value", "elementary", "definition"),
    Rule(
        "nonnegative terms",
        "a sum of nonnegative terms is nonnegative, and 0 only where each is",
        "elementary",
        "analysis",
    ),
    Rule(
        "squeeze",
        "a sequence between two sequences with the same limit has this limit",
        "Rudin 1976, section 3.19",
        "analysis",
    ),
    Rule(
        "telescoping",
        "a quantity that grows by at least k in each step has grown by at least tk after t steps",
        "elementary",
        "case",
    ),
)
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _SHIPPED}
"""The rules that an inference may name; a proof that needs another rule defines it, as a `Rule`."""


@dataclass(frozen=True)
class Inference:
    """One inference of an argument: its conclusion, its premises, and its rule.

    Parameters
    ----------
    label
        Its name; if it concludes a claim, the claim's label.
    says
        The inference, in one or more sentences.
    uses
        The premises: labels of steps, hypotheses, claims and earlier inferences, and ids of other theorems
        (`wang2024.lemma1`, for all its claims) or claims of theirs (`wang2024.lemma1:loss`). If a premise is of
        another theorem, the premises must include the hypotheses from which that theorem's hypotheses follow.
    rule
        The name of one of the elementary `RULES`, or a `Rule`.

    Raises
    ------
    TheoremError
        For an empty label or sentence, an unknown rule, and a premise that is used twice.

    Examples
    --------
    >>> from verify import Inference
    >>> step = Inference("claim", "2ab <= a^2 + b^2, from the square", ("square",), "Cauchy-Schwarz")
    >>> step.named_rule.name
    'Cauchy-Schwarz'
    """

    label: str
    says: str
    uses: tuple[str, ...]
    rule: str | Rule

    def __post_init__(self) -> None:
        if not isinstance(self.uses, tuple) or not all(isinstance(x, str) for x in (self.label, self.says, *self.uses)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TheoremError(
                f"inference {self.label}: the label and the sentence must be text, and `uses` a tuple of labels"
            )
        if not isinstance(self.rule, str | Rule):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TheoremError(
                f"inference {self.label}: its rule is a {type(self.rule).__name__}, not a name or a Rule"
            )
        for part, name in ((self.label, "label"), (self.says, "sentence")):
            if not part.strip():
                raise TheoremError(f"inference {self.label or self.says}: has no {name}")
        refuse_bad_label("inference", self.label)
        refuse_bad_text(f"inference {self.label}: sentence", self.says)
        for used in self.uses:
            refuse_bad_text(f"inference {self.label}: uses", used, 2 * NAME)
        if isinstance(self.rule, str) and self.rule not in RULES:
            raise TheoremError(f"inference {self.label}: {self.rule!r} is not a known rule; {meant(self.rule, RULES)}")
        if len(set(self.uses)) != len(self.uses):
            raise TheoremError(f"inference {self.label}: uses something twice")

    @property
    def named_rule(self) -> Rule:
        """The rule, as a `Rule`."""
        return RULES[self.rule] if isinstance(self.rule, str) else self.rule


def theorem_of(used: str) -> str | None:
    """Return the id of the other theorem to which a premise belongs; None for a label of the argument's own theorem."""
    name = used.partition(":")[0]
    return name if "." in name else None


def refuse_bad_extension(extension: Inference, statement: Statement) -> None:
    """Raise TheoremError for an extension that breaks one of the three rules for extensions.

    It must conclude a claim. It must use another theorem. It may not use a clause of its own theorem, because the
    clause may rest on hypotheses that the extension does not use.
    """
    where = f"extension {extension.label}"
    claims = [claim.label for claim in statement.claims]
    if extension.label not in claims:
        raise TheoremError(f"{where}: concludes no claim; {meant(extension.label, claims)}")
    hypotheses = [hypothesis.label for hypothesis in statement.hypotheses]
    for used in extension.uses:
        if theorem_of(used) is None and used not in hypotheses:
            raise TheoremError(f"{where}: uses {used}, which is no hypothesis; {meant(used, hypotheses)}")
    if not any(map(theorem_of, extension.uses)):
        raise TheoremError(f"{where}: uses no other theorem, but must use at least one")


def refuse_bad_argument(argument: tuple[Inference, ...], statement: Statement, proof_uses: Collection[str]) -> None:
    """Raise TheoremError for a repeated label, a missing premise, and an unused step, inference or theorem.

    An inference may use only earlier inferences, so that none rests on itself. An inference that no other inference
    uses must conclude a claim. Each theorem in `proof_uses` must be used.
    """
    claims, steps = ({clause.label for clause in part} for part in (statement.claims, statement.steps))
    known = {*claims, *steps, *(hypothesis.label for hypothesis in statement.hypotheses)}
    concluded = {inference.label for inference in argument} & claims
    before: set[str] = set()
    for inference in argument:
        where = f"inference {inference.label}"
        if inference.label in before or inference.label in known - claims:
            raise TheoremError(f"{where}: the label is taken")
        for used in inference.uses:
            name = theorem_of(used)
            if name is not None and name not in proof_uses:
                raise TheoremError(f"{where}: uses {used}, and proof_uses does not have {name}")
            if name is None and used not in known | before:
                why = "which is no step, hypothesis, claim or earlier inference"
                raise TheoremError(f"{where}: uses {used}, {why}; {meant(used, sorted(known | before))}")
            if used in concluded - before:
                raise TheoremError(f"{where}: uses the claim {used} before it is concluded")
        before.add(inference.label)
    used = {label for inference in argument for label in inference.uses}
    if idle := sorted(set(proof_uses) - {theorem_of(label) for label in used}):
        raise TheoremError(f"proof_uses: {idle[0]} is used by no inference")
    if idle := sorted(steps - used):
        raise TheoremError(f"step {idle[0]}: no inference uses it")
    if idle := sorted(before - used - claims):
        raise TheoremError(f"inference {idle[0]}: no other uses it, and it concludes no claim")
