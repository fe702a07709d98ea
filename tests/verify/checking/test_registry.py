"""Theorems, experiments, comparisons and findings are found by id or file; otherwise an input error says why."""

import importlib
import json
import re
import subprocess
import sys
from importlib import metadata

import pytest
import sympy as sp

import verify
from verify import Inequality, InputError, Theorem, ids, load_theorem
from verify.checking import registry
from verify.checking.theorem import reference_of

KINDS = ("theorem", "experiment", "comparison", "finding")
LISTED = {kind: registry.catalogue("theorems")[f"{kind}s"] for kind in KINDS}
MINE = 'mine = theorem_of(Inequality("c", sp.Lt(x, 2)))\n'


@pytest.mark.parametrize("kind", KINDS)
def test_the_ids_of_a_kind_are_those_of_the_catalogue(kind):
    assert verify.ids(kind) == sorted(LISTED[kind]) != []
    assert {entry.value for entry in metadata.entry_points(group="lemmascope.catalogue")} == {"theorems"}


def test_another_kind_has_no_ids():
    with pytest.raises(InputError, match="kind = lemma: must be one of theorem, experiment, comparison"):
        verify.ids("lemma")


@pytest.mark.parametrize("kind", KINDS)
def test_listing_the_ids_imports_nothing_of_them(kind):
    code = f"import sys, verify; verify.ids({kind!r}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    ours = {"theorems", "numerics", "paper_checks", "sympy", "torch"}
    assert {name for name in loaded if name.split(".")[0] in ours} == set()


def test_a_theorem_is_loaded_by_its_id():
    theorem = load_theorem("wang2024.theorem1")
    assert isinstance(theorem, Theorem) and theorem.id == "wang2024.theorem1"


def test_an_unknown_id_names_the_known_ones():
    with pytest.raises(
        InputError,
        match=r"theorem = wang2024.theorem9: unknown id; did you mean .*wang2024.theorem1.*\? Or give file.py:name$",
    ):
        load_theorem("wang2024.theorem9")


def catalogue_of(**listed):
    return json.dumps({"packages": ["others"], **{f"{kind}s": {} for kind in registry.KINDS}, **listed})


@pytest.fixture(params=["catalogue", "group"])
def installed(request, monkeypatch, tmp_path):
    """Return a function that installs another package, with a catalogue or with entry points in a kind's group."""

    def install(name, kind, value, text=None):
        info, folder = tmp_path / f"{name}-1.dist-info", tmp_path / f"{name}_catalogued"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        entries = f"[lemmascope.{kind}s]\nzeta2025.thing = {value}\n"
        if request.param == "catalogue":
            entries = f"[lemmascope.catalogue]\n{name} = {folder.name}\n"
            folder.mkdir()
            (folder / "__init__.py").write_text("raise RuntimeError('it is imported')\n")
            (folder / "catalogue.json").write_text(text or catalogue_of(**{f"{kind}s": {"zeta2025.thing": value}}))
        (info / "entry_points.txt").write_text(entries)
        if str(tmp_path) not in sys.path:
            monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        return tmp_path

    return install


@pytest.mark.parametrize("kind", KINDS)
def test_another_packages_entries_are_beside_ours(installed, kind):
    before = verify.ids(kind)
    installed("others", kind, "others_of_a_test:thing")
    assert verify.ids(kind) == sorted([*before, "zeta2025.thing"])


