"""Commands about one theorem, and the command that lists them."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from verify.errors import InputError
from verify.reports.commands.frame import (
    INTERRUPTED,
    AsJson,
    Format,
    answer,
    bar_shown,
    columns,
    form_of,
    print_json,
    progress_shown,
    say,
    say_whole,
    verb,
)
from verify.reports.verbs import theorems as verbs

Given = Mapping[str, str]
Certificate = Annotated[str | None, typer.Option(metavar="FILE", help="write a certificate for `verify recheck`")]


@verb("list", "--paper wang2024", verbs.list_theorems)
def _list(
    paper: str | None,
    experiments: Annotated[
        bool, typer.Option("--experiments", help="list the experiments, with their settings, instead")
    ] = False,
    as_json: AsJson = False,
) -> None:
    if experiments:
        _list_experiments(paper, as_json=as_json)
        return
    from verify.reports.listing import list_rows, rows_text

    with bar_shown("theorems") as tell:
        rows = list_rows(paper, tell=tell, keep=True)
    if as_json:
        print_json({"theorems": rows})
    else:
        say(rows_text(rows, columns()))


def _list_experiments(paper: str | None, *, as_json: bool) -> None:
    if as_json:
        print_json({"experiments": verbs.list_experiments(paper)})
        return
    from verify.reports.display.summaries import experiment_summaries
    from verify.reports.text import experiment_summary_text

    say("\n\n".join(experiment_summary_text(summary, columns()) for summary in experiment_summaries(paper)))


@verb("show", "wang2024.theorem1", verbs.show)
def _show(
    name: Annotated[str, typer.Argument(metavar="THEOREM|EXPERIMENT", help="an id, file.py:name or a statement")],
    form: Format = "table",
    as_json: AsJson = False,
) -> None:
    form = form_of(form, as_json=as_json)
    answer(verbs.show(name), form)


@verb("conditions", "wang2024.theorem1 T=200 q=3 d=5 eta=1", verbs.conditions)
def _conditions(theorem: str, given: Given, form: Format = "table", as_json: AsJson = False) -> None:
    form = form_of(form, as_json=as_json)
    result = verbs.conditions(theorem, given)
    answer(result, form)
    raise typer.Exit(result.exit_code)


@verb("check", "wang2024.theorem1 T=9 q=2 d=1 eta=1/20 eps=1/200", verbs.check)
def _check(
    theorem: str,
    given: Given,
    certificate: Certificate = None,
    form: Format = "table",
    as_json: AsJson = False,
    **effort: Any,
) -> None:
    from verify.checking.certificates import certificate_file, write_certificate
    from verify.checking.theorem import load_theorem

    form = form_of(form, as_json=as_json)
    file = None if certificate is None else certificate_file(certificate)
    loaded = load_theorem(theorem)
    with progress_shown() as progress:
        result = verbs.check(loaded, given, progress=progress, **effort)
    answer(result, form)
    if file is not None:
        write_certificate(loaded, result, file)
    raise typer.Exit(INTERRUPTED if result.interrupted else result.outcome.exit_code)


@verb("prove", "wang2024.one_hot_descent", verbs.prove)
def _prove(
    theorem: str,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=MULTIPLIER",
            help="a hypothesis's multiplier in the claim's proof, which is checked; may be repeated",
        ),
    ] = None,
    certificate: Certificate = None,
    form: Format = "table",
    as_json: AsJson = False,
    **effort: Any,
) -> None:
    """Exits 0 when every claim is proved or argued, 1 when a counterexample is found, 3 when a claim is open."""
    from verify.checking.certificates import certificate_file, write_certificate
    from verify.checking.theorem import load_theorem

    form = form_of(form, as_json=as_json)
    file = None if certificate is None else certificate_file(certificate)
    loaded = load_theorem(theorem)
    loaded = loaded.by(_multipliers(by)) if by else loaded
    with progress_shown("instance") as progress:
        result = verbs.prove(loaded, progress=progress, **effort)
    answer(result, form)
    if file is not None:
        write_certificate(loaded, result.checked, file)
    raise typer.Exit(INTERRUPTED if result.checked.interrupted else result.exit_code)


def _multipliers(words: list[str]) -> dict[str, str]:
    """Return the multipliers that `LABEL=MULTIPLIER` words give. Raises InputError."""
    given = dict[str, str]()
    for word in words:
        label, equals, multiplier = (part.strip() for part in word.partition("="))
        if not (label and equals and multiplier) or label in given:
            raise InputError("--by", word, "must be LABEL=MULTIPLIER, each label once")
        given[label] = multiplier
    return given


@verb("derive", "wang2024.lemma1 --format latex", verbs.derive)
def _derive(
    theorem: str,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="text|json|markdown|latex", help="output format; latex is a complete document"
        ),
    ] = "text",
    as_json: AsJson = False,
) -> None:
    """--json is short for --format json; with --format latex its expressions are in LaTeX."""
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
            # A part of a document does not compile, so nothing is printed if a step fails.
            from verify.reports.display.latex import document

            page = derivation_page(loaded, tell)
            say_whole(markdown(page) if form == "markdown" else document(page))


@verb("explore", "wang2024.theorem1 --drop step_size --seconds 30", verbs.explore)
def _explore(
    theorem: str,
    given: Given,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="HYPOTHESIS", help="drop this hypothesis; may be repeated")
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="write a counterexample as a pytest test that fails")
    ] = None,
    form: Format = "table",
    as_json: AsJson = False,
    **effort: Any,
) -> None:
    from verify.reports.formats import tests_that_fail

    form = form_of(form, as_json=as_json)
    file = None if test is None else tests_that_fail.file_of(test)
    with progress_shown("instance", effort["max_examples"], effort["seconds"]) as progress:
        more = {"keep": True, "progress": progress}
        result = verbs.explore(theorem, given, drop=drop or (), **effort, **more)
    answer(result, form)
    if file is not None and result.counterexample is not None:
        tests_that_fail.write_test(file, theorem, result)
    raise typer.Exit(INTERRUPTED if result.interrupted else result.exit_code)


@verb("necessity", "wang2024.theorem1 T=9 q=2 d=1 eta=1 eps=1/200", verbs.necessity)
def _necessity(theorem: str, given: Given, form: Format = "table", as_json: AsJson = False, **effort: Any) -> None:
    form = form_of(form, as_json=as_json)
    with bar_shown("hypotheses") as tell:
        result = verbs.necessity(theorem, given, tell=tell, **effort)
    answer(result, form)
    raise typer.Exit(INTERRUPTED if result.interrupted else 0)
