"""An arbitrary example, and arbitrary evaluations of claims in words, for the theorems of tests."""

from verify import Evaluation, Trial


def example_of(parameters):
    """Return, for each parameter without a default, a value in its domain; relations between parameters are ignored."""
    return {p.name: _value(p) for p in parameters if p.default is None}


def _value(parameter):
    if parameter.words:
        return parameter.words[0]
    if parameter.minimum is not None:
        return parameter.minimum
    return 1 if parameter.above is None else parameter.above + 1


def evaluations(*labels):
    """Return evaluations of claims in words: each claim holds everywhere, and its wrong variant nowhere."""
    stands, falls = (lambda instance, random, margin=margin: iter([Trial(margin)]) for margin in (1, -1))
    return {label: Evaluation(stands, "the contrary", falls) for label in labels}
