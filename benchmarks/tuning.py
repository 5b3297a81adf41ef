"""Do tuned settings beat the defaults on days that nobody has looked at?

    python -m benchmarks.tuning --traces FOLDER [--trials 40]

Two recorded loads (numenta/NAB: tweets, bursts to 22 times the mean, MIT;
dos-group/load-prediction-dsp: messages, a smooth daily pattern, MIT), simulated at one
decision a minute and batches every ten seconds, on 1 to 10 executors. Settings are searched
on the first two days of a trace and judged on the same weekdays a week later. The days in
between are left out: the rules of the search were made with some of them in view. The cost
per row comes from the searched days alone: their busiest hundredth fills 80 % of ten
executors. Every scaler aims at the same target.
"""

import argparse
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks import report
from weir.controllers.simulator import Scenario, Trace, WorldModel, read_trace, world_of
from weir.controllers.simulator.scenario import default_cost_s
from weir.controllers.simulator.search import evaluate, open_study
from weir.controllers.simulator.tune import tune
from weir.controllers.simulator.tuning import Candidate, Tuning

TRACES = ("nab_Twitter_volume_GOOG.csv", "dsp_wiki_en_5min.csv")
SEARCHED_DAYS, JUDGED_DAYS = (0, 2), (7, 9)
SCALERS = ("thresholds", "qlearning")
TARGET_S = 30.0
VERDICTS = ("trace", "scaler", "time over target, default -> tuned", "executor-hours",
            "beats its defaults: no worse in either, better in one")  # fmt: skip


def days(trace: Trace, first: float, last: float) -> Trace:
    """The part of a trace between two days since its beginning."""
    begin, end = (trace.times[0] + 86_400.0 * day for day in (first, last))
    kept = [i for i, at in enumerate(trace.times) if begin <= at < end]
    span = slice(kept[0], kept[-1] + 1)
    return Trace(times=trace.times[span], rows_per_s=trace.rows_per_s[span])


def worlds(trace: Trace) -> tuple[WorldModel, WorldModel]:
    """The days to search on and those to judge on; the cost per row is that of the first."""
    searched, judged = days(trace, *SEARCHED_DAYS), days(trace, *JUDGED_DAYS)
    scenario = Scenario(cost_s_per_row=default_cost_s(searched, Scenario()))
    return world_of(searched, scenario), world_of(judged, scenario)


def tuned(path: Path, scaler: str, trials: int, seed: int, alone: bool) -> Tuning:
    """Search one scaler's settings on a trace."""
    searched, judged = worlds(read_trace(path.read_bytes()))
    return tune(
        searched,
        scaler,
        trials,
        study=open_study(None, f"{path.name} {scaler}", seed),
        evaluator=lambda part: lambda jobs: list(map(partial(evaluate, part), jobs)),
        target_latency_s=TARGET_S,
        seed=seed,
        judged_on=judged,
        baselines=not alone,
    )


def row(label: str, point: Candidate) -> list[object]:
    """One policy on the judged days."""
    s = point.judged
    assert s is not None
    return [
        label,
        f"{s.share_over_target:.2%}",
        f"{s.executor_hours:.1f}",
        f"{s.latency_p95_s:.1f}",
        s.actions,
    ]


def verdict(name: str, scaler: str, tuning: Tuning) -> list[object]:
    """One line per trace and scaler: tuned against default, on the judged days."""
    best, default = tuning.best.judged, tuning.default.judged
    assert best is not None
    assert default is not None
    return [
        name.removesuffix(".csv"),
        scaler,
        f"{default.share_over_target:.2%} -> {best.share_over_target:.2%}",
        f"{default.executor_hours:.1f} -> {best.executor_hours:.1f}",
        "yes" if tuning.beats_default else "no",
    ]


def told(name: str, found: dict[str, Tuning]) -> str:
    """The table of one trace."""
    rows = []
    for scaler, tuning in found.items():
        rows += [
            row(f"**{scaler}, tuned**", tuning.best),
            row(f"{scaler}, defaults", tuning.default),
        ]
    first = next(iter(found.values()))
    rows += [row(b.label, b) for b in first.baselines if b.label not in found]
    head = (f"policy on {_days(JUDGED_DAYS)}", "time over target", "executor-hours", "p95 latency s",
            "actions")  # fmt: skip
    verdicts = "\n".join(
        f"- {scaler}: {t.verdict} Matters most: {', '.join(i.key for i in t.importance[:3])}. "
        f"Settings: {_short(t.best.settings)}."
        for scaler, t in found.items()
    )
    return f"### {name}\n\n{report.table(head, rows)}\n\n{verdicts}"


def _days(span: tuple[int, int]) -> str:
    return f"days {span[0] + 1} to {span[1]}"


def _short(settings: dict[str, object]) -> str:
    return ", ".join(
        f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in settings.items()
    )


def main() -> int:
    """Search, print, write the section; 1 where tuned settings do not beat the defaults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path, required=True, help="folder of the traces")
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.process_time()
    parts: list[str] = []
    verdicts: list[list[object]] = []
    for name in TRACES:
        found = {
            scaler: tuned(
                given.traces / name, scaler, given.trials, given.seed, scaler != SCALERS[0]
            )
            for scaler in SCALERS
        }
        verdicts += [verdict(name, scaler, t) for scaler, t in found.items()]
        parts.append(told(name, found))
        print(parts[-1], flush=True)
    text = (
        f"{given.trials} trials per scaler on {_days(SEARCHED_DAYS)} of each trace, judged on "
        f"{_days(JUDGED_DAYS)}: the same weekdays a week later, on which nothing was tried before. "
        f"The days between are left out, and the cost per row is that of the searched days. "
        f"Target {TARGET_S:g} s, seed {given.seed}; {time.process_time() - began:.0f} s of CPU.\n\n"
        + report.table(VERDICTS, verdicts)
        + "\n\n"
        + "\n\n".join(parts)
    )
    report.write("tuning", "python -m benchmarks.tuning --traces FOLDER", text)
    return 0 if all(v[-1] == "yes" for v in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
