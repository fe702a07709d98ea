"""The verbs about one theorem, and the verbs that list theorems, experiments and the language."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from verify.errors import InputError
from verify.reports.verbs.given import given_values, loaded_theorem
from verify.search.limits import EXPLORE, NECESSITY, PROVE

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem
    from verify.evaluation.instances import ConditionsResult
    from verify.outcomes import CheckResult
    from verify.reports.display.summaries import ExperimentSummary, TheoremSummary
    from verify.search.necessity import NecessityResult
    from verify.search.proving import ProveResult
    from verify.search.results import ExploreResult, ExtendedRanges

    Progress = Callable[[int], None]


def list_theorems(paper: str | None = None, *, tell: Callable[[int, int], None] | None = None) -> list[dict[str, Any]]:
    """List the theorems, each with its standing for all parameters and the evidence at its example.

    Parameters
    ----------
    paper
        Only this paper's, such as `wang2024`; by default all.
    tell
        `tell(done, total)` is called with the progress.

    Returns
    -------
    list[dict]
        A row per theorem, sorted by id: the rows of `verify list --json`.

    Raises
    ------
    InputError
        For a paper that has no theorems.

    Examples
    --------
    >>> import verify
    >>> {row["paper"] for row in verify.list_theorems("li2024")}
    {'li2024'}
    """
    from verify.reports.listing import list_rows

    return list_rows(paper, tell=tell)


def list_experiments(paper: str | None = None) -> list[dict[str, Any]]:
    """List the experiments, with their settings.

    Parameters
    ----------
    paper
        Only this paper's, such as `wang2024`; by default all.

    Returns
    -------
    list[dict]
        A row per experiment, sorted by id: the rows of `verify list --experiments --json`.

    Raises
    ------
    InputError
        For a paper that has no experiments.

    Examples
    --------
    >>> import verify
    >>> [setting["name"] for setting in verify.list_experiments("wang2024")[0]["settings"]][:3]
    ['T', 'q', 'd']
    """
    from verify.reports.display.summaries import experiment_summaries

    return [summary.to_json() for summary in experiment_summaries(paper)]


def show(name: "Theorem | str") -> "TheoremSummary | ExperimentSummary":
    """Show a theorem's statement and the standing of each claim, or the settings of an experiment.

    No proof is searched for, even if the theorem is not pinned; `prove` searches for one.

    Parameters
    ----------
    name
        An id of a theorem or an experiment, `file.py:name` (the file's code is run), a statement in a line, or a
        `Theorem`.

    Returns
    -------
    TheoremSummary | ExperimentSummary
        A summary with `theorem` and `standing`, or with `experiment`.

    Raises
    ------
    InputError
        If no theorem or experiment has this name.

    Examples
    --------
    >>> import verify
    >>> [claim["claim"] for claim in verify.show("wang2024.theorem1").to_json()["claims"]][0]
    'L_t <= eps at some step t'
    """
    from verify.reports.display.summaries import summary_of

    return summary_of(name)


def list_language() -> list[dict[str, str]]:
    """List the forms and functions that a statement in a line may contain, with their meanings.

    Returns
    -------
    list[dict]
        The rows of `verify language --json`: `form`, the notation, and `says`, its meaning.

    Examples
    --------
    >>> import verify
    >>> [row["says"] for row in verify.list_language() if row["form"] == "floor(x)"]
    ['the largest integer <= x, which is x at integers']
    """
    from verify.language.heads.table import rows

    return [{"form": form, "says": says} for form, says in rows()]


def conditions(
    theorem: "Theorem | str", given: Mapping[str, Any] | None = None, /, **values: Any
) -> "ConditionsResult":
    """Show which hypotheses hold, fail, or need a parameter; not all values have to be given.

    Also shows how far beyond each hypothesis the claims are known to hold.

    Parameters
    ----------
    theorem
        An id, a statement in a line, `file.py:name` (the file's code is run) or a `Theorem`.
    given
        Values by parameter name; not all have to be given.
    **values
        More values, by keyword.

    Returns
    -------
    ConditionsResult
        `hypotheses`, the admissible `ranges` of the parameters not given, `extended_ranges`, and `in_scope`.

    Raises
    ------
    InputError
        For an unknown theorem, and for values that are unknown or outside their domains.

    Examples
    --------
    >>> import verify
    >>> found = verify.conditions("wang2024.theorem1", T=20, q=3, d=5, eta=1)
    >>> found.in_scope
    False
    >>> [(h.label, h.past) for h in found.hypotheses if h.status == "fails"]
    [('step_size', '500 times the limit')]
    >>> found.ranges
    {'eps': '0 < eps < 1/51'}
    """
    from dataclasses import replace

    from verify.evaluation import instances

    loaded = loaded_theorem(theorem)
    chosen = given_values(given, values, conditions, loaded)
    result = instances.conditions(loaded, chosen)
    if not (loaded.argument or loaded.extensions):
        return result
    from verify.search.extended_ranges import shown_ranges

    lines = (line for line in shown_ranges(loaded, chosen) if line.established is not None or line.unreadable)
    return replace(result, extended_ranges=tuple(lines))


def check(
    theorem: "Theorem | str",
    given: Mapping[str, Any] | None = None,
    /,
    *,
    seconds: float = 60,
    digits: int = 17,
    seed: int = 0,
    progress: "Progress | None" = None,
    **values: Any,
) -> "CheckResult":
    """Check the hypotheses and the claims at an instance.

    Parameters
    ----------
    theorem
        An id, a statement in a line, `file.py:name` (the file's code is run) or a `Theorem`.
    given
        Values by parameter name, such as another result's `witness`; exact numbers, or text as on the command line.
    seconds
        Time budget, in seconds; a clause that is not decided in time is inconclusive.
    digits
        Significant digits to which reported values are enclosed.
    seed
        Seed of the random numbers.
    progress
        `progress(step)` is called while a recursion is followed.
    **values
        More values, by keyword.

    Returns
    -------
    CheckResult
        `outcome`, `evidence`, `hypotheses`, `clauses`, `values`, and `to_json()`; `witness` is the instance if the
        theorem is refuted there, else None. A clause's own `witness` refutes that clause, even out of scope.

    Raises
    ------
    InputError
        For an unknown theorem, and for values that are missing, unknown or outside their domains.

    Examples
    --------
    >>> import verify
    >>> result = verify.check("wang2024.stationary_points", T=9, q=2, d=1)
    >>> result.outcome, result.in_scope
    (<Outcome.VERIFIED: 'verified'>, True)
    >>> str(result.for_all_parameters.standing)
    'formal'
    """
    from verify.checking import check as checking

    loaded = loaded_theorem(theorem)
    chosen = given_values(given, values, check, loaded)
    return checking.check(loaded, chosen, seconds=seconds, digits=digits, seed=seed, progress=progress)


def prove(
    theorem: "Theorem | str",
    *,
    by: Mapping[str, Any] | None = None,
    explain: bool = False,
    formal: bool = False,
    seconds: float = PROVE.seconds,
    progress: "Progress | None" = None,
    **values: Any,
) -> "ProveResult":
    """Show how each claim is established for all parameters: by a proof, by an argument, or not yet.

    A claim is formal if the record of the theorem's package says that Rocq's kernel accepted it.

    Parameters
    ----------
    theorem
        An id, a statement in a line, `file.py:name` (the file's code is run) or a `Theorem`.
    by
        Multipliers for the proof of a theorem's only claim, as in `Multipliers`: an expression or its text, by the
        label of a hypothesis. They are checked, and no other proof is looked for.
    explain
        Explain every inference of a deduction: its premises, and the meaning of each rule.
    formal
        Whether Rocq compiles the formal texts and the exported statement now; otherwise the record is used.
    seconds
        Time budget, in seconds; the time left after the proofs goes to a search for counterexamples to unproved claims.
    progress
        `progress(count)` is called with the number of instances so far.
    **values
        Must be empty: a proof is for all values.

    Returns
    -------
    ProveResult
        `clauses` with the standing of each, the `argument`, `for_all_parameters`, and a `counterexample` or None.

    Raises
    ------
    InputError
        For an unknown theorem, for multipliers of a theorem with several claims, for values, and for `formal` without
        Rocq.

    Examples
    --------
    >>> import verify
    >>> str(verify.prove("wang2024.lemma1", seconds=1).for_all_parameters.standing)
    'formal'
    """
    from verify.search import proving

    for name, value in values.items():
        raise InputError(name, value, "prove takes no values, as a proof covers all of them: leave it out")
    loaded = loaded_theorem(theorem)
    loaded = loaded if by is None else loaded.by(by)
    kernel = None
    if formal:
        from verify.formal.kernel.acceptance import compiled_now

        kernel = compiled_now(loaded, seconds=seconds)
    return proving.prove(loaded, explain=explain, seconds=seconds, progress=progress, kernel=kernel)


def derive(theorem: "Theorem | str") -> Iterator[Any]:
    """Show the derivation; SymPy checks each step before it is shown.

    Parameters
    ----------
    theorem
        An id, `file.py:name` (the file's code is run) or a `Theorem`.

    Returns
    -------
    Iterator[CheckedStep]
        Steps with `number`, `why`, `left`, `right` and `text()`.

    Raises
    ------
    InputError
        For an unknown theorem.
    TheoremError
        If there is no derivation, and at the first step that does not hold.

    Examples
    --------
    >>> import verify
    >>> step = next(verify.derive("wang2024.lemma1"))
    >>> step.number, bool(step.why)
    (1, True)
    """
    return loaded_theorem(theorem).made_derivation().checked_steps()


def explore(
    theorem: "Theorem | str",
    given: Mapping[str, Any] | None = None,
    /,
    *,
    drop: Sequence[str] | str = (),
    max_examples: int = EXPLORE.max_examples,
    seconds: float = EXPLORE.seconds,
    seed: int = 0,
    keep: bool = False,
    guided: bool = True,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: "Progress | None" = None,
    **values: Any,
) -> "ExploreResult":
    """Search for a counterexample, and confirm it in exact or ball arithmetic.

    Inequalities and equations of the parameters are searched numerically first: on lattices of simple values, at draws
    over all magnitudes, by quasi-Newton descents and by differential evolution, 100 points for each of `max_examples`.
    Claims about recursions are searched in the same way, along at most 512 steps, at 20 points per example.

    Parameters
    ----------
    theorem
        An id, a statement in a line, `file.py:name` (the file's code is run) or a `Theorem`.
    given
        Values that stay fixed, by parameter name.
    drop
        Labels of hypotheses to drop, or one label.
    max_examples
        Largest number of instances to draw.
    seconds
        Time budget, in seconds.
    seed
        Seed of the random numbers.
    keep
        Whether a counterexample is kept in `.lemmascope` of the working directory, and tried first the next time.
    guided
        Whether the search follows near misses.
    jobs
        Number of local processes that check instances; the result does not depend on this number.
    scheduler
        Address of a Dask scheduler, such as tcp://…; by default local processes.
    progress
        `progress(count)` is called with the number of instances so far.
    **values
        More fixed values, by keyword.

    Returns
    -------
    ExploreResult
        `counterexample` and the refuted `clause`, or None; the `smallest_margin`; the effort.

    Raises
    ------
    InputError
        For an unknown theorem or label, and for values outside their domains.

    Examples
    --------
    >>> import sympy as sp
    >>> import verify
    >>> x = sp.Symbol("x", positive=True)
    >>> square = verify.Inequality("square", sp.Le(x, x**2))
    >>> statement = verify.Statement((verify.Parameter("x", "rational", "a number", above=0),), (square,))
    >>> false = verify.Theorem("user.false", "x <= x^2", verify.Source("1", "derived here"), statement, {"x": 1})
    >>> found = verify.explore(false, max_examples=50)
    >>> 0 < found.counterexample["x"] < 1
    True
    """
    from verify.search import explore as search

    loaded = loaded_theorem(theorem)
    return search.explore(
        loaded,
        given_values(given, values, explore, loaded),
        drop=drop,
        max_examples=max_examples,
        seconds=seconds,
        seed=seed,
        keep=keep,
        guided=guided,
        jobs=jobs,
        scheduler=scheduler,
        progress=progress,
    )


def necessity(
    theorem: "Theorem | str",
    given: Mapping[str, Any] | None = None,
    /,
    *,
    seconds: float = NECESSITY.seconds,
    seed: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    tell: Callable[[int, int], None] | None = None,
    **values: Any,
) -> "NecessityResult | ExtendedRanges":
    """Drop each hypothesis in turn: needed (certified violation), redundant (claims shown without it), or undecided.

    With values, report for each hypothesis its bound, how far beyond it the claims are shown to hold, and the nearest
    certified violation.

    Parameters
    ----------
    theorem
        An id, a statement in a line, `file.py:name` (the file's code is run) or a `Theorem`.
    given
        Values by parameter name; None to look for violations everywhere.
    seconds
        Time budget per hypothesis, in seconds.
    seed
        Seed of the random numbers.
    jobs
        Number of local processes; each decides one hypothesis at a time.
    scheduler
        Address of a Dask scheduler, such as tcp://…; by default local processes.
    tell
        `tell(done, total)` is called with the progress, in hypotheses.
    **values
        More values, by keyword.

    Returns
    -------
    NecessityResult | ExtendedRanges
        Without values, a status per hypothesis: needed, redundant or undecided; with values, a line per hypothesis.

    Raises
    ------
    InputError
        For an unknown theorem, and for values that are unknown or outside their domains.

    Examples
    --------
    >>> import sympy as sp
    >>> import verify
    >>> x = sp.Symbol("x", real=True)
    >>> parameters, small = (verify.Parameter("x", "rational", "a number"),), verify.Hypothesis("small", sp.Lt(x, 1))
    >>> statement = verify.Statement(parameters, (verify.Inequality("c", sp.Lt(x, 2)),), (small,))
    >>> mine = verify.Theorem("user.mine", "x < 2", verify.Source("1", "derived here"), statement, {"x": 0})
    >>> [(need.label, need.status) for need in verify.necessity(mine, seconds=1).hypotheses]
    [('small', 'needed')]
    """
    loaded = loaded_theorem(theorem)
    chosen = given_values(given, values, necessity, loaded)
    if chosen:
        from verify.search.extended_ranges import extended_ranges

        return extended_ranges(loaded, chosen, seconds=seconds, jobs=jobs, scheduler=scheduler, tell=tell)
    from verify.search import necessity as search

    return search.necessity(loaded, seconds=seconds, seed=seed, jobs=jobs, scheduler=scheduler, tell=tell)
