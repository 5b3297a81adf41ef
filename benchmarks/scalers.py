"""Every scaler on every trace: time over target, executor-hours, actions, beside two bounds.

    python -m benchmarks.scalers --traces FOLDER [--quick] [--scalers horizon,spark_streaming]

Simulated, not measured on Spark: 48 hours of each trace (three stretches of long ones), five
made-up inputs and a draw of thirteen kinds of load that nothing was tuned on, 24 executors at most, sized so that the 99th percentile of the rate
needs 70 % of them, target 30 s, every scaler with its defaults. Results are kept beside the
traces' names in a cache folder, so that a run that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import report
from benchmarks.scaler_inputs import made_up, stretches
from benchmarks.unseen_inputs import unseen
from weir.controllers.simulator import Calibrated, WorldModel, scaler_names, what_if
from weir.controllers.simulator.bounds import clairvoyant_hours, fluid_hours

TARGET_S = 30.0
SPARK, OURS, LEARNER = "spark_streaming", "horizon", "qlearning"
MOST_HOURS = 1.5
CALM_PER_DAY = 24.0
UNSEEN_SEED = 11
_ROOT = Path(__file__).parents[1]
PICTURE = Path(__file__).parent / "scalers.svg"


class ScalerScore(Struct, frozen=True, kw_only=True):
    """One scaler on one input."""

    scaler: str
    trace: str
    over: float  # share of the time
    hours: float  # over the fluid bound
    actions_per_day: float
    p99_s: float

    def beats(self, spark: ScalerScore) -> bool:
        """Better in time over target and in executor-hours; none over target is enough."""
        calm = self.over < spark.over or self.over == spark.over == 0.0
        return calm and self.hours < spark.hours

    def within(self, spark: ScalerScore) -> bool:
        """No more actions than are allowed."""
        return self.actions_per_day <= max(CALM_PER_DAY, spark.actions_per_day) + 1e-6


def asked(world: WorldModel, trace: str, scaler: str) -> ScalerScore:
    """What a scaler makes of an input."""
    summary = what_if(Calibrated(world=world), scaler, target_latency_s=TARGET_S).summary
    return ScalerScore(
        scaler=scaler,
        trace=trace,
        over=summary.share_over_target,
        hours=summary.executor_hours / fluid_hours(world),
        actions_per_day=summary.actions * 24.0 / world.hours,
        p99_s=summary.latency_p99_s,
    )


def code_version() -> str:
    """Changes whenever the scalers or the simulator do."""
    digest = hashlib.sha256()
    for folder in ("controllers/scaling", "controllers/simulator"):
        for path in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def run(worlds: dict[str, WorldModel], names: list[str], cache: Path) -> list[ScalerScore]:
    """Every scaler on every input, from the cache where nothing has changed."""
    kept = cache / f"scalers-{code_version()}.jsonl"
    cache.mkdir(parents=True, exist_ok=True)
    lines = kept.read_bytes().splitlines() if kept.exists() else []
    known = {
        (f.trace, f.scaler): f for f in (msgspec.json.decode(x, type=ScalerScore) for x in lines)
    }
    with kept.open("ab") as file:
        for trace, world in worlds.items():
            for name in names:
                if (trace, name) not in known:
                    found = asked(world, trace, name)
                    known[trace, name] = found
                    file.write(msgspec.json.encode(found) + b"\n")
                    file.flush()
                    print(f"{trace:45} {name:22} {found.over:7.2%} {found.hours:.2f}", flush=True)
    return [known[trace, name] for trace in worlds for name in names]


def overview(found: list[ScalerScore]) -> str:
    """One line per scaler: means over the inputs."""
    spark = {f.trace: f for f in found if f.scaler == SPARK}
    rows = []
    for name in sorted({f.scaler for f in found}):
        own = [f for f in found if f.scaler == name]
        n = len(own)
        wins = sum(f.beats(spark[f.trace]) for f in own)
        rows.append(
            [
                name,
                f"{sum(f.over for f in own) / n:.2%}",
                f"{sum(f.hours for f in own) / n:.2f}",
                f"{sum(f.actions_per_day for f in own) / n:.0f}",
                "-" if name == SPARK else f"{wins} of {n}",
                "-" if name == SPARK else f"{sum(f.within(spark[f.trace]) for f in own)} of {n}",
            ]
        )
    rows.sort(key=lambda r: (r[0] != OURS, r[0] != SPARK, r[0]))
    head = ["scaler", "time over target", "executor-hours / fluid bound", "actions a day",
            "beats Spark's in both", "actions within the limit"]  # fmt: skip
    return report.table(head, rows)


def by_trace(found: list[ScalerScore], worlds: dict[str, WorldModel]) -> str:
    """Ours beside Spark's and the bounds, trace by trace."""
    rows = []
    for trace, world in worlds.items():
        own = {f.scaler: f for f in found if f.trace == trace}
        ours, spark = own[OURS], own[SPARK]
        best = clairvoyant_hours(world, TARGET_S) / fluid_hours(world)
        rows.append(
            [
                trace,
                f"{best:.2f}",
                f"{ours.over:.2%}",
                f"{ours.hours:.2f}",
                f"{ours.actions_per_day:.0f}",
                f"{ours.p99_s:.0f}",
                f"{spark.over:.2%}",
                f"{spark.hours:.2f}",
                f"{spark.actions_per_day:.0f}",
                f"{spark.p99_s:.0f}",
                "yes" if ours.beats(spark) else "no",
            ]
        )
    head = ["input", "clairvoyant", "over", "hours", "actions/day", "p99 s",
            "Spark: over", "hours", "actions/day", "p99 s", "better in both"]  # fmt: skip
    return report.table(head, rows)


