"""Commands about one theorem, or the list of them."""

from typing import Annotated

import typer

from verify.errors import InputError
from verify.reports.commands.frame import (
    INTERRUPTED,
    AsJson,
    Assignments,
    Format,
    Seconds,
    TheoremArgument,
    answer,
    assigned,
    bar_shown,
    columns,
    form_of,
    known_digits,
    positive_examples,
    positive_seconds,
    print_json,
    progress_shown,
    say,
    say_whole,
    verb,
)
from verify.reports.verbs import theorems as verbs


@verb("list", "--paper wang2024")
def list_theorems(
    paper: Annotated[str | None, typer.Option(help="only this paper's, such as wang2024", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List the theorems: how each is established for all parameters, and the evidence at its example."""
    from verify import remembered
    from verify.reports.listing import list_rows, rows_text

    remembered.make_folder()
    with bar_shown("theorems") as tell:
        rows = list_rows(paper, tell=tell, keep=True)
    if as_json:
        print_json({"theorems": rows})
    else:
        say(rows_text(rows, columns()))


@verb("conditions", "wang2024.theorem1 T=200 q=3 d=5 eta=1")
def show_conditions(
    theorem: TheoremArgument, given: Assignments = None, form: Format = "table", as_json: AsJson = False
) -> None:
    """Show which hypotheses hold, fail, or need a parameter; not all values have to be given.

    Also shows how far beyond a hypothesis the claims are known to hold. --json is short for --format json.
    """
    from verify.checking.theorem import load_theorem
    from verify.reports.text import conditions_text

    form = form_of(form, as_json=as_json)
    assignments = assigned(given)
    result = verbs.conditions(load_theorem(theorem), assignments)
    answer(result, form, conditions_text)
    raise typer.Exit(result.exit_code)


@verb("check", "wang2024.theorem1 T=9 q=2 d=1 eta=1/20 eps=1/200")
def check_theorem(
    theorem: TheoremArgument,
    given: Assignments = None,
    seconds: Seconds = 60,
    digits: Annotated[int, typer.Option(help="significant digits of enclosures", callback=known_digits)] = 17,
    seed: Annotated[int, typer.Option(help="seed of the random numbers")] = 0,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="write a certificate for `verify recheck`", show_default=False)
    ] = None,
    form: Format = "table",
    as_json: AsJson = False,
) -> None:
    """Check the hypotheses and the claims at an instance. --json is short for --format json.

    The code of a file.py is run.
    """
    from verify.checking.certificates import certificate_file, write_certificate
    from verify.checking.theorem import load_theorem
    from verify.reports.text import check_text

    form = form_of(form, as_json=as_json)
    file, assignments = None if certificate is None else certificate_file(certificate), assigned(given)
    loaded = load_theorem(theorem)
    with progress_shown() as progress:
        result = verbs.check(loaded, assignments, seconds=seconds, digits=digits, seed=seed, progress=progress)
    answer(result, form, check_text)
    if file is not None:
        write_certificate(loaded, result, file)
    raise typer.Exit(INTERRUPTED if result.interrupted else result.outcome.exit_code)


@verb("prove", "wang2024.one_hot_descent")
def prove_theorem(
    theorem: TheoremArgument,
    seconds: Seconds = 60,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="write a certificate for `verify recheck`", show_default=False)
    ] = None,
    form: Format = "table",
    as_json: AsJson = False,
) -> None:
    """Show how each claim is established for all parameters: by a proof, by an argument, or not yet.

    Exits 0 when every claim is proved or argued, 1 when a counterexample is found, 3 when a claim is open.
    """
    from verify.checking.certificates import certificate_file, write_certificate
    from verify.checking.theorem import load_theorem
    from verify.reports.text import prove_text

    form = form_of(form, as_json=as_json)
    file = None if certificate is None else certificate_file(certificate)
    loaded = load_theorem(theorem)
    with progress_shown("instance") as progress:
        result = verbs.prove(loaded, seconds=seconds, progress=progress)
    answer(result, form, prove_text)
    if file is not None:
        write_certificate(loaded, result.checked, file)
    raise typer.Exit(INTERRUPTED if result.checked.interrupted else result.exit_code)


@verb("derive", "wang2024.lemma1 --format latex")
def derive_theorem(
    theorem: TheoremArgument,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="text|json|markdown|latex", help="output format; latex is a complete document"
        ),
    ] = "text",
    as_json: AsJson = False,
) -> None:
    """Print the derivation; SymPy checks each step before it is printed.

    --json is short for --format json; with --format latex its expressions are in LaTeX.
    """
    from verify.checking.theorem import load_theorem
    from verify.reports.display.pages import derivation_page
    from verify.reports.display.rendering import markdown
    from verify.reports.text import derivation_json, derivation_lines

    written = "latex" if form == "latex" else "text"
    form = "json" if as_json and form in ("text", "latex") else form_of(form, as_json=as_json, plain="text")
    loaded = load_theorem(theorem)
    if loaded.derivation is None:
        raise InputError("theorem", theorem, "has no derivation")
    with bar_shown(loaded.id) as tell:
        if form == "json":
            print_json(derivation_json(loaded, written, tell))
        elif form == "text":
            for line in derivation_lines(loaded, tell, columns()):
                say(line)
        else:
            # Half a document does not compile: none is printed where a step fails.
            from verify.reports.display.latex import document

            page = derivation_page(loaded, tell)
            say_whole(markdown(page) if form == "markdown" else document(page))


@verb("explore", "wang2024.theorem1 --drop step_size --seconds 30")
def explore_theorem(
    theorem: TheoremArgument,
    given: Assignments = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="HYPOTHESIS", help="drop this hypothesis; may be repeated")
    ] = None,
    max_examples: Annotated[
        int, typer.Option(help="largest number of instances to draw", callback=positive_examples)
    ] = 1000,
    seconds: Seconds = 30,
    seed: Annotated[int, typer.Option(help="seed of the random numbers")] = 0,
    form: Format = "table",
    as_json: AsJson = False,
) -> None:
    """Search for a counterexample, and confirm it in exact or ball arithmetic."""
    from verify.checking.theorem import load_theorem
    from verify.reports.text import explore_text
    from verify.search.explore import default_database

    form = form_of(form, as_json=as_json)
    assignments = assigned(given)
    loaded = load_theorem(theorem)
    effort = {"max_examples": max_examples, "seconds": seconds, "seed": seed, "database": default_database()}
    with progress_shown("instance") as progress:
        result = verbs.explore(loaded, assignments, drop=drop or [], progress=progress, **effort)
    answer(result, form, explore_text)
    raise typer.Exit(INTERRUPTED if result.interrupted else result.exit_code)


@verb("necessity", "wang2024.theorem1 T=9 q=2 d=1 eta=1 eps=1/200")
def map_necessity(
    theorem: TheoremArgument,
    given: Assignments = None,
    seconds: Annotated[
        float, typer.Option(help="time budget per hypothesis, in seconds", callback=positive_seconds)
    ] = 60,
    seed: Annotated[int, typer.Option(help="seed of the random numbers")] = 0,
    form: Format = "table",
    as_json: AsJson = False,
) -> None:
    """Drop each hypothesis in turn: needed (certified violation), redundant (shown without it), or undecided.

    With values: for each hypothesis, its bound there, how far beyond it the claims are shown to hold, and the nearest
    certified violation.
    """
    from verify.reports.text import necessity_text, reach_text

    form, assignments = form_of(form, as_json=as_json), assigned(given)
    with progress_shown("instance") as progress:
        result = verbs.necessity(theorem, assignments, seconds=seconds, seed=seed, progress=progress)
    answer(result, form, reach_text if assignments else necessity_text)
    raise typer.Exit(INTERRUPTED if result.interrupted else 0)
