"""Write BENCHMARKS.md from the rows in `rows/`: `python -m tests.benchmarks.page [RUN] < NAMES > BENCHMARKS.md`.

Each row has its own file, so that a row can be measured anew alone, and on another device. RUN is a file that
pytest-benchmark wrote; its rows are stored first. NAMES lists the existing benchmarks, as pytest prints them. The row
of a benchmark that no longer exists is left out, and a benchmark without a row is shown as not measured.
"""

import json
import re
import statistics
import sys
from pathlib import Path

from tests.benchmarks.peers_outside import PEERS, SECONDS, record

ROWS = Path(__file__).parent / "rows"
NOT_MEASURED = "not measured"
_DEVICES = ("cpu", "cuda")
_OTHERS_HEAD = (
    "family", "proved", "before", *(f"by {peer}" for peer in PEERS), "refuted", "to find", "characters", "largest",
    "to re-check", "late", "measured, commit",
)  # fmt: skip
_HEAD = (
    "work",
    "on",
    "ours",
    "the best plain way",
    "the definition",
    "ratio to the best, median",
    "range",
    "to reach",
    "reached",
    "ratio to the definition",
    "physical limit",
    "measured, commit",
)


def rows_of(run):
    """Return the rows of a run in the stored form: date, commit, kind of machine, and the numbers."""
    commit = run.get("commit_info", {})
    # A + marks a measurement of a tree with uncommitted changes.
    of_commit = f"{(commit.get('id') or '?')[:7]}{'+' if commit.get('dirty') else ''}"
    measured = {"date": run["datetime"][:19], "commit": of_commit, "machine": machine_of(run["machine_info"])}
    return [
        {"name": each["fullname"], "command": command_of(each)} | measured | each["extra_info"]
        for each in run["benchmarks"]
        if "kind" in each["extra_info"]
    ]


def command_of(benchmark):
    """Return a command that measures a row anew; the command may measure other rows too."""
    function = benchmark["fullname"].rpartition("::")[2].partition("[")[0]
    on_a_card = "DEVICE=cuda " if benchmark["extra_info"]["device"] == "cuda" else ""
    return f'make bench {on_a_card}ARGS="-k {function}"'


def machine_of(info):
    """Return the kind of a machine, and its measured rates, which differ from run to run."""
    cpu = info.get("cpu", {})
    parts = [
        *([info["card"]] if info.get("card") else []),
        f"{cpu.get('brand_raw', 'a processor that does not say which')}, {cpu.get('count', '?')} cores",
        f"{info['system']}, Python {info['python_version']}",
        ", ".join(f"{name} {version}" for name, version in info["packages"].items()),
    ]
    return {"kind": "; ".join(parts), "rates": info.get("rates", {})}


def file_of(row):
    """Return the name of a row's file, made from the benchmark's name and the device's."""
    words = f"{row['name'].rpartition('/')[2]}_{row['device']}".lower().replace("bench_", "").replace(".py::", "_")
    return f"{re.sub('[^a-z0-9]+', '_', words)}.json"


def keep(rows, folder):
    """Write each row to its file, one line per field."""
    folder.mkdir(exist_ok=True)
    for row in rows:
        lines = (f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in row.items())
        (folder / file_of(row)).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def kept(folder):
    """Return the rows stored in a folder."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def names_of(text):
    """Return the names of the benchmarks in a list printed by pytest (--collect-only -q)."""
    return [line for line in text.splitlines() if "::" in line]


def seconds_text(seconds):
    """Return a time with three digits."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1e3 else f"{seconds:.3g} s"
    return f"{seconds / 1e-9:.3g} ns"


def number_text(x):
    """Return a ratio with two or three digits."""
    return f"{x:.3g}" if x < 1e4 else f"{x:.1e}"


