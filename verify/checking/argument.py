"""Arguments: the inferences in prose that lead from the steps of a proof to its claims, as data.

An inference is one sentence, with the rule that carries it; it may hold more than one deduction, so that their number
says how long an argument is, and not how sure. It names what it uses by label: steps, hypotheses and claims of its
theorem, inferences before it, and other theorems, by their ids, or one claim of theirs, as `id:label`. The inference
that concludes a claim has the claim's label.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from verify.errors import TheoremError, meant
from verify.language.labels import NAME, SENTENCE, TITLE, refuse_bad_label, refuse_bad_text
from verify.language.statement import Statement


@dataclass(frozen=True)
class Rule:
    """A rule of inference, with a reference to the literature.

    Parameters
    ----------
    name
        What it is called.
    says
        What it says, in one sentence.
    reference
        Where it is proved: a textbook with its section, or a paper.

    Raises
    ------
    TheoremError
        For what is no text of one line.

    Examples
    --------
    >>> from verify import Rule
    >>> Rule("Jensen's inequality", "f(E X) <= E f(X) for a convex f", "Rudin, Real and Complex Analysis, 3.3").name
    "Jensen's inequality"
    """

    name: str
    says: str
    reference: str

    def __post_init__(self) -> None:
        refuse_bad_text("rule", self.name, NAME)
        for part, longest in (("says", SENTENCE), ("reference", TITLE)):
            refuse_bad_text(f"rule {self.name}: {part}", getattr(self, part), longest, empty=True)


_SHIPPED = (
    Rule("Bolzano-Weierstrass", "a bounded sequence of points has a part that converges", "Rudin 1976, Theorem 3.6"),
    Rule(
        "bounded convergence",
        "where functions with a common bound converge at every point, their means converge to the limit's",
        "Rudin 1987, Real and Complex Analysis, Theorem 1.34",
    ),
    Rule("case distinction", "what holds in each of the cases holds", "elementary"),
    Rule("Cauchy-Schwarz", "(E XY)² ≤ E X² E Y²", "Steele 2004, The Cauchy-Schwarz Master Class, chapter 1"),
    Rule(
        "change of coordinates",
        "where the slopes vanish, second derivatives in other coordinates are the same form in the moves of these",
        "Milnor 1963, Morse Theory, section 2",
    ),
    Rule(
        "Chebyshev polynomials",
        "those of the second kind are orthogonal under the semicircle law, and have the zeros cos(πl/(L + 1))",
        "Szegő 1939, Orthogonal Polynomials, sections 1.12 and 4.1",
    ),
    Rule(
        "chord", "on an interval a convex function is at most its chord", "Rockafellar 1970, Convex Analysis, section 4"
    ),
    Rule(
        "conditional mean",
        "of all functions of Y, E[Z | Y] is nearest to Z in mean square",
        "Williams 1991, Probability with Martingales, section 9.4",
    ),
    Rule("continuity", "a limit passes through a continuous function", "Rudin 1976, Theorem 4.6"),
    Rule(
        "convex trace function",
        "tr φ(S) is convex in the symmetric matrix S where φ is convex",
        "Carlen 2010, Trace inequalities and quantum entropy, Theorem 2.10",
    ),
    Rule(
        "convexity of a square",
        "the square of an affine function is convex, and so is a mean of convex functions",
        "Boyd and Vandenberghe 2004, Convex Optimization, section 3.2",
    ),
    Rule(
        "cubic discriminant",
        "a real cubic has three real and different roots where its discriminant is positive",
        "Cox, Galois Theory, 2012, section 1.3",
    ),
    Rule(
        "definition of a limit",
        "a sequence whose size is at most ε from some step on, for every ε > 0, tends to 0",
        "Rudin 1976, Definition 3.1",
    ),
    Rule(
        "derivative",
        "as a move shrinks to 0, the change of a function divided by the move's length tends to its slope",
        "Rudin 1976, Definition 9.11",
    ),
    Rule(
        "descent lemma",
        "where the Hessian is at most β along a gradient step of size s, the function falls by s(1 − βs/2)|gradient|² "
        "or more",
        "Nesterov 2018, Lectures on Convex Optimization, Lemma 1.2.3",
    ),
    Rule(
        "descent of analytic functions",
        "steps x' of an analytic f with f(x) − f(x') ≥ σ|∇f(x)| |x' − x|, σ > 0, and x' = x where f(x') = f(x), "
        "converge or tend to infinity",
        "Absil, Mahony and Andrews 2005, SIAM Journal on Optimization 16, 531-547, Theorem 3.2",
    ),
    Rule(
        "differentiation under the mean",
        "the gradient of a mean is the mean of the gradients, where one integrable function bounds these nearby",
        "Williams 1991, section A16.1",
    ),
    Rule("exchangeability", "what no permutation of the tokens changes is the same for all of them", "elementary"),
    Rule(
        "exchanges of neighbours",
        "every permutation is a product of exchanges of neighbours",
        "Knuth 1998, The Art of Computer Programming, volume 3, section 5.1.1",
    ),
    Rule(
        "Gaussian conditioning",
        "of jointly Gaussian vectors one is a linear function of the other, plus what is independent of that",
        "Anderson 2003, An Introduction to Multivariate Statistical Analysis, section 2.5",
    ),
    Rule(
        "Gaussian moments",
        "a moment of a Gaussian vector is the sum over pairings of products of covariances",
        "Isserlis 1918, Biometrika 12, 134-139",
    ),
    Rule(
        "half of a vanishing sum",
        "any part of a sum that is 0 is at most half of the sum of absolute values",
        "elementary",
    ),
    Rule(
        "Hoeffding's lemma",
        "E e^{tX} ≤ e^{t²/8} for X of mean 0 in an interval of length 1",
        "Boucheron, Lugosi and Massart 2013, Concentration Inequalities, Lemma 2.2",
    ),
    Rule(
        "identity of polynomials",
        "a polynomial that vanishes on a set of positive measure is 0",
        "Caron and Traynor 2005, The zero set of a polynomial",
    ),
    Rule(
        "indefinite Hessian",
        "a critical point whose second derivatives take both signs is a saddle",
        "Nocedal and Wright 2006, Numerical Optimization, Theorem 2.3",
    ),
    Rule(
        "independent factors",
        "the mean of a product of independent factors is the product of their means",
        "Williams 1991, Probability with Martingales, section 7.1",
    ),
    Rule("induction", "what holds at first, and passes from each step to the next, holds at every step", "elementary"),
    Rule(
        "intermediate value",
        "a continuous function takes every value between two of its values",
        "Rudin 1976, Theorem 4.23",
    ),
    Rule(
        "invariance of the law",
        "the mean of a function does not change when its argument is mapped by what preserves the law",
        "Billingsley 1995, Probability and Measure, Theorem 16.13",
    ),
    Rule("Jensen's inequality", "f(E X) ≤ E f(X) for a convex f", "Rudin 1987, Theorem 3.3"),
    Rule("linear recurrence", "numbers b >= 0 with b' <= c b + k from some step on, c < 1, are bounded", "elementary"),
    Rule("linearity of expectation", "the mean of a sum is the sum of the means", "Williams 1991, section 5.8"),
    Rule("lower bound approached", "a lower bound that is approached is the infimum", "elementary"),
    Rule("lower bound attained", "a lower bound that is attained is the least value", "elementary"),
    Rule(
        "Marchenko-Pastur law",
        "the mean moments of the spectrum of XX'/n, of dimension d and d/n → c, tend to those of the law",
        "Bai and Silverstein 2010, Spectral Analysis of Large Dimensional Random Matrices, section 3.1",
    ),
    Rule(
        "mean value inequality",
        "|f(x) − f(y)| ≤ sup |f'| |x − y|, the supremum being over the segment from x to y",
        "Rudin 1976, Principles of Mathematical Analysis, Theorem 9.19",
    ),
    Rule("Minkowski's inequality", "√E (X + Y)² ≤ √E X² + √E Y²", "Rudin 1987, Theorem 3.5"),
    Rule("monotonicity", "a function that rises everywhere has one zero at most", "elementary"),
    Rule(
        "multipliers on a ball",
        "where a smooth function is largest on a ball its gradient is κ z, κ ≥ 0, and κ = 0 inside",
        "Nocedal and Wright 2006, Theorem 12.1",
    ),
    Rule("nonnegative terms", "a sum of nonnegative terms is nonnegative, and 0 only where each is", "elementary"),
    Rule(
        "norms of polynomials",
        "on the polynomials of a degree the square root of ∫ r² dμ is a norm, so that where it is bounded the "
        "coefficients are, and with r(0) = 1 the inverses of the roots too",
        "Horn and Johnson 2013, Corollary 5.4.5 and section 5.6",
    ),
    Rule("operator norm", "|Mv| ≤ |M| |v|", "Horn and Johnson 2013, Matrix Analysis, section 5.6"),
    Rule(
        "orthogonal projection",
        "the nearest point of a subspace is the one from which the rest is orthogonal to it",
        "Rudin 1987, Real and Complex Analysis, Theorem 4.11",
    ),
    Rule(
        "parity",
        "under a law that is symmetric about 0 a product of an odd and an even function has mean 0",
        "elementary",
    ),
    Rule("quadratic formula", "x² − σx + π has the roots (σ ± √(σ² − 4π))/2", "elementary"),
    Rule(
        "remainder of the exponential",
        "(e^x − 1 − x)/x², the integral of (1 − t) e^{tx} from t = 0 to 1, rises with x, and is 1/2 at 0",
        "Boucheron, Lugosi and Massart 2013, section 2.7",
    ),
    Rule(
        "Schur's lemma",
        "a matrix that commutes with a group that acts irreducibly on C^k is a multiple of the identity",
        "Serre 1977, Linear Representations of Finite Groups, section 2.2",
    ),
    Rule(
        "second derivative",
        "where the second derivatives are positive definite a function is strictly convex",
        "Boyd and Vandenberghe 2004, section 3.1.4",
    ),
    Rule(
        "second-order condition",
        "where the slopes vanish and the second derivatives are positive definite there is a strict local minimum",
        "Nocedal and Wright 2006, Theorem 2.4",
    ),
    Rule(
        "second-order necessary condition",
        "where a smooth function is largest on a ball its second derivative along directions orthogonal to z is at "
        "most that of κ|z|²/2",
        "Nocedal and Wright 2006, Theorem 12.5",
    ),
    Rule(
        "sign of the slope",
        "a function whose slope is nowhere positive does not rise, and one whose slope is nowhere negative does not "
        "fall",
        "Rudin 1976, Theorem 5.11",
    ),
    Rule(
        "spectral theorem",
        "a symmetric matrix has an orthonormal basis of eigenvectors, and its norm is its largest |eigenvalue|",
        "Horn and Johnson 2013, Theorem 4.1.5",
    ),
    Rule("slopes at a least point", "where a smooth function is least its slopes vanish", "Rudin 1976, Theorem 5.8"),
    Rule("squeeze", "what is between two sequences with the same limit has this limit", "Rudin 1976, section 3.19"),
    Rule(
        "stationary point of a convex function",
        "where the slopes of a convex function vanish it is least",
        "Boyd and Vandenberghe 2004, section 3.1.3",
    ),
    Rule(
        "Stolz-Cesàro",
        "where the increments of a sequence tend to a limit, the sequence divided by its index tends to it too",
        "Mureşan 2009, A Concrete Approach to Classical Analysis, pages 85 to 88",
    ),
    Rule("substitution", "of equals for equals, and of bounds into what is monotone in them", "elementary"),
    Rule(
        "Sylvester's criterion",
        "a symmetric matrix is positive definite where its leading minors are positive",
        "Horn and Johnson 2013, Theorem 7.2.5",
    ),
    Rule(
        "symmetric criticality",
        "isometries that preserve a function and fix a point fix the function's gradient there",
        "Palais 1979, Communications in Mathematical Physics 69, 19-30",
    ),
    Rule(
        "symmetry of independent entries",
        "signed permutations of independent entries of one symmetric law preserve their joint law",
        "Kallenberg 2005, Probabilistic Symmetries and Invariance Principles, section 1.1",
    ),
    Rule("tangent", "a convex function is at least its tangent", "Rockafellar 1970, Convex Analysis, section 25"),
    Rule(
        "Taylor's theorem",
        "f(x + h) − f(x) − f'(x)h is h²/2 times the value of f'' at a point between x and x + h",
        "Rudin 1976, Theorem 5.15",
    ),
    Rule("telescoping", "what grows by at least k a step has grown by at least tk after t steps", "elementary"),
    Rule(
        "trace of projections",
        "the trace of a product of two orthogonal projections is between 0 and the smaller rank",
        "von Neumann's trace inequality: Horn and Johnson 2013, Theorem 7.4.1.1",
    ),
    Rule(
        "zeros of orthogonal polynomials",
        "they are real, simple and inside the interval of the measure",
        "Szegő 1939, Orthogonal Polynomials, Theorem 3.3.1",
    ),
)
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _SHIPPED}
"""The rules that an inference may name; a proof that needs another one brings it, as a `Rule`."""


@dataclass(frozen=True)
class Inference:
    """One inference of an argument: what is concluded, from what, and by which rule.

    Parameters
    ----------
    label
        Its name; that of the claim which it concludes, where it does.
    says
        What is inferred, in one sentence.
    uses
        Labels of steps, hypotheses, claims and earlier inferences; ids of other theorems (`wang2024.lemma1`, all of its
        claims) or claims of theirs (`wang2024.lemma1:loss`); with these the hypotheses by which theirs hold.
    rule
        The name of one of `RULES`, or a `Rule` of one's own.

    Raises
    ------
    TheoremError
        For an empty label or sentence, an unknown rule, and for what is used twice.

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
                f"inference {self.label}: a label and a sentence are text, and what it uses a tuple of labels"
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
        """The rule."""
        return RULES[self.rule] if isinstance(self.rule, str) else self.rule


