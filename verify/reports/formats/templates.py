"""Templates of theorem files, one for each kind of claim: commented, and ready to run."""

import shlex
from pathlib import Path

_HEAD = '''# {file}
"""{title}.{note}"""

import sympy as sp

from verify import {names}

'''
_THEOREM = """
{name} = Theorem(
    # An id of your own: the part before the dot groups your theorems.
    id="user.{name}",
    title="{title}",
    # Its place in a paper, and whether it is "printed", "recalled" or "derived here".
    source=Source("Lemma 1", "derived here"),
    statement=STATEMENT,
    # A value for each parameter, in scope.
    example={example},{more}
)

# The commands to try, each with what it prints:
"""
_INEQUALITY = """# Symbols assume no more than the parameters' domains below say.
x, y = sp.symbols("x y", positive=True)

STATEMENT = Statement(
    parameters=(
        # name, kind (integer, real, rationals or word), meaning.
        # minimum= and maximum= belong to the domain, above= and below= do not.
        Parameter("x", "real", "the first number", above=0),
        Parameter("y", "real", "the second number", above=0),
    ),
    # A relation on the parameters, or text="…" for an assumption about the set-up.
    hypotheses=(Hypothesis("larger", sp.Ge(y, x), "y is the larger one: y >= x"),),
    # SymPy decides some relations as they are typed: relation("x <= x + 1", x) stays as it is.
    claims=(Inequality("square", sp.Le(x * y, y**2)),),
)
"""
_IDENTITY = """# A variable is bound by the claims: the identity holds for all its values.
n = sp.Symbol("n", integer=True, positive=True)
t = sp.Symbol("t", real=True)

STATEMENT = Statement(
    parameters=(Parameter("n", "integer", "a size", minimum=1),),
    variables=(t,),
    claims=(
        # left, right, and the same in words; it is proved for all n and t by a symbolic zero.
        Identity("square", (n + t) ** 2 - (n - t) ** 2, 4 * n * t, "(n + t)^2 - (n - t)^2 = 4 n t"),
    ),
)
"""
_RECURSION = """eta, eps = sp.symbols("eta eps", positive=True)
x = sp.Symbol("x", real=True)

# Gradient descent on x^2/2 from x = 1: the state, its initial value, one step, and the observable.
DESCENT = Dynamics(state=(x,), initial=(sp.Integer(1),), step=((1 - eta) * x,), observable=x**2 / 2)

STATEMENT = Statement(
    parameters=(
        Parameter("eta", "rational", "step size", above=0),
        Parameter("eps", "rational", "the loss to be reached", above=0),
    ),
    hypotheses=(Hypothesis("small_step", sp.Lt(eta, 2)),),
    # Stays("stays", DESCENT, reached=eps, level=eps) would claim that the loss stays there.
    claims=(Reaches("reached", DESCENT, eps, says="the loss is at most eps at some step"),),
)
"""
_ARGUMENT = """x, y = sp.symbols("x y", positive=True)

STATEMENT = Statement(
    parameters=(
        Parameter("x", "rational", "square root of a", above=0),
        Parameter("y", "rational", "square root of b", above=0),
    ),
    # What the language cannot state is said in words: an argument establishes it, and EVALUATIONS evaluates it.
    claims=(InWords("means", "(a + b)/2 >= sqrt(a b) for all positive a and b"),),
    # Steps of the proof, which the engine shows.
    steps=(Identity("square", (x**2 + y**2) / 2 - x * y, (x - y) ** 2 / 2),),
)

# Each inference is a step in prose, of one or more sentences, with the rule that it names and the labels of what it
# uses; the last one has the claim's label.
ARGUMENT = (
    Inference("roots", "for a = x^2, b = y^2 the difference is (x - y)^2/2", ("square",), "application"),
    Inference("means", "which is not negative", ("roots",), "nonnegative terms"),
)


# The trials of (a + b)/2 >= factor sqrt(a b), at a and b that are drawn; rounding is far below 1e-12 (a + b).
def means(factor):
    def trials(instance, random):
        while True:
            a, b = random.exponential(size=2)
            yield Trial((a + b) / 2 - factor * (a * b) ** 0.5, 1e-12 * (a + b), {"a": a, "b": b})

    return trials


# The evaluation of the claim, and of a wrong variant, which the same code refutes.
EVALUATIONS = {"means": Evaluation(means(1), "(a + b)/2 >= 2 sqrt(a b) for all positive a and b", means(2), draws=100)}
"""
_STATED = "Parameter, Source, Statement, Theorem"
KINDS = {
    "inequality": (
        *(_INEQUALITY, f"Hypothesis, Inequality, {_STATED}"),
        *("The product of two numbers is at most the square of the larger one", {"x": 1, "y": 3}, ""),
    ),
    "identity": (
        *(_IDENTITY, f"Identity, {_STATED}"),
        *("The difference of two squares", {"n": 3}, ""),
    ),
    "recursion": (
        *(_RECURSION, "Dynamics, Hypothesis, Parameter, Reaches, Source, Statement, Theorem"),
        *("Gradient descent on a parabola reaches every loss", {"eta": "1/4", "eps": "1/1000"}, ""),
    ),
    "argument": (
        *(_ARGUMENT, "Evaluation, Identity, Inference, InWords, Parameter, Source, Statement, Theorem, Trial"),
        "The arithmetic mean is at least the geometric mean",
        *({"x": 1, "y": 2}, "\n    argument=ARGUMENT,\n    evaluations=EVALUATIONS,"),
    ),
}
"""The template of each kind: its body, its imports, its title, its example, and further fields of its theorem."""
_PRINTED = {
    "inequality": {
        "check {path} {instance}": "verified (proved); for all parameters: proved",
        "explore {path} --drop larger": "counterexample  x=2 y=1",
        "prove {path}": "proved by positive  square: x*y <= y**2",
    },
    "identity": {
        "check {path} {instance}": "verified (proved); for all parameters: proved",
        "explore {path}": "no counterexample found in 1000 clean instances",
        "prove {path}": "proved by identity  square: (n + t)^2 - (n - t)^2 = 4 n t",
    },
    "recursion": {
        "check {path} {instance}": "verified (proved); for all parameters: proved",
        "explore {path} --drop small_step": "counterexample  eta=2 eps=1/3",
        "prove {path}": "proved by falls  reached: the loss is at most eps at some step",
    },
    "argument": {
        "check {path} {instance}": "verified (simulated); for all parameters: argued (2 inferences)",
        "explore {path}": "undecided: no instance is clean",
        "prove {path}": "evaluated, and not violated: means at 201 instances",
    },
}
"""The commands at the end of each kind's file, each with the beginning of a line that the command prints."""


_IN_WORDS = """

A claim in words is established by its argument, see prove; check evaluates it by drawn trials, and explore at drawn
instances, none of which is clean then.
"""


def template(kind: str, path: Path) -> str:
    """Return the text of a theorem file; `kind` is a key of `KINDS`, and the theorem is named after the file."""
    name = path.stem
    # The path is quoted for a shell.
    typed = shlex.quote(path.as_posix())
    body, names, title, example, more = KINDS[kind]
    instance = " ".join(f"{parameter}={value}" for parameter, value in example.items())
    values = (f'"{key}": "{x}"' if isinstance(x, str) else f'"{key}": {x}' for key, x in example.items())
    shown = "{" + ", ".join(values) + "}"
    note = _IN_WORDS if kind == "argument" else ""
    head = _HEAD.format(file=path.name, title=title, note=note, names=names)
    tried = {command.format(path=typed, instance=instance): said for command, said in _PRINTED[kind].items()}
    ending = "".join(f"#   verify {command}\n#     {said}\n" for command, said in tried.items())
    return head + body + _THEOREM.format(name=name, title=title, example=shown, more=more) + ending