def learner(real: list[ScalerScore], new: list[ScalerScore]) -> str:
    """Where Q-learning keeps to what it is held to: Spark's time over target, and its budget."""
    rows = []
    for kind, found in (("real traces", real), ("new inputs", new)):
        spark = {f.trace: f.over for f in found if f.scaler == SPARK}
        own = [f for f in found if f.scaler == LEARNER]
        calm = [f.over <= spark[f.trace] for f in own]
        cheap = [f.hours <= MOST_HOURS for f in own]
        both = [a and b for a, b in zip(calm, cheap, strict=True)]
        rows.append((kind, *(f"{sum(met)} of {len(own)}" for met in (calm, cheap, both))))
    head = ("inputs", "time over target at most Spark's",
            f"executor-hours at most {MOST_HOURS} times the bound", "both")  # fmt: skip
    return "Q-learning, from the table that comes with it:\n\n" + report.table(head, rows)


def picture(found: list[ScalerScore]) -> str:
    """Means of every scaler: executor-hours to the right, time over target upwards."""
    names = sorted({f.scaler for f in found if f.scaler not in ("no_op", "fixed")})
    points = []
    for name in names:
        own = [f for f in found if f.scaler == name]
        points.append((name, sum(f.hours for f in own) / len(own),
                       sum(f.over for f in own) / len(own)))  # fmt: skip
    right = max(2.5, *(min(h, 4.0) for _, h, _ in points)) + 0.3
    high = max(0.02, *(min(o, 0.12) for _, _, o in points)) * 1.15

    def place(hours: float, over: float) -> tuple[float, float]:
        x = 60.0 + 500.0 * (min(hours, right) - 1.0) / (right - 1.0)
        return x, 270.0 - 240.0 * min(over, high) / high

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 320" font-family="sans-serif" '
        'font-size="11"><rect width="640" height="320" fill="white"/>'
        '<path d="M60 30V270H580" fill="none" stroke="#888"/>'
        '<text x="320" y="308" text-anchor="middle">executor-hours / fluid bound</text>'
        '<text x="14" y="150" transform="rotate(-90 14 150)" text-anchor="middle">'
        "time over target</text>"
    ]
    for i in range(5):
        hours, over = 1.0 + i * (right - 1.0) / 4.0, i * high / 4.0
        x, y = place(hours, over)
        parts.append(f'<text x="{x:.0f}" y="285" text-anchor="middle">{hours:.2f}</text>')
        parts.append(f'<text x="55" y="{y + 4:.0f}" text-anchor="end">{over:.1%}</text>')
    for name, hours, over in points:
        x, y = place(hours, over)
        colour = "#c0392b" if name == OURS else "#2c3e50"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + 7:.1f}" y="{y - 5:.1f}" fill="{colour}">{name}</text>')
    return "".join(parts) + "</svg>\n"


def main() -> int:
    """Run, write the section and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--traces", type=Path, required=True)
    parser.add_argument("--scalers", default="")
    parser.add_argument("--cache", type=Path, default=Path(".cache"))
    parser.add_argument("--quick", action="store_true", help="ours and Spark's only, not written")
    given = parser.parse_args()
    names = [OURS, SPARK] if given.quick else given.scalers.split(",") if given.scalers else []
    names = names or scaler_names()
    real, made = stretches(given.traces), made_up()
    found = run(real, names, given.cache)
    extra = run(made, names, given.cache)
    new = unseen(UNSEEN_SEED)
    on_new = run(new, names, given.cache)
    text = "\n\n".join(
        [
            "Simulated: 48 hours of each trace (three stretches of long ones), 24 executors at "
            "most, the 99th percentile of the rate needs 70 % of them, target 30 s, each scaler "
            "with its defaults. The fluid bound is the work that arrives, in executors, within "
            "the limits; nobody who keeps up can use less. Means over the real traces:",
            overview(found),
            f"![front]({PICTURE.name})",
            "Ours (`horizon`) and Spark's allocation by input; hours are over the fluid bound, "
            "and so are those of one who knows the whole trace (clairvoyant):",
            by_trace(found + extra, {**real, **made}),
            *([learner(found, on_new)] if LEARNER in names else []),
            f"Thirteen kinds of load in a draw that nothing was tuned on (seed {UNSEEN_SEED}; other draws of "
            "these kinds were looked at while ours was made); means, and each:",
            overview(on_new),
            by_trace(on_new, new),
        ]
    )
    if given.quick:
        print(text)
        return 0
    PICTURE.write_text(picture(found))
    chosen = f" --scalers {given.scalers}" if given.scalers else ""
    report.write("scalers", f"python -m benchmarks.scalers --traces FOLDER{chosen}", text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
