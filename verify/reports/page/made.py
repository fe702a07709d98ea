"""The sections on the benchmarks, and on the versions, seeds and digests of the report."""

from verify.outcomes import count_text
from verify.reports.page.contents import Contents
from verify.reports.page.elements import Html, code, details, link, table, tag


def benchmarks(contents: Contents) -> Html:
    """Return the section on the benchmarks, with the table of the page that `make bench` writes."""
    rows = [_cells(line) for line in contents.benchmarks.splitlines() if line.startswith("|")]
    said = tag(
        "p",
        "Our code against the best plain way and the definition, timed in turn in one run; ",
        code("make bench"),
        " measures them anew.",
    )
    if len(rows) < 3:
        said = tag("p", "There is no BENCHMARKS.md here; ", code("make bench"), " writes it.")
    shown = table(rows[0], rows[2:], "benchmarks") if len(rows) > 2 else None
    return tag("section", tag("h2", "Benchmarks"), said, shown, id="benchmarks")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def made(contents: Contents) -> Html:
    """Return the section on how the report was made, with the digests of the statements and certificates."""
    versions = [[name, value] for name, value in contents.made.items()]
    digests = []
    for known in contents.theorems:
        path, sha = known.certificate or ("none", "")
        digests.append([link("theorem", known.theorem.id), code(known.theorem.statement.digest), path, code(sha)])
    seeds = sorted({f"{entry['seed']}" for entry in contents.entries if "seed" in entry})
    recorded = sorted({entry["at"] for entry in contents.entries if "at" in entry})
    entered = f"{count_text(len(contents.entries), 'entry', 'entries')} of the ledger"
    when = f", of {', '.join(recorded)}" if recorded else ""
    seeded = f"; seeds {', '.join(seeds)}" if seeds else ""
    how = tag(
        "p",
        f"From {entered}{when}{seeded}; searches and quick runs of this report have seed 0. ",
        code("pytest paper_checks"),
        " enters more.",
    )
    columns = ("result", "digest of its statement", "certificate", "SHA-256")
    return tag(
        "section",
        tag("h2", "Versions, seeds and digests"),
        how,
        table(("what", "value"), versions, "versions"),
        details("Digests", table(columns, digests, "digests")),
        id="made",
    )
