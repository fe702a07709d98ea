"""The ledger's lines: a theorem, a comparison, a finding or a paper each."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

_WORST = ("refuted", "inconclusive", "out_of_scope", "verified")
_WEAKEST = ("", "simulated", "computed", "certified", "proved")
_DEVICES = ("cpu", "cuda")

Entry = dict[str, Any]


def ledger_lines(entries: Sequence[Entry], seconds: float) -> Iterator[str]:
    """Yield the ledger of a run's entries: theorems, comparisons, findings, hypotheses, coverage, time in all."""
    theorems = [entry for entry in entries if entry["kind"] == "theorem"]
    comparisons = [entry for entry in entries if entry["kind"] == "comparison"]
    findings = [entry for entry in entries if entry["kind"] == "finding"]
    width = max((len(entry["id"]) for entry in entries), default=0)
    for name, rows in _grouped(theorems):
        asserted = [row for row in rows if row["expected"] != "verified" and row["expected"] == row["outcome"]]
        plain = [row for row in rows if row not in asserted] or asserted
        outcome = _first(_WORST, (row["outcome"] for row in plain))
        evidence = _first(_WEAKEST, (row["evidence"] for row in plain)) or "-"
        spent = sum(row["seconds"] for row in rows)
        extra = f", {len(asserted)} expected otherwise" if asserted and plain is not asserted else ""
        checked = ", re-checked" if all(row["rechecked"] for row in rows) else ", not all re-checked"
        instances = f"{_count(len(plain), 'instance')}{extra}"
        yield f"{name:{width}}  {outcome:12}  {evidence:9}  {instances}{checked}, {spent:.1f} s"
    for name, rows in _grouped(comparisons):
        outcome = _first(_WORST, (row["outcome"] for row in rows))
        instances = sum(row["instances"] for row in rows)
        ran = {row["device"] for row in rows}
        where = ", ".join(device if device in ran else f"{device}: not run" for device in _DEVICES)
        evidence = _first(_WEAKEST, (row["evidence"] for row in rows))
        otherwise = outcome != "verified" and all(row["expected"] == row["outcome"] for row in rows)
        said = ", as expected" if otherwise else ""
        yield f"{name:{width}}  {outcome:12}  {evidence:9}  {_count(instances, 'instance')}, {where}{said}"
    for name, rows in _grouped(findings):
        failures = [failure for row in rows for failure in row["failures"]]
        state = f"NOT reproduced ({failures[0]})" if failures else "reproduced"
        yield f"{name:{width}}  finding {state}: {rows[0]['title']}"
    yield from _canaries([entry for entry in entries if entry["kind"] == "canary"])
    for name, rows in _grouped([row for row in theorems if row["hypotheses"]]):
        yield f"{name:{width}}  hypotheses: {rows[0]['hypotheses']}"
    yield from _mutants([entry for entry in entries if entry["kind"] == "mutants"])
    yield from _coverage(theorems)
    yield f"{seconds:.0f} s in all"


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
        line = (
            f"{paper}: {len(checked)} of {total or 'its'} numbered statements checked ({', '.join(checked) or 'none'})"
        )
        line += f"; known and not checked here: {', '.join(missing)}" if missing else ""
        line += f"; undisclosed to us: {total - len(known)}" if total else ""
        yield line + (f"; results of our own: {derived}" if derived else "")


def _grouped(rows: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    groups: dict[str, list[Entry]] = {}
    for row in rows:
        groups.setdefault(row["id"], []).append(row)
    return sorted(groups.items())


def _first(order: Sequence[str], found: Iterable[str]) -> str:
    known = set(found)
    return next(word for word in order if word in known)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number != 1 else "")
