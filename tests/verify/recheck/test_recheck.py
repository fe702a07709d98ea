"""The re-checker as a whole: each kind of proof is accepted, no malformed file is a crash; what it imports."""

import contextlib
import json
import subprocess
import sys
import time

import pytest

from tests.verify.recheck.cases import ACCEPTED, SYMBOLIC, exact, positive, recheck, symbolic
from verify import load_theorem
from verify.language import digest
from verify.recheck import KINDS, Accepted, Rejected, Unreadable, recheck_file, refusals


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_proved_is_accepted(name):
    made = ACCEPTED[name]()
    found = recheck(made)
    assert isinstance(found, Accepted) and found.statement_digest == made["statement_digest"]
    assert found.instance == made["instance"] and found.in_scope == made["in_scope"]
    stated = [(c["label"], c["outcome"], c["evidence"], c["proof"]["kind"]) for c in made["clauses"]]
    assert list(found.clauses) == stated and found.uses == (("wang2024.lemma1", "0" * 64),)


def test_every_kind_is_accepted_somewhere():
    assert {c["proof"]["kind"] for made in ACCEPTED.values() for c in made()["clauses"]} == set(KINDS)


def test_the_symbolic_theorems_are_proved_again_in_seconds():
    started = time.monotonic()
    clauses = [clause for name in SYMBOLIC for clause in recheck(symbolic(name)).clauses]
    assert len(clauses) == 25 and {evidence for _, _, evidence, _ in clauses} == {"proved"}
    # About a second on the machine that this was written on.
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("name", SYMBOLIC)
def test_no_canary_of_a_symbolic_theorem_is_proved(name):
    theorem = load_theorem(name)
    for canary in theorem.canaries:
        made = symbolic(name)
        data = canary.statement.to_data()
        made |= {"statement": data, "statement_digest": digest(data)}
        with pytest.raises(Rejected, match="not the same rational function"):
            recheck(made)


def test_files_are_read_and_a_missing_one_is_an_error_of_the_system(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(exact()))
    assert recheck_file(path).theorem == "user.mine"
    with pytest.raises(FileNotFoundError):
        recheck_file(tmp_path / "none.json")


WRONG = (None, [], {}, 0, "", [[]], True)


def test_some_clauses_are_checked_by_themselves():
    made = positive()
    made["statement"]["claim"].append({"kind": "anything", "label": "other"})
    data, instance, (weak, strict) = made["statement"], made["instance"], made["clauses"]
    assert refusals(data, instance, [strict, weak]) == refusals(data, instance, []) == {}
    wrong = strict | {"proof": strict["proof"] | {"relations": []}}
    assert list(refusals(data, instance, [wrong, weak])) == ["strict"]
    assert "not all positive" in refusals(data, instance, [wrong])["strict"]
    assert set(refusals(data, {"x": "-1", "k": "2"}, [weak, strict])) == {"weak", "strict"}
    deep = weak
    for _ in range(100_000):
        deep = {"label": "weak", "proof": deep}
    assert list(refusals(data, instance, [deep])) == ["weak"]
    for claim in ([[]], [None], [5], [{}], [], {}):
        assert list(refusals(data | {"claim": claim}, instance, [weak])) == ["weak"]
    for name in data:
        for other in WRONG:
            assert set(refusals(data | {name: other}, instance, [weak])) <= {"weak"}


_QUICK = ("exact_refuted", "within", "small_descent", "point", "root", "words", "residual")
_LONG = ("trajectory", "excess", "cycle", "symbolic")


def _put(value, path, new):
    if not path:
        return new
    made = value.copy()
    made[path[0]] = _put(value[path[0]], path[1:], new)
    return made


def _paths(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _paths(value[key], (*path, key))


@pytest.mark.parametrize(
    "name",
    [name if name in _QUICK else pytest.param(name, marks=pytest.mark.audit) for name in ACCEPTED if name not in _LONG],
)
def test_a_value_of_the_wrong_type_anywhere_is_no_crash(name):
    made = ACCEPTED[name]()
    for path in _paths(made):
        for shape in WRONG:
            other = _put(made, path, shape)
            if path[:1] == ("statement",):
                other["statement_digest"] = digest(other["statement"])
            with contextlib.suppress(Rejected, Unreadable):
                recheck(other)


@pytest.mark.parametrize("part", ["claim", "hypotheses", "definitions", "domain", "variables", "parameters"])
@pytest.mark.parametrize("shape", [*WRONG[2:], [None], [5], [{}], ["x"], [["x"]], [[[], []]], [{"kind": []}], 1.5])
def test_what_is_no_part_of_a_statement_is_rejected(part, shape):
    made = exact()
    made["statement"][part] = shape
    made["statement_digest"] = digest(made["statement"]) if shape != 1.5 else "0" * 64
    with pytest.raises((Rejected, Unreadable)):
        recheck(made)


def test_the_checker_imports_nothing_of_the_engine():
    code = (
        "import sys, verify.recheck\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in "
        "('sympy', 'numpy', 'scipy', 'mpmath', 'theorems', 'numerics', 'hypothesis')]\n"
        "ours = [m for m in sys.modules if m.startswith('verify') and not m.startswith('verify.recheck')]\n"
        "print(bad, ours)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[] ['verify']"
