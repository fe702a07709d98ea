"""The first screen: each paper's claims, whether they hold, and every finding, by weight."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterator

from verify.checking.sources import Paper
from verify.language.parameters import read_assignments
from verify.outcomes import CheckResult, Evidence, ForAll, count_text
from verify.reports.findings import Finding, by_weight, shown
from verify.reports.page.contents import Contents, Known
from verify.reports.page.elements import Html, Node, anchor, badge, code, details, items, joined, link, table, tag

_ORDER = [*map(str, ForAll), *map(str, Evidence)]


def summary(contents: Contents) -> Html:
    """Return the first screen."""
    papers = [tag("article", *_paper(contents, paper), class_="paper") for paper in contents.papers]
    counts = Counter(known.standing.for_all_parameters.standing for known in contents.theorems)
    helped = sum(bool(known.standing.for_all_parameters.trusts) for known in contents.theorems)
    meant = {ForAll.FORMAL: " (as recorded with Rocq)", ForAll.ARGUED: " (proved steps joined by prose)"}
    stands = ", ".join(f"{counts[each]} {each}{meant.get(each, '')}" for each in ForAll if counts[each])
    lead = (
        f"{count_text(len(contents.theorems), 'result')}. For all parameters: {stands}"
        f"{f', {helped} of these trusting a package' if helped else ''}. "
        f"{_by_core(contents)}{count_text(len(contents.findings), 'finding')}, by weight, below: each opens to its "
        "witness, the command that reproduces it, what it rests on and its certificate."
    )
    return tag(
        "section",
        tag("h1", "What the papers claim, what holds and what does not"),
        tag("p", _by(contents), class_="small"),
        tag("p", lead, class_="lead"),
        tag("div", papers, class_="papers"),
        _words(),
        id="summary",
    )


def _by(contents: Contents) -> str:
    """Return the package and its version, the author, the commit and the time of the page."""
    made = contents.made
    known = [f"lemmascope {made.get('lemmascope', '')}", made.get("by", "")]
    known += [f"commit {made['commit']}" if "commit" in made else "", made.get("at", "")]
    return ", ".join(filter(None, known))


def _by_core(contents: Contents) -> str:
    """Return the numbers of clauses and certificates that the re-checker's core alone accepts, as text."""
    checked = (known.checked for known in contents.theorems if isinstance(known.checked, CheckResult))
    results = [each for result in checked if (each := [clause for clause in result.clauses if clause.rechecked])]
    clauses = [clause for result in results for clause in result]
    alone = sum(not clause.trusts for clause in clauses)
    whole = sum(not any(clause.trusts for clause in result) for result in results)
    return (
        f"{alone} of {count_text(len(clauses), 'clause')} re-checked at the examples, and "
        f"{whole} of {count_text(len(results), 'certificate')} as a whole, pass the re-checker's core alone. "
    )


def _words() -> Html:
    """Return the table of the meanings of the badges' words."""
    said = {
        "formal": "a proof assistant's kernel accepted it, for all parameters",
        "proved": "a certificate of it, for all parameters, passed a small independent re-checker",
        "argued": "its steps are proved for all parameters and joined by inferences in prose, which are counted",
        "open": "not established for all parameters",
        "certified": "exact or ball arithmetic decided it at the instance, and the re-checker accepts that",
        "trusting": "that rests on code which a package brings to the re-checker, by name and version",
        "computed": "not re-checked: floating point with an error estimate, or a kind of proof that the re-checker "
        "does not know",
        "simulated": "measured in a run from the definitions: samples or training, with a confidence interval, or, "
        "where the finding says that it is computed, floating point without samples; for a claim in words, "
        "trials of which none violates it",
    }
    rows = [[badge(word), text] for word, text in said.items()]
    return details("What the words for evidence mean", table(("word", "meaning"), rows, "how sure"))


def _paper(contents: Contents, paper: Paper) -> Iterator[Html]:
    own = [known for known in contents.theorems if known.theorem.source.paper == paper]
    printed = [known for known in own if known.theorem.source.provenance != "derived here"]
    numbered = [known for known in printed if known.theorem.source.number in paper.disclosed]
    yield tag("h2", paper.title or paper.key)
    yield tag("p", paper.reference, class_="small")
    if paper.claims:
        yield tag("p", tag("strong", "Claims. "), paper.claims)
    named = {each: joined(_standing(own, numbered, each)) for each in ForAll}
    opened = named.pop(ForAll.OPEN)
    if holds := [[" ", badge(str(each)), " ", results] for each, results in named.items() if results]:
        yield tag("p", tag("strong", "Holds as stated here, for all parameters."), holds)
    if opened:
        yield tag("p", tag("strong", "Open."), " ", opened)
    if paper.numbered_statements:
        known = f"{len(paper.disclosed)} of its {paper.numbered_statements} numbered statements are known to us."
        yield tag("p", known, class_="small")
    found = [finding for finding in by_weight(contents.findings) if finding.paper == paper]
    if found:
        first = found[0]
        more = f" And {count_text(len(found) - 1, 'more finding')}, below." if len(found) > 1 else ""
        said = tag("a", first.summary, href=f"#{anchor('finding', first.id)}")
        reading = [" ", badge("reading", "under our reading")] if first.under_our_reading else None
        yield tag("p", tag("strong", f"{first.weight.value}. "), said, reading, more)