def cells(row):
    """Return a row's cells in the order of `_HEAD`."""
    if not is_measured(row):
        return _not_measured(row["work"], row["device"])
    amount = seconds_text if row["kind"] == "pair" else lambda x: f"{x:.0f} {row['unit']}"
    low, high = (number_text(end(row["ratios"])) for end in (min, max))
    limit = "–"
    if row["limit"]:
        apart = statistics.median(row["ours"]) / row["limit"]["seconds"]
        limit = f"{row['limit']['name']}: {seconds_text(row['limit']['seconds'])} (ours: {number_text(apart)}×)"
    to_best, to_definition = (
        f"{f'ours/{peer} ' if row['cost'] else ''}{number_text(statistics.median(row[name]))}"
        for peer, name in (("best", "ratios"), ("definition", "ratios_to_definition"))
    )
    return (
        row["work"],
        row["device"],
        *(amount(statistics.median(row[way])) for way in ("ours", "best", "definition")),
        to_best,
        f"{low}–{high}",
        f"{'<=' if row['cost'] else '>='} {number_text(row['reach'])}",
        "yes" if is_reached(row) else "no",
        to_definition,
        limit,
        f"{row['date'][:10]}, {row['commit']}" if "date" in row else "now",
    )


def is_pair(row):
    """Return whether a row compares our times or counts with those of peers."""
    return row["kind"] in ("pair", "counted")


def is_measured(row):
    """Return whether a row has the best plain way; a row without it must be measured anew."""
    return "best" in row


def _not_measured(work, device):
    return (work, device, *[NOT_MEASURED] * (len(_HEAD) - 2))


def is_reached(row):
    """Return whether the median ratio to the best plain way meets `reach`."""
    median = statistics.median(row["ratios"])
    return median <= row["reach"] if row["cost"] else median >= row["reach"]


def lines_of(rows):
    """Return the cells of all rows; work that can run on a GPU has a line for each device, measured or not."""
    by_benchmark, found = {}, []
    for row in rows:
        # A row that is not stored yet has no name. The row of a device may be older, with other words for its work.
        by_benchmark.setdefault(row.get("name", row["work"]), {})[row["device"]] = row
    for some in by_benchmark.values():
        first = next(iter(some.values()))
        devices = _DEVICES if first["on_device"] else ("cpu",)
        found += [cells(some[on]) if on in some else _not_measured(first["work"], on) for on in devices]
    return found


