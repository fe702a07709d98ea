"""Accepted certificates of deductions, by table and name, from the tables in the tests of the rules."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.verify.rechecker.certificates import certificate
from tests.verify.rechecker.deduction import (
    test_arcs,
    test_boxes,
    test_functions,
    test_identities,
    test_integers,
    test_ranges,
    test_recursions,
    test_telescoping,
)
from tests.verify.rechecker.kinds import test_deductions
from verify.claims.line import statement_of

Make = Callable[[], dict[str, Any]]


def of_a_line(line: str, tree: Any, instance: Mapping[str, Any], relations: list[Any]) -> dict[str, Any]:
    """Return a certificate of a statement in a line; its proof is a tree of rules."""
    proof = {"kind": "deduction", "relations": relations, "tree": tree}
    return certificate(
        statement_of(line), {name: str(value) for name, value in instance.items()}, ("verified", "proved", proof)
    )


def _of_functions(line: str, tree: Any, instance: Mapping[str, Any], relations: tuple[Any, ...] = ()) -> dict[str, Any]:
    return of_a_line(line, test_functions.of_the_line(line, tree), instance, list(relations))


def _of_arcs(line: str, tree: Any, relations: list[Any]) -> dict[str, Any]:
    return of_a_line(line, tree, test_arcs.instance_of(line), relations)


def _of_boxes(line: str, tree: Any, instance: Mapping[str, Any]) -> dict[str, Any]:
    return of_a_line(line, tree, instance, test_boxes.facts_of(line))


def _of_one_hypothesis(line: str, tree: Any, instance: Mapping[str, Any]) -> dict[str, Any]:
    return of_a_line(line, tree, instance, [0] if " if " in line else [])


_OF_LINES: Mapping[Any, Callable[..., dict[str, Any]]] = {
    test_functions: _of_functions,
    test_arcs: _of_arcs,
    test_boxes: _of_boxes,
    test_integers: _of_one_hypothesis,
    test_identities: _of_one_hypothesis,
    test_telescoping: _of_one_hypothesis,
}


def _made() -> dict[str, Make]:
    """Return the functions that make the certificates, by the certificate's name."""
    made: dict[str, Make] = {}
    for table in (test_deductions, test_ranges, test_recursions):
        made |= {f"{_title(table)}:{name}": make for name, make in table.ACCEPTED.items()}
    for table, of in _OF_LINES.items():
        made |= {f"{_title(table)}:{name}": lambda of=of, row=row: of(*row) for name, row in table.ACCEPTED.items()}
    return made


def _title(table: Any) -> str:
    return table.__name__.rpartition("test_")[2]


DEDUCED = _made()