def theorem_of(used: str) -> str | None:
    """Return the id of the theorem that what is used belongs to, None for a label of the same theorem."""
    name = used.partition(":")[0]
    return name if "." in name else None


def refuse_bad_extension(extension: Inference, statement: Statement) -> None:
    """Raise TheoremError for an inference beyond a theorem's hypotheses that uses its own clauses, or no other theorem.

    A clause of its own may rest on the hypotheses that the inference does without.
    """
    where = f"beyond {extension.label}"
    claims = [claim.label for claim in statement.claims]
    if extension.label not in claims:
        raise TheoremError(f"{where}: concludes no claim; {meant(extension.label, claims)}")
    hypotheses = [hypothesis.label for hypothesis in statement.hypotheses]
    for used in extension.uses:
        if theorem_of(used) is None and used not in hypotheses:
            raise TheoremError(f"{where}: uses {used}, which is no hypothesis; {meant(used, hypotheses)}")
    if not any(map(theorem_of, extension.uses)):
        raise TheoremError(f"{where}: uses no other theorem, which is to show it")


def refuse_bad_argument(argument: tuple[Inference, ...], statement: Statement, proof_uses: Collection[str]) -> None:
    """Raise TheoremError for an argument that uses what is not there, or leaves a step or a claim's inference unused.

    An inference uses only those before it, so that none rests on itself.
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
