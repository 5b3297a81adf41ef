"""Two versions side by side: what the control room costs, and how late its pages are.

The two versions run by turns in one session, from a checkout of their own. Control load is measured
by the benchmark of each version. The way to the pixel is measured by the present script in both, which
needs nothing of a version but how its tests bring it up; it begins with the report, as how long a
batch waits for its report is chance (see `event_to_pixel`).

    git worktree add ../before COMMIT
    python -m benchmarks.versions --before ../before
"""

import argparse
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from benchmarks import report
from weir.controllers.model.words import number_of

GOAL = 1.1
"""This version may take so many times what the other one takes."""
HERE = Path(__file__).parent.parent


def cells(text: str) -> list[list[str]]:
    """Rows of all Markdown tables in a text, heads and rules left out."""
    lines = [line.strip() for line in text.splitlines()]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|") and not set(line) <= set("|-: ")
    ]
    return [row for row in rows if row[0] not in ("figure", "process", "clients")]


def number(cell: str) -> float:
    """What a cell holds, without its unit."""
    return float(cell.rstrip(" s%").replace(",", ""))


def load_figures(text: str) -> dict[str, float]:
    """The figures of `control_load`: p95 of each time, CPU and memory of each process."""
    found = {}
    for row in cells(text):
        if row[1].endswith("%"):
            found[f"{row[0]}, CPU of a core"] = number(row[1])
            found[f"{row[0]}, MB at the end"] = number(row[-3])
        else:
            found[f"{row[0].split(' (')[0]}, mean"] = number(row[1])
            found[f"{row[0].split(' (')[0]}, p95"] = number(row[3])
    return found


def pixel_figures(text: str) -> dict[str, float]:
    """The figures of `event_to_pixel`: median and p95 from report to pixel of each feed."""
    found = {}
    for row in cells(text):
        tabs = "1 tab" if row[0] == "1" else f"{row[0]} tabs"
        found[f"report to pixel, live, {tabs}, {row[1]}, p50"] = number(row[6])
        found[f"report to pixel, live, {tabs}, {row[1]}, p95"] = number(row[7])
    return found


def run(checkout: Path, *words: str) -> str:
    """What Python prints with these words in a checkout; its results file is left as it was."""
    results = checkout / "benchmarks" / "RESULTS.md"
    before = results.read_bytes()
    try:
        return subprocess.run(
            [sys.executable, *words],
            cwd=checkout, check=True, text=True, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(checkout)},
        ).stdout  # fmt: skip
    finally:
        results.write_bytes(before)


def main() -> None:
    """Measure by turns and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, help="a checkout of the other one")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=3.0, help="of each control load")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each feed and tab count")
    options = parser.parse_args()
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for i in range(options.rounds):
        turn = [("before", options.before.resolve()), ("now", HERE)]
        for name, checkout in turn if i % 2 == 0 else reversed(turn):
            minutes, seconds = str(options.minutes), str(options.seconds)
            load = run(checkout, "-m", "benchmarks.control_load", "--dry", "--minutes", minutes)
            pixel = run(checkout, str(HERE / "benchmarks/event_to_pixel.py"), "--seconds", seconds)
            for figure, value in (load_figures(load) | pixel_figures(pixel)).items():
                found[figure][name].append(value)
            print(f"round {i + 1}, {name}\n{load}\n{pixel}", flush=True)
    rows = []
    for figure, by_name in found.items():
        if set(by_name) == {"before", "now"}:
            before, now = (statistics.fmean(by_name[n]) for n in ("before", "now"))
            ratio = now / before
            rows.append(
                (figure, f"{before:.2f}", f"{now:.2f}", f"{ratio:.2f}",
                 "yes" if ratio <= GOAL else "no")
            )  # fmt: skip
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=options.before, check=True, text=True, stdout=subprocess.PIPE,
    ).stdout.strip()  # fmt: skip
    report.write(
        "versions",
        f"python -m benchmarks.versions --before CHECKOUT --rounds {options.rounds} "
        f"--minutes {options.minutes:g} --seconds {options.seconds:g}",
        report.table(["figure", f"at {commit}", "now", "now / then", f"at most {GOAL:g}"], rows)
        + f"\n\nMeans of {number_of(options.rounds, 'round')} by turns in one session: 200 clusters with 20 "
        "tabs (control load), and the demo with 1 and 10 tabs (live). Times in seconds.",
    )


if __name__ == "__main__":
    main()