def test_another_packages_object_is_loaded(installed):
    root = installed("others", "comparison", "others_of_a_test:thing")
    (root / "others_of_a_test.py").write_text(
        "from verify import Comparison\n\n"
        "thing = Comparison('zeta2025.thing', 'a title', 'zeta2025.x', None, lambda **_: None)\n"
    )
    assert verify.load_comparison("zeta2025.thing").theorem == "zeta2025.x"
    del sys.modules["others_of_a_test"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("math:pi", r"{} = zeta2025\.thing: is a float, not a "),
        ("no_such_module_here:thing", "no_such_module_here:thing cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_objects_of_another_kind_or_not_importable_are_refused(installed, kind, value, why):
    installed("others", kind, value)
    with pytest.raises(InputError, match=why.format(kind)):
        getattr(verify, f"load_{kind}")("zeta2025.thing")


def test_an_id_that_two_packages_have_is_refused(installed):
    installed("others", "finding", "math:pi")
    installed("more", "finding", "math:e")
    with pytest.raises(InputError, match="several packages have this id: math:e, math:pi"):
        verify.load_finding("zeta2025.thing")


@pytest.mark.parametrize("installed", ["catalogue"], indirect=True)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", r"its catalogue\.json cannot be read: JSONDecodeError"),
        ("\xff", "its catalogue.json cannot be read: UnicodeDecodeError"),
        ("[]", "must have packages, comparisons, diagrams, experiments, findings, predictions, theorems"),
        (catalogue_of(lemmas={}), r"its catalogue\.json must have packages"),
        (catalogue_of(packages=["a.b"]), r"its catalogue\.json must have packages"),
        (catalogue_of(packages="others"), r"its catalogue\.json must have packages"),
        (
            catalogue_of(findings=["zeta2025.thing"]),
            "its findings must map ids to `module:object`; an id must consist of parts",
        ),
        (catalogue_of(findings={"../thing": "math:pi"}), "its findings must map ids"),
        (catalogue_of(findings={"zeta2025.thing": "math"}), "its findings must map ids"),
        (catalogue_of(findings={"zeta2025.thing": 3}), "its findings must map ids"),
        (None, r"has no catalogue\.json; `verify pin others_catalogued` writes it"),
    ],
)
def test_a_catalogue_that_is_none_says_so(installed, text, why):
    folder = installed("others", "finding", "", text or "{}") / "others_catalogued"
    if text is None:
        (folder / "catalogue.json").unlink()
    elif text == "\xff":
        (folder / "catalogue.json").write_bytes(b"\xff")
    ours = next(iter(LISTED["finding"]))
    with pytest.raises(InputError, match=rf"lemmascope\.catalogue = others_catalogued: .*{why}"):
        verify.ids("finding")
    with pytest.raises(InputError, match=rf"lemmascope\.catalogue = others_catalogued: .*{why}"):
        verify.load_finding("zeta2025.thing")
    # The entries of other packages are found all the same.
    assert verify.load_finding(ours).id == ours and load_theorem("wang2024.lemma1").id == "wang2024.lemma1"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_package_here", "must be a package with a folder and an __init__.py"),
        ("theorems.wishart", "must name a package, whose folder has the catalogue.json"),
        ("math:pi", "must name a package"),
    ],
)
def test_a_catalogues_entry_point_names_a_package(monkeypatch, value, why):
    entry = metadata.EntryPoint("mine", value, "lemmascope.catalogue")
    monkeypatch.setattr(registry, "installed", lambda group: metadata.EntryPoints([entry]).select(group=group))
    with pytest.raises(InputError, match=f"lemmascope.catalogue = {value}: {why}"):
        verify.ids("theorem")


@pytest.fixture
def listed(monkeypatch):
    """Return a function that enters a theorem in the library's catalogue."""

    def enter(name, value):
        before = registry.catalogue("theorems")
        now = before | {"theorems": before["theorems"] | {name: value}}
        monkeypatch.setattr(registry, "catalogue", lambda package: now)

    return enter


def test_an_object_has_the_id_that_it_is_listed_by(listed):
    listed("user.alias", LISTED["theorem"]["wang2024.lemma1"])
    with pytest.raises(InputError, match=r"theorem = user\.alias: .*:lemma1 has another id: wang2024\.lemma1"):
        load_theorem("user.alias")


def test_listed_objects_are_imported_only_when_asked_for(listed):
    listed("user.pi", "math:pi")
    assert "user.pi" in ids("theorem")
    with pytest.raises(InputError, match=r"theorem = user\.pi: is a float, not a Theorem"):
        load_theorem("user.pi")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_id_of_a_kind_names_near_or_some_known_ones(kind):
    with pytest.raises(InputError, match=rf"{kind} = x: unknown id; known: .*, … \(\d+ in all\)") as refused:
        getattr(verify, f"load_{kind}")("x")
    assert str(refused.value).endswith(("in all)", "in all). Or give file.py:name"))
    assert ("file.py:name" in str(refused.value)) is (kind in ("theorem", "experiment"))
    known = verify.ids(kind)[0]
    with pytest.raises(InputError, match=rf"unknown id; did you mean .*{known}.*\?"):
        getattr(verify, f"load_{kind}")(known.upper() + "x")


def test_where_each_is_listed():
    found = registry.listed("theorem")
    assert found == sorted(found) and len(found) == len(registry.ids("theorem"))
    assert "theorems: wang2024.lemma1 = " in "".join(found) and registry.listed("nothing") == []


def test_where_nothing_is_installed(monkeypatch):
    monkeypatch.setattr(metadata, "entry_points", metadata.EntryPoints)
    with pytest.raises(InputError, match="finding = x: unknown id; none is installed"):
        verify.load_finding("x")