def _standing(own: list[Known], numbered: list[Known], standing: ForAll) -> Iterator[Node]:
    """Yield links to the paper's numbered statements with a standing, and the number of other results with the same."""
    some = [known for known in own if known.standing.for_all_parameters.standing is standing]
    named = [known for known in some if known in numbered]
    for i, known in enumerate(named):
        yield [", " if i else "", link("theorem", known.theorem.id, known.theorem.source.number)]
    if derived := len(some) - len(named):
        yield f"{', and ' if named else ''}{count_text(derived, 'result')} derived here"


def findings(contents: Contents) -> Html:
    """Return all findings, under a heading for each weight."""
    groups: dict[str, list[Html]] = {}
    for finding in by_weight(contents.findings):
        groups.setdefault(finding.weight.value, []).append(_finding(contents, finding))
    parts = [tag("div", tag("h3", weight), some) for weight, some in groups.items()]
    return tag("section", tag("h2", "Findings, by weight"), parts, id="findings")


def sure(finding: Finding, claims: Collection[str]) -> list[str]:
    """Return the words for a finding's evidence that its command is expected to report, strongest first.

    Only words for the whole result and for its claims count; `claims` are the claims' labels. A proved step does not
    make an argued claim proved. A simulation's word is "simulated"; another command may report no word.
    """
    if shlex.split(finding.command)[1] == "simulate":
        return [str(Evidence.SIMULATED)]
    about = {"", *(f"clauses.{label}" for label in claims)}
    words = set()
    for path, expected in finding.expect.items():
        head, _, last = path.rpartition(".")
        if expected in _ORDER and last in ("evidence", "for_all_parameters") and head in about:
            words.add(str(expected))
    return sorted(words, key=_ORDER.index)


def _finding(contents: Contents, finding: Finding) -> Html:
    words = shlex.split(finding.command)
    known = next((known for known in contents.theorems if known.theorem.id in words[2:3]), None)
    claims = [clause.label for clause in known.theorem.statement.claims] if known else []
    marks = [badge(word) for word in sure(finding, claims)]
    marks += [badge("reading", "under our reading")] if finding.under_our_reading else []
    head = joined([tag("span", finding.paper.authors_and_year, class_="key"), " ", finding.summary, " ", marks])
    reported = [[code(path), shown(expected)] for path, expected in finding.expect.items()]
    rests = [[premise.text, " ", badge("premise", premise.provenance)] for premise in finding.rests_on]
    return details(
        head,
        tag("h4", finding.title),
        tag("p", finding.text),
        tag("h5", "Witness"),
        tag("p", _instance(words), " There the command reports:"),
        table(("value", "reported"), reported, f"what {finding.id} reports"),
        tag("h5", "Command"),
        tag("pre", code(finding.command), tabindex="0"),
        tag("p", _reproduced(contents, finding)),
        tag("h5", "Premises"),
        items(rests),
        tag("h5", "Certificate"),
        _certificate(finding, words, known),
        id=anchor("finding", finding.id),
        class_="finding",
    )


def _instance(words: list[str]) -> list[Html | str]:
    """Return the subject of a finding's command: a theorem or an experiment, and the values of its parameters."""
    given = read_assignments([word for word in words[3:] if "=" in word and not word.startswith("-")])
    at = ", ".join(f"{name} = {value}" for name, value in given.items())
    return [code(words[2]), f" at {at}." if at else "."] if len(words) > 2 else []


def _reproduced(contents: Contents, finding: Finding) -> str:
    entries = contents.entered("finding", finding.id)
    if not entries:
        return "Not run: verify report --full runs it, and so does pytest paper_checks."
    failures = [failure for entry in entries for failure in entry["failures"]]
    at = entries[-1].get("at")
    when = f" ({at})" if at else ""
    return f"Not reproduced{when}: {'; '.join(failures)}" if failures else f"Run again{when}: it reported all of this."


def _certificate(finding: Finding, words: list[str], known: Known | None) -> Html:
    if words[1] != "check":
        return tag("p", f"None: verify {words[1]} measures, and proves nothing.")
    shipped = tag("p", "No certificate is shipped.")
    if known is not None and known.certificate:
        path, digest = known.certificate
        shipped = tag(
            "p", "The theorem's certificate, at its example: ", code(path), ", SHA-256 ", code(f"{digest[:16]}…"), "."
        )
    card = tag("p", "The result's card: ", link("theorem", words[2]), ".") if known else None
    again = f"{finding.command} --certificate finding.json\nverify recheck finding.json"
    own = tag(
        "p",
        "The first command writes a certificate, if each clause that is not in words is decided; the second checks it.",
    )
    return joined([shipped, own, tag("pre", code(again), tabindex="0"), card])
