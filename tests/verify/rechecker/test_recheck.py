"""The re-checker as a whole: it accepts each kind of proof, and does not crash on malformed files; its imports."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pytest
import sympy as sp

from tests.verify.rechecker.cases import ACCEPTED, SYMBOLIC, exact, identities, positive, symbolic
from tests.verify.rechecker.certificates import K, recheck
from verify import load_theorem, rechecker
from verify.language.expressions import digest, to_data
from verify.rechecker import KINDS, Accepted, Instance, Rejected, Unreadable, Verdict, recheck_file


@pytest.mark.parametrize("name", ACCEPTED)
def test_valid_certificates_are_accepted(name):
    made = ACCEPTED[name]()
    found = recheck(made)
    assert isinstance(found, Accepted) and found.statement_digest == made["statement_digest"]
    assert found.instance == made["instance"] and found.in_scope == made["in_scope"]
    stated = [(c["label"], c["outcome"], c["evidence"], c["proof"]["kind"]) for c in made["clauses"]]
    assert [clause[:4] for clause in found.clauses] == stated and found.uses == (("wang2024.lemma1", "0" * 64),)


def test_every_kind_is_accepted_somewhere():
    assert {c["proof"]["kind"] for made in ACCEPTED.values() for c in made()["clauses"]} == set(KINDS)


def symbolic_clauses():
    return [clause for name in SYMBOLIC for clause in recheck(symbolic(name)).clauses]


def test_the_symbolic_theorems_are_proved_again():
    assert {(clause.evidence, clause.trusts) for clause in symbolic_clauses()} == {("proved", ())}


@pytest.mark.audit
def test_the_symbolic_theorems_are_proved_again_in_seconds():
    started = time.monotonic()
    symbolic_clauses()
    # On an idle machine the re-checks take 1.4 s.
    assert time.monotonic() - started < 4.2


@pytest.mark.parametrize("name", SYMBOLIC)
def test_no_canary_of_a_symbolic_theorem_is_proved(name):
    theorem = load_theorem(name)
    for canary in theorem.canaries:
        made = symbolic(name)
        data = identities(canary.statement).to_data()
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
    made["statement"]["claims"].append({"kind": "anything", "label": "other"})
    data, instance, (weak, strict) = made["statement"], made["instance"], made["clauses"]
    claim = {clause["label"]: clause for clause in data["claims"]}

    def verdict(stated, data=data, instance=instance, clause=None):
        return Instance(data, instance).verdict(clause or claim[stated["label"]], stated)

    assert verdict(strict) == verdict(weak) == Verdict("proved")
    # The evidence follows from the kind of proof, and not from the stated evidence.
    assert verdict(weak | {"evidence": "certified"}).evidence == "proved"
    wrong = verdict(strict | {"proof": strict["proof"] | {"relations": []}})
    assert (wrong.evidence, wrong.rejected) == (None, True) and "not all positive" in wrong.why
    assert verdict(weak, instance={"x": "-1", "k": "2"}).rejected
    deep = weak
    for _ in range(100_000):
        deep = {"label": "weak", "proof": deep}
    assert not verdict(deep).evidence
    for other in WRONG:
        assert not verdict(weak, clause={"kind": other}).evidence
        for name in data:
            found = verdict(weak, data | {name: other})
            assert found.evidence in (None, "proved") and (found.evidence or found.why)


def test_unknown_parts_are_told_from_wrong_ones():
    made = positive()
    data, instance, (weak, _) = made["statement"], made["instance"], made["clauses"]
    clause = data["claims"][0]
    unknown = ["Primitive", "mine", 1, ["Integer", "1"]]
    bound = data | {"definitions": [[["Symbol", "mine"], unknown]]}
    # An unknown primitive does not matter in an unused definition, but matters in a used definition.
    assert Instance(bound, instance).verdict(clause, weak) == Verdict("proved")
    uses = clause | {"relation": ["Le", ["Symbol", "mine"], ["Integer", "2"]]}
    for data_, clause_ in ((bound, uses), (data, clause | {"relation": ["Le", unknown, ["Integer", "2"]]})):
        found = Instance(data_, instance).verdict(clause_, weak)
        assert (found.evidence, found.rejected) == (None, False) and "'mine/1' is not known" in found.why
    found = Instance(data, instance).verdict(clause | {"kind": "of my own"}, weak)
    assert (found.evidence, found.rejected) == (None, False) and "not a kind of clause" in found.why
    lazy = Instance(data, instance, 10).verdict(clause, weak)
    assert (lazy.evidence, lazy.rejected) == (None, False) and "microseconds of work" in lazy.why
    hypothesis = {"label": "mine", "kind": "parametric", "relation": ["Le", unknown, ["Integer", "2"]], "text": ""}
    open_ = Instance(data | {"hypotheses": [hypothesis]}, instance)
    assert open_.in_scope()[0] is None and "'mine/1' is not known" in open_.in_scope()[1]
    assert Instance(data, instance).in_scope() == (True, "")
    assert Instance({}, instance).in_scope()[0] is None and not Instance({}, instance).verdict(clause, weak).evidence


def test_values_are_computed_again():
    made = positive()
    at = Instance(made["statement"], made["instance"] | {"k": "2"})
    half, root = to_data(1 / K), to_data(sp.sqrt(K))
    assert at.encloses(half, "1/2", "1/2", 128) == at.encloses(half, "0", "1", 128) == Verdict("certified")
    assert at.encloses(root, "707/500", "283/200", 128) == Verdict("certified")
    for expression, low, high in ((half, "1/3", "1/3"), (half, "0", "1/3"), (root, "7/5", "7/5"), (root, "0", "7/5")):
        assert at.encloses(expression, low, high, 128).rejected
    assert not at.encloses(["Symbol", "unknown"], "0", "1", 128).evidence


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


@pytest.mark.parametrize("part", ["claims", "steps", "hypotheses", "definitions", "domain", "variables", "parameters"])
@pytest.mark.parametrize("shape", [*WRONG[2:], [None], [5], [{}], ["x"], [["x"]], [[[], []]], [{"kind": []}], 1.5])
def test_malformed_parts_of_a_statement_are_rejected(part, shape):
    made = exact()
    made["statement"][part] = shape
    made["statement_digest"] = digest(made["statement"]) if shape != 1.5 else "0" * 64
    with pytest.raises((Rejected, Unreadable)):
        recheck(made)


def test_the_checker_imports_nothing_of_the_engine():
    code = (
        "import sys, verify.rechecker\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in "
        "('sympy', 'numpy', 'scipy', 'mpmath', 'theorems', 'numerics', 'hypothesis')]\n"
        "ours = sorted(m for m in sys.modules if m.startswith('verify') and not m.startswith('verify.rechecker'))\n"
        "print(bad, ours)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    # Any module of `verify` loads the package itself, which loads the display of results.
    assert done.stdout.strip() == "[] ['verify', 'verify.shown']"


ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
import alone
accepted, unknown = [], []
for file in sys.argv[2:]:
    try:
        accepted.append(alone.recheck_file(file))
    except alone.Unknown as error:
        assert "beyond the core" in str(error)
        unknown.append(file)
print(len(accepted), len(unknown))
sys.exit(any(m.split(".")[0] in ("verify", "theorems", "sympy") for m in sys.modules))
"""


def test_the_folder_works_alone(tmp_path):
    """By itself, the folder accepts certificates that rest on its core; those that need a package are `unknown`."""
    shutil.copytree(Path(rechecker.__file__).parent, tmp_path / "alone", ignore=shutil.ignore_patterns("__pycache__"))
    folder = Path(str(resources.files("theorems"))) / "certificates"
    (tmp_path / "run.py").write_text(ALONE)
    files = sorted(folder.glob("*.json"))
    helped = [file for file in files if json.loads(file.read_text())["trusts"]]
    run = subprocess.run(
        [sys.executable, "-I", tmp_path / "run.py", tmp_path, *files], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0 and len(files) > 30 and helped, run.stderr
    assert run.stdout.split() == [str(len(files) - len(helped)), str(len(helped))]
