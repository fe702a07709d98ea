"""The ledger of a test run: its entries, and its lines about theorems, comparisons, crossings, findings and papers."""

import json
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from verify.installed import version
from verify.outcomes import count_text

# These modules load SymPy.
if TYPE_CHECKING:
    from verify.checking.theorem import Canary
    from verify.reports.findings import Finding
    from verify.runs.comparisons import ComparisonResult
    from verify.search.results import ExploreResult

_WORST = ("refuted", "inconclusive", "out_of_scope", "verified")
_WEAKEST = ("", "simulated", "computed", "certified", "proved")
_DEVICES = ("cpu", "cuda")
_MEETING = "where derivation meets training"

Entry = dict[str, Any]


def comparison_entry(result: "ComparisonResult", expected: str, *, full: bool) -> Entry:
    """Return the entry of a comparison's result, with the expected outcome."""
    said = {name: getattr(result, name) for name in ("id", "detail", "device", "instances", "seed")}
    outcome, evidence = result.outcome.value, result.evidence.value
    return {"kind": "comparison", **said, "outcome": outcome, "evidence": evidence, "expected": expected, "full": full}


def finding_entry(finding: "Finding", failures: Sequence[str]) -> Entry:
    """Return the entry of a finding whose command was run again; `failures` are the differences from its `expect`."""
    return {"kind": "finding", "id": finding.id, "title": finding.heading, "failures": list(failures)}


def canary_entry(theorem: str, canary: "Canary", result: "ExploreResult") -> Entry:
    """Return the entry of a search against a canary, which is killed if the clause that it names is refuted."""
    killed = result.clause is not None and result.clause.label == canary.clause
    return {"kind": "canary", "id": theorem, "label": canary.label, "killed": killed, "needed": result.needed or 0}


def summary_lines(entries: Sequence[Entry], seconds: float) -> Iterator[str]:
    """Yield the ledger in brief: unexpected entries in full, a line per agreeing crossing, and counts of the others."""
    unexpected = [entry for entry in entries if _is_unexpected(entry)]
    theorems, comparisons, findings, canaries, mutants = _by_kind(entries)
    yield from _listed(unexpected)
    failed = {entry["id"] for entry in unexpected if entry["kind"] == "crossing"}
    crossings = crossing_rows(entries)
    yield from _table([row for row in crossings if row["id"] in failed], "where derivation and training do not meet")
    yield from _agreeing([row for row in crossings if row["id"] not in failed and row["draws"]])
    for noun, rows in (("theorem", theorems), ("comparison", comparisons), ("finding", findings)):
        if rows:
            named = {row["id"] for row in rows}
            failed = {row["id"] for row in rows if _is_unexpected(row)}
            open_ = {row["id"] for row in rows if row.get("left_open")} - failed
            left = f", {len(open_)} left open by chance" if open_ else ""
            said = f"{len(named) - len(failed) - len(open_)} as expected{left}{_outcomes(rows)}"
            yield f"{count_text(len(named), noun)}, {said}"
    yield from _canaries(canaries)
    yield from _mutants(mutants)
    yield from dict.fromkeys(entry["text"] for entry in entries if entry["kind"] == "standings")
    yield from _coverage(theorems)
    yield f"{seconds:.0f} s in all"


def _is_unexpected(entry: Entry) -> bool:
    """Whether an entry differs from what its test expected, so that the test has failed."""
    match entry["kind"]:
        case "theorem":
            return entry["outcome"] != entry["expected"] or not entry["rechecked"]
        case "comparison":
            return entry["outcome"] not in entry["expected"].split(" or ") and not entry.get("left_open")
        case "finding":
            return bool(entry["failures"])
        case "crossing":
            return entry.get("outcome") == "failed" or entry.get("caught") is False
    return False


def _outcomes(rows: Sequence[Entry]) -> str:
    """Return the number of rows with each outcome, as text; "" if no row has an outcome."""
    found = [str(row["outcome"]) for row in rows if "outcome" in row]
    counts = ", ".join(f"{found.count(each)} {each}" for each in reversed(_WORST) if each in found)
    return f"; instances: {counts}" if counts else ""


def _agreeing(rows: Sequence[Entry]) -> Iterator[str]:
    """Yield a heading and a line for each crossing; all must agree."""
    width = max((len(row["of"]) for row in rows), default=0)
    yield from [_MEETING] if rows else []
    for row in rows:
        worst = row["worst_over_allowed"]
        measured = "" if worst is None else f"; worst deviation {worst:.2g} of what is allowed"
        caught = f"; planted errors {row['caught']} of {row['planted']} caught" if row["planted"] else ""
        drawn = f"{count_text(row['draws'], 'draw')}, {row['instances']} distinct"
        yield f"  {row['of']:{width}}  agrees at {drawn}{measured}{caught}"


