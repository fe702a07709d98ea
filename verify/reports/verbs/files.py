"""The verbs about files: a package's pinned files, the report, exports, certificates, and new theorem files."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.errors import InputError
from verify.installed import needs

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem
    from verify.formal.export import Export
    from verify.rechecker import Accepted
    from verify.reports.formats.manuscripts import Manuscript
    from verify.reports.pinned_files import Pinned
    from verify.runs.store import Store

OF_REPORT = ("latex2mathml", "matplotlib", "networkx", "torch")
"""The optional packages that a report needs: for its formulas, plots and graph, and for the trainings."""


def pin(
    package: str | None = None,
    *,
    seconds: float = 60,
    migrate: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> "Iterator[Pinned]":
    """Update the files that a package ships: catalogue, digests, certificates, maps of the hypotheses, and FINDINGS.md.

    Parameters
    ----------
    package
        A package of theorems; None for the package whose folder is in the working directory.
    seconds
        Time budget per example and per hypothesis, in seconds.
    migrate
        Only rewrite the certificates that are of the previous version or whose trusted modules have changed; statements
        and proofs stay as they are.
    tell
        `tell(done, total)` is called with the progress.

    Returns
    -------
    Iterator[Pinned]
        The files, each as soon as it is written; `failed` says why a file could not be written.

    Raises
    ------
    InputError
        For a package that has no theorems or belongs to no project.

    Examples
    --------
    >>> import verify
    >>> try:
    ...     list(verify.pin("numerics"))
    ... except verify.InputError as error:
    ...     print(error)
    package = numerics: has no theorems; known: theorems
    """
    from verify.reports import pinned_files

    return pinned_files.migrate(package) if migrate else pinned_files.pin(package, seconds=seconds, tell=tell)


def report(
    out: Path | str = ".",
    *,
    full: bool = False,
    store: "Store | None" = None,
    entries: Sequence[dict[str, Any]] = (),
    tell: Callable[[int, int], None] | None = None,
) -> Path:
    """Write report.html: the results on every theorem and finding, in one file that works offline.

    Parameters
    ----------
    out
        The folder; it is made if it is missing.
    full
        Also run everything that takes minutes: findings' commands, canaries, comparisons, figures, whole diagrams;
        otherwise these are shown as they were recorded, or as not run.
    store
        The store of results of experiments and sweeps; none by default.
    entries
        Ledger entries of a pytest run, shown beside the recorded ones; not used if `full`.
    tell
        `tell(done, total)` is called with the progress.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InputError
        For a folder that cannot be written to, for an existing report.html that is not a report, and without the
        extras `plot` and `sim`.

    Examples
    --------
    >>> import verify
    >>> try:
    ...     verify.report(verify.__file__)
    ... except verify.InputError as error:
    ...     print(error.requirement)
    cannot be written: File exists
    """
    needs("report", "", *OF_REPORT)
    from verify.reports.page import contents, document
    from verify.reports.simulate import make_folder

    make_folder(Path(out))
    document.refuse_other(Path(out))
    return document.write(contents.gathered(full=full, store=store, entries=entries, tell=tell), Path(out))


def export(
    theorem: "Theorem | str", *, to: str = "rocq", out: Path | str = ".", seconds: float = 60
) -> "Export | Manuscript":
    r"""Write a theorem for a proof assistant or a manuscript.

    For Rocq: Statement.v, Proof.v and Check.v, which checks that the proofs prove the statement; a clause that is not
    exported is listed with the reason. For LaTeX: THEOREM.tex, the statement with its standing, and lemmascope.sty,
    whose command \lemmascope{THEOREM} links to the statement. Clauses are proved anew for Rocq if no certificate is
    shipped, and for LaTeX if no package has the theorem.

    Parameters
    ----------
    theorem
        An id, a statement in a line, `file.py:name` (the file's code is run) or a `Theorem`.
    to
        `rocq` or `latex`.
    out
        The folder; it is made if it is missing.
    seconds
        Time budget for proofs, in seconds.

    Returns
    -------
    Export | Manuscript
        The texts of the `files`; for Rocq `clauses`, with the exported part of each, for LaTeX `for_all_parameters`.

    Raises
    ------
    InputError
        For an unknown theorem or another `to`, and for a folder that cannot be written to or has files of these names
        that are not an export.

    Examples
    --------
    >>> import tempfile
    >>> import verify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     verify.export("x**2 + 1 >= 2*x", to="rocq", out=folder).clauses[0].exported
    'proof'
    """
    from verify.budget import proving
    from verify.formal.export import export as exported
    from verify.reports.formats.manuscripts import manuscript
    from verify.reports.simulate import make_folder
    from verify.reports.verbs.given import loaded_theorem
    from verify.search.limits import PROVE

    if to not in ("rocq", "latex"):
        raise InputError("--to", to, "must be rocq or latex")
    loaded = loaded_theorem(theorem)
    make_folder(Path(out))
    with proving(PROVE.work):
        result = exported(loaded, seconds=seconds) if to == "rocq" else manuscript(loaded, seconds=seconds)
    result.write(Path(out))
    return result


def recheck(path: Path | str, *, core: bool = False) -> "Accepted":
    """Check a certificate with the independent re-checker.

    Parameters
    ----------
    path
        The certificate, a JSON file.
    core
        Accept nothing that rests on a package's second computations or kinds of clause and proof.

    Returns
    -------
    Accepted
        The certificate's contents: `theorem`, `statement_digest`, `instance`, `in_scope`, `clauses` and `trusts`.

    Raises
    ------
    verify.rechecker.Rejected
        If a proof in the certificate is wrong; the message names the field.
    verify.rechecker.Unreadable
        If the file is not a certificate.
    InputError
        If the file is missing, is a folder or cannot be opened.

    Examples
    --------
    >>> from pathlib import Path
    >>> import theorems
    >>> import verify
    >>> shipped = Path(theorems.__file__).parent / "certificates" / "wang2024.lemma1.json"
    >>> verify.recheck(shipped).theorem
    'wang2024.lemma1'
    """
    from verify.checking.doors import door
    from verify.checking.standing import pins
    from verify.rechecker import recheck_file
    from verify.rechecker.registry import closed

    if Path(path).is_dir():
        raise InputError("certificate", path, "is a folder: give a file in it")
    try:
        return recheck_file(path, pins(), closed if core else door)
    except OSError as error:
        raise InputError("certificate", path, f"cannot be opened: {error.strerror or error}") from error


def new(path: Path | str, kind: str = "inequality") -> Path:
    """Write a commented, working theorem file to start from; an existing file is not overwritten.

    In a file of kind `argument` the claim is in words: `check` evaluates it at the example, `prove` shows its argument.

    Parameters
    ----------
    path
        The file, `NAME.py`; the theorem in it is called NAME.
    kind
        Kind of claim: `inequality`, `identity`, `recursion` or `argument`.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InputError
        For an unknown kind, a name that Python cannot import, an existing file, and a file that cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import verify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     verify.new(Path(folder) / "my_lemma.py", "identity").name
    'my_lemma.py'
    """
    from keyword import iskeyword

    from verify.errors import meant
    from verify.reports.formats.templates import KINDS, template

    target = Path(path)
    if kind not in KINDS:
        raise InputError("--kind", kind, f"is not a kind of file; {meant(kind, KINDS)}")
    if target.suffix != ".py" or not target.stem.isidentifier():
        raise InputError("file", path, "must be NAME.py, NAME of letters, digits and _, and no digit first")
    if iskeyword(target.stem):
        raise InputError("file", path, f"must have another name: {target.stem} is a Python keyword")
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(template(kind, target))
    except FileExistsError:
        raise InputError("file", path, "already exists, and is not overwritten") from None
    except OSError as error:
        raise InputError("file", path, f"cannot be written: {error.strerror}") from error
    return target
