"""BENCHMARKS.md, from what pytest-benchmark wrote: `python -m tests.benchmarks.page FOLDER < NAMES > BENCHMARKS.md`.

Of several files in the folder the latest that has a row counts, so that a row may be measured anew by itself, and on
another device. The names are those of the benchmarks that there are, as pytest lists them: a row of one that is gone is
left out, and one without a row says so.
"""

import json
import statistics
import sys
from pathlib import Path

NOT_MEASURED = "not measured"
_DEVICES = ("cpu", "cuda")
_HEAD = (
    "work",
    "on",
    "ours",
    "the plain way",
    "ratio, median",
    "range",
    "to reach",
    "reached",
    "physical limit",
    "measured, commit",
)


def read(folder):
    """Return all runs of a folder, the latest last; one that was broken off has left an empty file."""
    texts = [path.read_text(encoding="utf-8") for path in Path(folder).glob("*.json")]
    found = [json.loads(text) for text in texts if text]
    return sorted(found, key=lambda run: run["datetime"])


def rows_of(runs):
    """Return the rows of some runs, by the benchmark and where it ran, the latest of each."""
    found = {}
    for run in runs:
        commit = run.get("commit_info", {})
        # What is measured while the tree differs from a commit is of no commit.
        when = f"{run['datetime'][:10]}, {(commit.get('id') or '?')[:7]}{'+' if commit.get('dirty') else ''}"
        for benchmark in run["benchmarks"]:
            if "kind" in benchmark["extra_info"]:
                row = benchmark["extra_info"] | {"name": benchmark["fullname"], "measured": when}
                found[row["name"], row["device"]] = row
    return [*found.values()]


def names_of(text):
    """Return the benchmarks that pytest has listed (--collect-only -q)."""
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
    """Return a row's cells, in the order of the table's head."""
    amount = seconds_text if row["kind"] == "pair" else lambda x: f"{x:.0f} {row['unit']}"
    median = statistics.median(row["ratios"])
    low, high = (number_text(end(row["ratios"])) for end in (min, max))
    limit = "–"
    if row["limit"]:
        apart = statistics.median(row["ours"]) / row["limit"]["seconds"]
        limit = f"{row['limit']['name']}: {seconds_text(row['limit']['seconds'])} (ours: {number_text(apart)}×)"
    return (
        row["work"],
        row["device"],
        amount(statistics.median(row["ours"])),
        amount(statistics.median(row["plain"])),
        f"{'ours/plain ' if row['cost'] else ''}{number_text(median)}",
        f"{low}–{high}",
        f"{'<=' if row['cost'] else '>='} {number_text(row['reach'])}",
        "yes" if is_reached(row) else "no",
        limit,
        row.get("measured", "now"),
    )


def is_reached(row):
    """Whether the median is what it is to be."""
    median = statistics.median(row["ratios"])
    return median <= row["reach"] if row["cost"] else median >= row["reach"]


def lines_of(rows):
    """Return the cells of all rows; of a row that has a device, one for each device, measured or not."""
    there = {(row["work"], row["device"]): row for row in rows}
    found = []
    for work in dict.fromkeys(row["work"] for row in rows):
        some = [row for row in rows if row["work"] == work]
        for device in _DEVICES if some[0]["on_device"] else ("cpu",):
            row = there.get((work, device))
            found.append(cells(row) if row else (work, device, *[NOT_MEASURED] * (len(_HEAD) - 2)))
    return found


def table(rows):
    """Return a table for a terminal, a line each."""
    lines = [_HEAD, *lines_of(rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def machine_lines(runs):
    """Return of which kind the machines were, each once."""
    found = {}
    for run in runs:
        info = run["machine_info"]
        cpu = info.get("cpu", {})
        parts = [
            *([info["card"]] if info.get("card") else []),
            f"{cpu.get('brand_raw', 'a processor that does not say which')}, {cpu.get('count', '?')} cores",
            f"{info['system']}, Python {info['python_version']}",
            ", ".join(f"{name} {version}" for name, version in info["packages"].items()),
        ]
        for device, rates in info.get("rates", {}).items():
            copied, *products = (rates[name] for name in ("copy_bytes", "float32_operations", "float64_operations"))
            parts.append(
                f"on {device} a copy moves {copied / 1e9:.3g} GB/s, "
                f"a product does {products[0] / 1e9:.3g} (float32) and {products[1] / 1e9:.3g} (float64) GFlop/s"
            )
        # What is measured differs from run to run; the kind of machine is what stays.
        found["; ".join(parts[: -len(info.get("rates", {})) or None])] = "; ".join(parts)
    return [f"- {text}" for text in found.values()]


def page(runs, names):
    """Return the page of the benchmarks of some names."""
    rows = sorted((row for row in rows_of(runs) if row["name"] in names), key=lambda row: names.index(row["name"]))
    without = [name for name in names if name not in {row["name"] for row in rows}]
    pairs = [row for row in rows if row["kind"] != "growth"]
    missed = [row for row in pairs if not is_reached(row)]
    notes = [row for row in pairs if is_reached(row) and row["note"]]
    text = [
        "# Benchmarks",
        "",
        "Written by `make bench` (training on a card: `make bench DEVICE=cuda`). Of each row this is the latest"
        " measurement; the two ways of a row are run in turn in one run, both once before. Times are medians over the"
        " rounds; the ratio is taken round by round.",
        "",
        "| " + " | ".join(_HEAD) + " |",
        "|" + "---|" * len(_HEAD),
        *("| " + " | ".join(line) + " |" for line in lines_of(pairs)),
        *(f"| {name.rpartition('::')[2]} | | {NOT_MEASURED} |" + " |" * (len(_HEAD) - 3) for name in without),
        "",
    ]
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
    return "\n".join([*text, "## The machine", "", *machine_lines(runs), ""])


def main():
    """Write the page of a folder, of the benchmarks named on standard input."""
    names = names_of(sys.stdin.read())
    if not names:
        sys.exit("no benchmark is named on standard input")
    sys.stdout.write(page(read(sys.argv[1]), names))


if __name__ == "__main__":
    main()