def ledger_lines(entries: Sequence[Entry], seconds: float) -> Iterator[str]:
    """Yield the whole ledger of a run.

    The parts are theorems, comparisons, findings, canaries, crossings, hypotheses, mutants, standings, coverage of the
    papers, and the time in all.
    """
    theorems, _, _, canaries, mutants = _by_kind(entries)
    yield from _listed(entries)
    yield from _canaries(canaries)
    yield from _table(crossing_rows(entries))
    for name, rows in _grouped([row for row in theorems if row["hypotheses"]]):
        yield f"{name:{_width(entries)}}  hypotheses: {rows[0]['hypotheses']}"
    yield from _mutants(mutants)
    yield from dict.fromkeys(entry["text"] for entry in entries if entry["kind"] == "standings")
    yield from _coverage(theorems)
    yield f"{seconds:.0f} s in all"


def _by_kind(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    kinds = ("theorem", "comparison", "finding", "canary", "mutants")
    return ([entry for entry in entries if entry["kind"] == kind] for kind in kinds)


def _width(entries: Sequence[Entry]) -> int:
    return max((len(entry["id"]) for entry in entries), default=0)


def _listed(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a line for each theorem, then for each comparison, then for each finding."""
    width = _width(entries)
    for rows_of_kind, line in zip(_by_kind(entries), (_theorem, _comparison, _finding), strict=False):
        yield from (f"{name:{width}}  {line(rows)}" for name, rows in _grouped(rows_of_kind))


def _theorem(rows: Sequence[Entry]) -> str:
    asserted = [row for row in rows if row["expected"] != "verified" and row["expected"] == row["outcome"]]
    plain = [row for row in rows if row not in asserted] or asserted
    outcome = _first(_WORST, (row["outcome"] for row in plain))
    evidence = _first(_WEAKEST, (row["evidence"] for row in plain)) or "-"
    spent = sum(row["seconds"] for row in rows)
    extra = f", {len(asserted)} expected otherwise" if asserted and plain is not asserted else ""
    checked = ", re-checked" if all(row["rechecked"] for row in rows) else ", not all re-checked"
    instances = f"{count_text(len(plain), 'instance')}{extra}"
    trusted = sorted({name for row in plain for name in row["trusts"]})
    checked += f", trusting {', '.join(trusted)}" if trusted else ""
    said = f", in words: {', '.join(rows[0]['in_words'])}" if rows[0]["in_words"] else ""
    for_all = f"; for all: {rows[0]['for_all_parameters']}"
    return f"{outcome:12}  {evidence:9}  {instances}{checked}{said}, {spent:.1f} s{for_all}"


def _comparison(rows: Sequence[Entry]) -> str:
    outcome = _first(_WORST, (row["outcome"] for row in rows))
    instances = sum(row["instances"] for row in rows)
    ran = {row["device"] for row in rows}
    devices = ", ".join(device if device in ran else f"{device}: not run" for device in _DEVICES)
    evidence = _first(_WEAKEST, (row["evidence"] for row in rows))
    otherwise = outcome != "verified" and all(row["expected"] == row["outcome"] for row in rows)
    said = ", as expected" if otherwise else ""
    return f"{outcome:12}  {evidence:9}  {count_text(instances, 'instance')}, {devices}{said}"


def _finding(rows: Sequence[Entry]) -> str:
    failures = [failure for row in rows for failure in row["failures"]]
    state = f"NOT reproduced ({failures[0]})" if failures else "reproduced"
    return f"finding {state}: {rows[0]['title']}"


def crossing_rows(entries: Sequence[Entry]) -> list[Entry]:
    """Return a row for each crossing: its theorem, exact check and test, counts of draws and trainings, agreement."""
    rows = []
    for name, members in _grouped(entry for entry in entries if entry["kind"] == "crossing"):
        kinds = {what: [row for row in members if row["what"] == what] for what in ("holds", "fails", "planted")}
        held = kinds["holds"]
        sizes: dict[str, tuple[int, int]] = {}
        for row in held:
            for size, (low, high) in row["sizes"].items():
                before = sizes.get(size, (low, high))
                sizes[size] = (min(low, before[0]), max(high, before[1]))
        tests = [row["test"] for row in held or members]
        rows.append(
            {
                "id": name,
                **{name: members[0][name] for name in ("of", "theorem", "exact")},
                "test": tests[0],
                "outcome": "verified" if held and all(row["outcome"] == "as_expected" for row in held) else "not",
                "draws": sum(row["draws"] for row in held),
                # Two devices may draw the same instances, so their numbers are not added.
                "instances": max((row["instances"] for row in held), default=0),
                "trainings": sum(row["trainings"] for row in held),
                "sizes": sizes,
                "worst_over_allowed": max((row["worst"] for row in held if row["worst"] is not None), default=None),
                "out_of_scope": sum(row["draws"] for row in kinds["fails"]),
                "out_of_scope_refuted": all(row["outcome"] == "as_expected" for row in kinds["fails"]),
                "planted": len(kinds["planted"]),
                "caught": sum(row["caught"] for row in kinds["planted"]),
                "devices": sorted({row["device"] for row in members}),
            }
        )
    return rows


def ledger_json(entries: Sequence[Entry], seconds: float) -> str:
    """Return the ledger as JSON: all entries, and the table of the crossings."""
    body = {"schema": 1, "version": version(), "entries": list(entries), "crossings": crossing_rows(entries)}
    return json.dumps({**body, "seconds": round(seconds, 3)}, indent=1, sort_keys=True) + "\n"


def _table(rows: Sequence[Entry], heading: str = _MEETING) -> Iterator[str]:
    """Yield the lines of each crossing: its two sides, their agreement, draws out of scope, and the planted errors."""
    if not rows:
        return
    yield heading
    for row in rows:
        sizes = ", ".join(f"{name} {low}–{high}" for name, (low, high) in row["sizes"].items())
        ran = ", ".join(device if device in row["devices"] else f"{device}: not run" for device in _DEVICES)
        worst = row["worst_over_allowed"]
        yield f"  {row['of']}: {row['theorem']}; without training: {row['exact']}"
        if row["draws"] or row["outcome"] != "verified":
            agreed = "agrees" if row["outcome"] == "verified" else "DOES NOT AGREE"
            measured = "" if worst is None else f"; worst deviation {worst:.2g} of what is allowed"
            between = f" ({sizes})" if sizes else ""
            trained = f", {count_text(row['trainings'], 'training')}" if row["trainings"] else ""
            drawn = f"{count_text(row['draws'], 'draw')}, {row['instances']} distinct"
            yield f"    {agreed}: {drawn}{trained}{between}{measured}"
        if row["out_of_scope"]:
            refuted = "refuted as theory says" if row["out_of_scope_refuted"] else "NOT all refuted"
            yield f"    out of scope: {count_text(row['out_of_scope'], 'draw')}, {refuted}"
        caught = f"{row['caught']} of {row['planted']} caught" if row["planted"] else "none run"
        yield f"    planted errors: {caught}; {ran}; {row['test']}"


def _canaries(rows: Sequence[Entry]) -> Iterator[str]:
    if not rows:
        return
    killed = [row for row in rows if row["killed"]]
    survived = "; ".join(f"{row['id']}: {row['label']}" for row in rows if not row["killed"])
    line = f"canaries: {len(killed)} of {len(rows)} refuted"
    if killed:
        needed = [row["needed"] for row in killed]
        line += f"; instances needed: median {median(needed):g}, most {max(needed)}"
    yield line + (f"; NOT refuted: {survived}" if survived else "")


def _mutants(rows: Sequence[Entry]) -> Iterator[str]:
    if not rows:
        return
    counts = [sum(row[fate] for row in rows) for fate in ("killed", "equivalent")]
    survivors = [(row["id"], label, why) for row in rows for label, why in row["survived"]]
    yield f"mutants: {counts[0]} killed, {counts[1]} equivalent (proved), {len(survivors)} survived"
    yield from (f"  survived: {name}: {label}: {why}" for name, label, why in survivors)


def _coverage(theorems: Sequence[Entry]) -> Iterator[str]:
    for paper in sorted({row["paper"] for row in theorems if row["paper"]}):
        rows = [row for row in theorems if row["paper"] == paper]
        known, total = rows[0]["disclosed"], rows[0]["numbered"]
        checked = [number for number in known if number in {row["number"] for row in rows}]
        missing = [number for number in known if number not in checked]
        derived = len({row["id"] for row in rows if row["number"] not in known})
        named = ", ".join(checked) or "none"
        line = f"{paper}: {len(checked)} of {total or 'its'} numbered statements checked ({named})"
        line += f"; known but not checked here: {', '.join(missing)}" if missing else ""
        line += f"; unknown to us: {total - len(known)}" if total else ""
        yield line + (f"; results of our own: {derived}" if derived else "")


def _grouped(rows: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    groups: dict[str, list[Entry]] = {}
    for row in rows:
        groups.setdefault(row["id"], []).append(row)
    return sorted(groups.items())


def _first(order: Sequence[str], words: Iterable[str]) -> str:
    known = set(words)
    return next(word for word in order if word in known)