def test_a_theorem_is_loaded_from_a_file(theorem_file):
    path = theorem_file(MINE)
    assert load_theorem(f"{path}:mine").id == "user.mine"
    assert load_theorem(path).id == "user.mine"


def test_a_file_with_several_theorems_needs_a_name(theorem_file):
    path = theorem_file(MINE + 'other = theorem_of(Inequality("c", sp.Gt(x, 2)))\n')
    assert load_theorem(f"{path}:other").statement.clauses[0].text == "x > 2"
    for reference in (path, f"{path}:third", f"{path}:x"):
        with pytest.raises(InputError, match="the file has the theorems mine, other"):
            load_theorem(reference)


def test_a_file_may_import_its_neighbours(theorem_file, tmp_path):
    (tmp_path / "bound_of_mine.py").write_text("BOUND = 2\n")
    before = list(sys.path)
    path = theorem_file('from bound_of_mine import BOUND\nmine = theorem_of(Inequality("c", sp.Lt(x, BOUND)))\n')
    assert load_theorem(path).statement.clauses[0].text == "x < 2"
    assert sys.path == before
    del sys.modules["bound_of_mine"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("def f(:\n", r"line 1: SyntaxError"),
        ("x = 1\ny = 2\nraise RuntimeError('boom')\n", r"line 3: RuntimeError: boom"),
        ("x = 1\n\n\ndef f():\n    return 1 / 0\n\nf()\n", r"line 5: ZeroDivisionError"),
        ("import no_such_module_here\n", r"line 1: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", r"line 2: SystemExit: 3"),
        ("from verify import Hypothesis\nHypothesis('h')\n", r"line 2: hypothesis h: needs"),
        ("x = 1\n", "the file contains no theorem"),
        ("", "the file contains no theorem"),
    ],
)
@pytest.mark.parametrize("relative", [False, True])
def test_a_file_that_is_not_understood_says_where(theorem_file, monkeypatch, tmp_path, body, why, relative):
    path = theorem_file(body, "broken.py", header="")
    if relative:
        # The frames of an exception have the absolute path.
        monkeypatch.chdir(tmp_path)
        path = "broken.py"
    for reference in (path, f"{path}:name"):
        with pytest.raises(InputError, match=why) as refused:
            load_theorem(reference)
        assert "\n" not in str(refused.value)
    assert "" not in sys.path[:1]


def test_a_syntax_error_in_a_neighbour_names_the_neighbour(theorem_file, tmp_path):
    (tmp_path / "broken_neighbour.py").write_text("\n\n\n\n\n\n\ndef f(:\n")
    with pytest.raises(InputError, match=r"broken_neighbour\.py"):
        load_theorem(theorem_file("import broken_neighbour\n"))


@pytest.mark.parametrize("reference", ["no_such_file.py", "no_such_file.py:name", "/no/such/dir/file.py:name", "."])
def test_a_file_that_does_not_exist_is_named(reference):
    with pytest.raises(InputError, match=r"no such file|unknown id"):
        load_theorem(reference)


def test_a_directory_is_no_file(tmp_path):
    folder = tmp_path / "folder.py"
    folder.mkdir()
    with pytest.raises(InputError, match="no such file"):
        load_theorem(str(folder))


def test_a_file_of_the_same_name_does_not_hide_an_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wang2024.lemma1").write_text("")
    assert load_theorem("wang2024.lemma1").id == "wang2024.lemma1"


@pytest.mark.parametrize(("end", "said"), [("", "unknown id"), (".py", "no such file"), (".py:one", "no such file")])
def test_a_name_that_no_file_can_have_is_none(end, said):
    with pytest.raises(InputError, match=said):
        load_theorem(300 * "a" + end)


def test_an_interrupt_while_a_file_is_loaded_is_not_an_input_error(theorem_file):
    with pytest.raises(KeyboardInterrupt):
        load_theorem(theorem_file("raise KeyboardInterrupt\n"))


def test_a_theorem_is_found_by_what_loads_it_again(theorem_file, make_theorem):
    theorem = load_theorem("wang2024.theorem1")
    assert reference_of(theorem) == ("wang2024.theorem1", "theorems")
    path = theorem_file('mine = theorem_of(Inequality("c", sp.Lt(x, 5)))')
    mine = load_theorem(path)
    reference, module = reference_of(mine)  # pyright: ignore[reportGeneralTypeIssues]
    assert (reference, module) == (f"{path}:mine", "lemmascope_user_mine")
    assert load_theorem(reference).statement.digest == mine.statement.digest
    assert reference_of(make_theorem(Inequality("c", sp.Lt(sp.Symbol("x"), 5)))) is None
    assert reference_of(theorem.variant(theorem.statement)) is None


