"""Mutants of small statements: the list of mutants, compared with a list by hand, and their fates."""

from dataclasses import replace

import pytest
import sympy as sp

from tests.verify.examples import example_of
from verify import Hypothesis, Identity, Inequality, Parameter, Source, Statement, Theorem
from verify.search.mutation import fate, mutants, sample

x, y = sp.symbols("x y", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
X, Y = (Parameter(name, "rational", "a size", above=0) for name in "xy")
N = Parameter("n", "integer", "a number", minimum=1)
SMALL = Hypothesis("small", sp.Le(x, 1))


def theorem(clause, *hypotheses, parameters=(X, Y), **example):
    statement = Statement(parameters, (clause,), hypotheses)
    example = example_of(parameters) | example
    # Only a variant may have a hypothesis that no clause depends on.
    return Theorem("user.t", "t", Source("t", "derived here"), statement, example=example, is_variant=True)


def changes(statement):
    return sorted(mutant.label for mutant in mutants(statement))


def test_all_mutants_of_a_small_statement_by_hand():
    clause = Inequality("bound", sp.Le(3 * x, 4, evaluate=False), "printed")
    made = Statement((X, Y), (clause,), (SMALL,))
    assert changes(made) == [
        "bound: constant one less: 3 -> 2",
        "bound: constant one less: 4 -> 3",
        "bound: constant one more: 3 -> 4",
        "bound: constant one more: 4 -> 5",
        "bound: constant twice: 3 -> 6",
        "bound: constant twice: 4 -> 8",
        "bound: relation flipped: Le",
        "small: constant one less: 1 -> 0",
        "small: constant one more: 1 -> 2",
        "small: hypothesis dropped: left out",
        "small: relation flipped: Le",
    ]


def test_parameters_are_swapped_and_an_index_shifted():
    clause = Inequality("bound", sp.Le(x, n * y, evaluate=False))
    found = changes(Statement((X, Y, N), (clause,)))
    assert [label for label in found if "swapped" in label] == [
        "bound: parameters swapped: n, x",
        "bound: parameters swapped: x, y",
    ]
    assert [label for label in found if "index" in label] == ["bound: index shifted: n -> n + 1"]


def test_a_mutant_says_what_it_is_and_not_what_was_printed():
    clause = Inequality("bound", sp.Le(3 * x, 4, evaluate=False), "as printed")
    made = Statement((X,), (clause,))
    changed = [mutant.statement for mutant in mutants(made)]
    assert len(changed) == 7 and made.digest not in {statement.digest for statement in changed}
    assert not any("printed" in clause.text for statement in changed for clause in statement.clauses)


def test_mutants_that_are_no_statement_are_left_out():
    # A change that makes both sides the same expression makes no mutant.
    clause = Identity("same", (x + 1) ** 2, x**2 + 2 * x + 1)
    sides = [(mutant.statement.clauses[0].left, mutant.statement.clauses[0].right) for mutant in mutants_of(clause)]
    assert sides and all(left != right for left, right in sides)


def mutants_of(clause):
    return list(mutants(Statement((X,), (clause,))))


def test_definitions_change_the_statement_as_a_whole():
    double = sp.Symbol("double", real=True)
    clauses = (Inequality("one", sp.Le(x, double, evaluate=False)), Inequality("two", sp.Le(double, 3, evaluate=False)))
    made = Statement((X,), clauses, definitions={double: 2 * x})
    labels = {mutant.label: mutant for mutant in mutants(made)}
    changed = labels["double: constant one more: 2 -> 3"].statement
    assert changed.definitions[double] == 3 * x and [c.label for c in changed.clauses] == ["one", "two"]


def test_killed_at_the_example_by_a_search_proved_or_not_refuted(no_deduction):
    clause = Inequality("bound", sp.Le(3 * x, 4, evaluate=False))
    made = theorem(clause, SMALL, x=1, y=1)
    by_label = {mutant.label: mutant for mutant in mutants(made.statement)}

    def become(label):
        found = fate(made, by_label[label], seconds=3)
        return found.fate, found.why.split(" by ")[0]

    assert become("bound: constant twice: 3 -> 6") == ("killed", "refuted at the example")
    assert become("small: hypothesis dropped: left out") == ("killed", "refuted")
    weaker = theorem(Inequality("bound", sp.Ge(x + 2, 1, evaluate=False)), x=1, y=1)
    (twice,) = [m for m in mutants(weaker.statement) if m.label == "bound: constant one less: 2 -> 1"]
    assert fate(weaker, twice, seconds=3).fate == "equivalent"
    # e^(-x) < 2 is true, but the engine does not prove it.
    true = theorem(Inequality("bound", sp.Lt(sp.exp(-x), 1, evaluate=False)), SMALL, x=1, y=1)
    (more,) = [m for m in mutants(true.statement) if m.label == "bound: constant one more: 1 -> 2"]
    found = fate(true, more, seconds=1)
    assert found.fate == "survived" and "not refuted in" in found.why
    assert fate(true, more, seconds=9, max_examples=3).why == "not refuted in 3 instances"
    # A step that is proved is not searched with the other clauses.
    proved = Inequality("proved", sp.Gt(x + y, x, evaluate=False))
    both = replace(true, statement=replace(true.statement, steps=(proved,)))
    (more,) = [m for m in mutants(both.statement) if m.label == "small: hypothesis dropped: left out"]
    assert fate(both, more, seconds=1).fate == "survived"


def test_a_sample_has_every_operator_and_repeats_itself():
    clause = Inequality("bound", sp.Le(3 * x, 4 * n, evaluate=False))
    made = Statement((X, N), (clause,), (SMALL,))
    chosen = sample(made, 7, seed=1)
    assert len(chosen) == 7 and len({mutant.operator for mutant in chosen}) == 7
    assert [m.label for m in chosen] == [m.label for m in sample(made, 7, seed=1)]
    assert len(sample(made, 1000, seed=0)) == len(list(mutants(made)))


@pytest.mark.parametrize("seed", [0, 1])
def test_mutants_differ_from_each_other(seed):
    clause = Inequality("bound", sp.Le(3 * x + 3, 4 * y, evaluate=False))
    found = sample(replace(Statement((X, Y), (clause,), (SMALL,))), 100, seed)
    assert len({mutant.statement.digest for mutant in found}) == len(found)


def test_where_no_instance_is_found_nothing_is_killed(no_deduction):
    made = theorem(Inequality("bound", sp.Le(sp.exp(-x), 1, evaluate=False)), SMALL, x=1, y=1)
    (none,) = [m for m in mutants(made.statement) if m.label == "small: constant one less: 1 -> 0"]
    found = fate(made, none, seconds=2)
    assert found.fate == "survived" and "no instance was found" in found.why


def test_a_mutant_whose_fixed_word_breaks_a_hypothesis_survives(no_deduction):
    from verify.language.expressions import Case

    law = Parameter("law", "word", "a law", words=("one", "two"))
    kept = Hypothesis("kept", sp.Le(Case(sp.Symbol("law"), 1, 2), 2, evaluate=False))
    fixed = Hypothesis("fixed", text="the law is one", varies=law)
    made = theorem(Inequality("bound", sp.Lt(sp.exp(-x), 1, evaluate=False)), kept, fixed, parameters=(X, law), x=1)
    (flipped,) = [m for m in mutants(made.statement) if m.label == "kept: relation flipped: Le"]
    assert fate(made, flipped, seconds=1).fate == "survived"
