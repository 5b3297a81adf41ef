"""DoDo, chapter 7: nothing, balancing, and balancing with autoscaling, under one cap of executors.

Six executors of one slot: five and one, as the thesis has twelve nodes and three, or one and one at
first, to be given out by the scaler. A row costs the extractor 10.2 ms and the counting 5.1 ms.
"""

from collections.abc import Mapping
from typing import Any

from weir.metrics.lab.outcome import ComparedFigure, Conclusion, table, verdict_of
from weir.pipeline.experiments import dodo_live as dodo
from weir.pipeline.experiments.base import Bench, Step, Work
from weir.pipeline.experiments.live import LiveCluster, live_system
from weir.pipeline.experiments.live_places import place, sized

EXTRACTOR_S, COUNT_S, INPUT, CAP = 0.0102, 0.0051, 340.0, 6
FIXED = {dodo.WIDE: 5, dodo.NARROW: 1}
PLAN = dodo.plan(
    LiveCluster(dodo.WIDE, "extractor", executors=1, most=5),
    LiveCluster(dodo.NARROW, "topic_count,top_n", executors=1, most=5),
    EXTRACTOR_S, COUNT_S,
)  # fmt: skip
NAMES = {"3": "balancing and autoscaling", "1": "nothing", "2": "balancing"}


def parts(quick: bool) -> list[Step]:
    """Experiment 3 first, as it begins with one executor each, which is how clusters come up."""

    def autoscaled(bench: Bench) -> Any:
        live = dodo.emptied(live_system(bench, PLAN), bench)
        live.store.save_settings(
            "engine", {**dodo.SOON["engine"], "total_executors": CAP, "drift_load": 10.0}
        )
        for name in FIXED:
            live.store.save_settings(
                f"scale:{name}:dodo", {"periods": 3, "launch_s": 8.0, "shutdown_s": 30.0}
            )
        place(live, dodo.EXTREME)
        sized(live, dict.fromkeys(FIXED, 1))
        return dodo.followed(
            live, bench, NAMES["3"], rows_per_s=INPUT, planner="dodo", scaler="dodo",
            least_s=45.0 if quick else 110.0, last_s=35.0 if quick else 50.0,
        )  # fmt: skip

    def fixed(planner: str, key: str) -> Step:
        def run(bench: Bench) -> Any:
            live = dodo.emptied(live_system(bench, PLAN), bench)
            place(live, dodo.EXTREME)
            sized(live, FIXED)

            still = planner == "no_op"
            return dodo.followed(
                live, bench, NAMES[key], rows_per_s=INPUT, planner=planner,
                least_s=(8.0 if still else 20.0) if quick else 40.0,
                last_s=35.0 if quick else 50.0, until_moved=not still,
            )  # fmt: skip

        return Step(f"experiment-{key}", NAMES[key], run)

    return [
        Step("experiment-3", NAMES["3"], autoscaled, 2.0), fixed("no_op", "1"), fixed("dodo", "2"),
    ]  # fmt: skip


def conclude(quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """Each step carries more than the one before, and uses its cores better."""
    named = {NAMES[n]: found[f"experiment-{n}"] for n in "123"}
    rows = {n: found[f"experiment-{n}"]["throughput"] for n in "123"}
    gain = {n: 100 * (r / rows["1"] - 1) for n, r in rows.items()}
    used = {n: 100 * found[f"experiment-{n}"]["busy_all"] for n in "123"}
    most = sum(found["experiment-3"]["executors"].values())
    return Conclusion(
        verdict=verdict_of(
            gain["2"] > 15.0, rows["3"] > rows["2"], most <= CAP, used["3"] > used["1"]
        ),
        reason=(
            f"Without anything {rows['1']:.0f} rows/s come out; balancing moves "
            f"{'; '.join(found['experiment-2']['moves']) or 'nothing'} and lifts that to "
            f"{rows['2']:.0f} ({gain['2']:+.0f} %). With autoscaling from one executor each, under "
            f"the same cap of {CAP}, it ends with "
            f"{' and '.join(f'{n} in {c}' for c, n in found['experiment-3']['executors'].items())} and "
            f"{rows['3']:.0f} rows/s ({gain['3']:+.0f} %). The cores are busy {used['1']:.0f}, "
            f"{used['2']:.0f} and {used['3']:.0f} %. Costs per row are chosen so that such gains are "
            "possible on six slots; rows wait instead of computing, as the slots share two cores. Without anything the extractor works on "
            "although rows pile up behind it, as edges hold nobody back: so its cores are busy for "
            "nothing, where the thesis's S4 stood still."
            + (
                " Few batches of up to 1,200 rows end within the time that counts in the quick "
                "size, so its figures may be off by a third."
                if quick
                else ""
            )
        ),
        numbers=(
            ComparedFigure(name="gain by balancing", ours=gain["2"], unit="%", published="+51.58 %"),
            ComparedFigure(name="gain by both", ours=gain["3"], unit="%", published="+75.79 %"),
            ComparedFigure(name="nothing", ours=rows["1"], unit="rows/s", published="9,500 events/s"),
            ComparedFigure(name="balancing", ours=rows["2"], unit="rows/s", published="14,400 events/s"),
            ComparedFigure(name="balancing and autoscaling", ours=rows["3"], unit="rows/s",
                           published="16,700 events/s"),
            ComparedFigure(name="cores busy, nothing", ours=used["1"], unit="%"),
            ComparedFigure(name="cores busy, both", ours=used["3"], unit="%", published="the highest"),
        ),
        charts=(
            dodo.chart("Throughput (figures 27 to 29)", "rows/s", "rows", named),
            dodo.chart("Wide cluster busy", "% of its cores", dodo.WIDE, named),
            dodo.chart("Narrow cluster busy", "% of its cores", dodo.NARROW, named),
            dodo.chart("Executors of the wide cluster (figure 30)", "executors",
                       f"{dodo.WIDE} executors", named),
            dodo.chart("Executors of the narrow cluster (figure 30)", "executors",
                       f"{dodo.NARROW} executors", named),
        ),
        tables=(
            table(
                "Every experiment",
                ("experiment", "rows/s", "executors, wide", "executors, narrow", "busy, %", "moves"),
                [
                    (name, f["throughput"], f["executors"].get(dodo.WIDE), f["executors"].get(dodo.NARROW),
                     100 * f["busy_all"], "; ".join(f["moves"]) or "none")
                    for name, f in named.items()
                ],
            ),
        ),
        runs=dodo.runs(found),
    )  # fmt: skip


CHAPTER_7 = Work(parts=parts, conclude=conclude)