OK = 'Inequality("c", sp.Le(2 * x, x**2 + 1))'
SMALL = 'Hypothesis("small", sp.Lt(x, 1))'


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ('Statement(PARAMETERS, (Inequality("c", 1 < x < 2),))', "for a chain such as 1 < x < 2 write a claim or"),
        ('Statement(PARAMETERS, (Inequality("c", math.exp(-x) <= 1),))', "a function of math or NumPy: write SymPy's"),
        ('Statement(PARAMETERS, (Inequality("c", float(x) <= 1),))', "where a number is needed, as in float(x) or"),
        ('Statement(PARAMETERS, (Inequality("c", np.exp(-x) <= 1),))', "such as sp.exp(x), sp.log(x), sp.sqrt(x)"),
        (f"Statement(PARAMETERS, ({OK},), hypothesis=())", "Statement has no hypothesis; did you mean hypotheses?"),
        (f"Statement(PARAMETERS, ({OK},), ({SMALL}))", "hypotheses: must be a tuple.* write (Hypothesis(…),), with"),
        (f"Statement(PARAMETERS, ({OK}))", "claims: must be a tuple.* write (Inequality(…),), with the comma"),
        (f'Statement("x", ({OK},))', "parameters: must be a tuple, and is of type str: a parameter in each place"),
        (f'Statement((Parameter("x", "rational", "x"),), ({OK},))', "x has no above=0, but its symbol is declared pos"),
        ('Statement(PARAMETERS, ("x < 2",))', "'x < 2' is text, where a clause is needed: write Inequality(label,"),
        (f'Statement(("x",), ({OK},))', "'x' is text, where a parameter is needed"),
        ('Statement(PARAMETERS, (Inequality("c", "x < 2"),))', "it is text: write relation(text, symbols …), or InWor"),
        ('Statement(PARAMETERS, (Identity("c", x == x),))', "right missing; give both sides, left and right"),
        (f'Statement(PARAMETERS, ({OK},), (Hypothesis("h", sp.And(1 < x, x < 2)),))', "hypothesis for each comparis"),
    ],
)
def test_a_file_error_says_what_to_write(theorem_file, statement, said):
    path = theorem_file(f"import numpy as np\n\nstatement = {statement}\n")
    pattern = r"mine\.py .*line \d+: .*" + ".*".join(map(re.escape, said.split(".*")))
    with pytest.raises(InputError, match=pattern) as refused:
        load_theorem(path)
    assert "\n" not in str(refused.value) and "label=" not in str(refused.value)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("def helper():\n    pass\n\n\nhelper(z=3)", "TypeError: helper() got an unexpected keyword argument 'z'"),
        (
            "class A:\n    def __init__(self, right):\n        pass\n\n\nA()",
            "TypeError: A.__init__() missing 1 required positional argument: 'right'",
        ),
    ],
)
def test_of_a_files_own_code_nothing_is_explained(theorem_file, own, said):
    with pytest.raises(InputError, match=re.escape(said) + "$"):
        load_theorem(theorem_file(f"{own}\n"))


def test_assumptions_that_contradict_each_other_are_named_without_sympys_table(theorem_file):
    said = r"mine\.py.*: line \d+: the assumptions of .* contradict each other \(\w+=\w+\): leave one out"
    with pytest.raises(InputError, match=said):
        load_theorem(theorem_file('import sympy as sp\n\nx = sp.Symbol("x", integer=True, odd=True, zero=True)\n'))


def test_a_name_that_cannot_be_imported_is_shown_with_the_near_ones_and_no_path(theorem_file):
    with pytest.raises(InputError, match=r"mine\.py .*line \d+: verify has no Equality; did you mean Inequality\?$"):
        load_theorem(theorem_file("from verify import Equality\n"))


def test_lists_do_for_tuples(theorem_file):
    statement = f"Statement(list(PARAMETERS), [{OK}], [{SMALL}], [sp.Lt(x, 5)])"
    tail = 'mine = Theorem("user.mine", "t", Source("1", "derived here"), {}, {{"x": 1}})\n'
    lists = load_theorem(theorem_file(tail.format(statement), "lists.py"))
    tuples = load_theorem(theorem_file(tail.format(f"Statement(PARAMETERS, ({OK},), ({SMALL},), (sp.Lt(x, 5),))")))
    assert isinstance(lists.statement.claims, tuple) and lists.statement.digest == tuples.statement.digest