def table(rows):
    """Return the lines of a table for a terminal."""
    lines = [_HEAD, *lines_of(rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def machine_lines(rows):
    """Return a line for each kind of machine, with the rates of its latest measurement."""
    rates = {row["machine"]["kind"]: row["machine"]["rates"] for row in sorted(rows, key=lambda row: row["date"])}
    return [f"- {'; '.join([kind, *rate_texts(of_device)])}" for kind, of_device in rates.items()]


def rate_texts(rates):
    """Return a text with the rates of each device of a machine."""
    return [
        f"on {device} a copy moves {best['copy_bytes'] / 1e9:.3g} GB/s, "
        f"a product does {best['float32_operations'] / 1e9:.3g} (float32)"
        f" and {best['float64_operations'] / 1e9:.3g} (float64) GFlop/s"
        for device, best in rates.items()
    ]


def others_cells(row):
    """Return the cells of a family of statements from other sources, in the order of `_OTHERS_HEAD`."""
    middle = {name: statistics.median(row[name]) for name in ("characters", "searched", "rechecked")}
    return (
        row["work"],
        f"{row['proved']} of {row['true']}",
        *(solved(peer, row["work"]) for peer in ("before", *PEERS)),
        f"{row['refuted']} of {row['false']}",
        seconds_text(middle["searched"]),
        f"{middle['characters']:.0f}",
        str(max(row["characters"])),
        seconds_text(middle["rechecked"]),
        str(row["late"]),
        f"{row['date'][:10]}, {row['commit']}" if "date" in row else "now",
    )


def solved(peer, family):
    """Return the number of a family's true statements that are proved in the record of a solver or an older tree."""
    if (found := record(peer)) is None:
        return NOT_MEASURED
    outcomes = [said for name, said in found["outcomes"].items() if name.partition("/")[0] == family]
    return str(outcomes.count("proved"))


def others_lines(rows):
    """Return the lines of the section about statements from other sources; no lines if there is no row."""
    if not rows:
        return []
    kept_records = {peer: found for peer in PEERS if (found := record(peer)) is not None}
    said = "; ".join(f"{peer} {found[peer]}: `{found['command']}`" for peer, found in kept_records.items())
    return [
        "## Statements of others",
        "",
        "True statements of `tests/outside` that are proved for all parameters, and false ones for which a"
        " counterexample is found in 10 s. Seconds are processor times for all claims of a statement, the median over"
        " the proved statements. Characters are the length of a statement's longest proof: the median, and the largest"
        " of the family. A re-check is late if it takes more than 0.05 s and more than a tenth of the search."
        f" The other solvers have {SECONDS} s of the processor for a statement, and their records are made by {said}."
        f" dReal is not installed: its wheel on PyPI needs libibex, which Debian 12 lacks.{_before()}",
        "",
        "| " + " | ".join(_OTHERS_HEAD) + " |",
        "|" + "---|" * len(_OTHERS_HEAD),
        *("| " + " | ".join(others_cells(row)) + " |" for row in rows),
        "",
    ]


def _before():
    """Return a sentence about the record of the tree in which the set was committed; "" without a record."""
    if (found := record("before")) is None:
        return ""
    outcomes = [*found["outcomes"].values()]
    return (
        f" “Before” counts proofs by our tree of commit {found['before']}, in which the set was committed, with"
        f" {found['seconds']} s for a statement: it proves {found['proved']} of the {found['of']} true statements, does"
        f" not read {outcomes.count('not expressed')} of them as a line, and finds no example of"
        f" {outcomes.count('no example')} (`{found['command']}`)."
    )


def page(rows, names):
    """Return the page about the named benchmarks, from the stored rows."""
    rows = sorted((row for row in rows if row["name"] in names), key=lambda row: names.index(row["name"]))
    without = [name for name in names if name not in {row["name"] for row in rows}]
    pairs = [row for row in rows if is_pair(row)]
    measured = [row for row in pairs if is_measured(row)]
    missed = [row for row in measured if not is_reached(row)]
    notes = [row for row in measured if is_reached(row) and row["note"]]
    text = [
        "# Benchmarks",
        "",
        "Written by `make bench` (training on a card: `make bench DEVICE=cuda`). Each row shows its latest"
        " measurement. The programs of a row are run in turn, each after a pause, and after one run each that is not"
        " timed. Times are medians over the rounds; ratios are taken round by round. The definition is what a reader of"
        " the paper would run; the best plain way is the fastest found that an able user would write with NumPy, SciPy,"
        " PyTorch or Numba in some 20 to 50 lines. The goal is the ratio to the best plain way: 2 for a kernel.",
        "",
        "| " + " | ".join(_HEAD) + " |",
        "|" + "---|" * len(_HEAD),
        *("| " + " | ".join(line) + " |" for line in lines_of(pairs)),
        *(f"| {name.rpartition('::')[2]} | | {NOT_MEASURED} |" + " |" * (len(_HEAD) - 3) for name in without),
        "",
    ]
    text += others_lines([row for row in rows if row["kind"] == "others"])
    for title, some in (("What bounds the ratios that are not reached", missed), ("How it was measured", notes)):
        if some:
            text += [f"## {title}", "", *(f"- {row['work']}: {row['note'] or 'not known'}" for row in some), ""]
    grown = [row for row in rows if row["kind"] == "growth"]
    if grown:
        text += ["## Growth", ""]
    for row in grown:
        slopes = [s for s in row["slopes"] if s is not None]
        powers = " and ".join(
            f"{who} like the power {slope:.2f}" for who, slope in zip(("ours", "the plain way"), slopes, strict=False)
        )
        said = f" {row['note']}" if row["note"] else ""
        text += [f"{row['work']}: over the upper half of {row['axis']}, {powers}.{said}", ""]
        text += [f"![{row['work']}](tests/benchmarks/growth/{row['file']})", ""]
    return "\n".join([*text, "## The machine", "", *machine_lines(rows), ""])


def main():
    """Store the rows of each run that is named, and write the page about the benchmarks named on standard input."""
    names = names_of(sys.stdin.read())
    if not names:
        sys.exit("no benchmark is named on standard input")
    for run in sys.argv[1:]:
        keep(rows_of(json.loads(Path(run).read_text(encoding="utf-8"))), ROWS)
    sys.stdout.write(page(kept(ROWS), names))


if __name__ == "__main__":
    main()
