"""`weir what-if`: the same input under another policy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.commands import simulation as inputs

if TYPE_CHECKING:
    from weir.controllers.simulator import Calibrated, SimulationSummary, WhatIf

ALL = "all"
_LONG = 20_000  # periods x scalers from which more processes pay


def what_if(
    run: inputs.Run = None,
    trace: inputs.TraceFile = None,
    scaler: Annotated[
        str,
        typer.Option(
            help="Name of a scaler, 'recorded' for what was done, 'as_set' for the policy that "
            "was in force then, or 'all' for a comparison"
        ),
    ] = "horizon",
    set_: inputs.Sets = None,
    column: inputs.Column = None,
    cluster: inputs.ClusterName = None,
    cost_per_row: inputs.Cost = None,
    min_: inputs.Fewest = None,
    max_: inputs.Most = None,
    executor_start: inputs.Start = None,
    target_latency: inputs.Target = None,
    period: inputs.Period = None,
    cores: inputs.Cores = None,
    executors: inputs.Executors = None,
    trigger: inputs.Trigger = None,
    overhead: inputs.Overhead = None,
    max_rows: inputs.MaxRows = None,
    seed: inputs.Seed = 0,
    runs: inputs.Runs = Path("runs"),
    save_table: inputs.SaveTable = None,
    json: Annotated[
        bool, typer.Option("--json", help="With 'all': a list instead of a table")
    ] = False,
) -> None:
    """Ask what another scaler would have done with the input of a run or a trace."""
    given = inputs.scenario_options(
        cost_per_row, min_, max_, executors, executor_start, cores, period, trigger, overhead,
        max_rows,
    )  # fmt: skip

    def work() -> None:
        from weir.controllers.simulator import RECORDED

        inputs.check_seed(seed)
        settings = inputs.pairs(set_ or [])
        if scaler == ALL and settings:
            raise inputs.invalid("--set is for one scaler, not for 'all'", "set")
        if scaler == ALL and save_table is not None:
            raise inputs.invalid("--save-table is for one scaler, not for 'all'", "save_table")
        if scaler == RECORDED and trace is not None:
            raise inputs.invalid("scaler: 'recorded' is for a run; a trace has no record", "scaler")
        inputs.check_table(save_table, scaler)
        calibrated = inputs.load(run, trace, column, cluster, given, runs)
        target_s = inputs.target_of(target_latency, trace)
        if scaler == ALL:
            _show(compare(calibrated, target_s, seed), json)
            return
        found = one(calibrated, scaler, settings, target_s, seed)
        if save_table is not None:
            inputs.write_table(save_table, found)
        print(as_json(found, calibrated))

    raise typer.Exit(inputs.run_guarded(work))


def one(
    calibrated: Calibrated, scaler: str, settings: dict[str, Any], target_s: float, seed: int
) -> WhatIf:
    """One scaler, with a bar that shows how far it is."""
    from rich.console import Console
    from rich.progress import Progress

    from weir.controllers.simulator import what_if as ask

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(scaler, total=calibrated.world.periods)
        return ask(
            calibrated,
            scaler,
            settings,
            target_latency_s=target_s,
            seed=seed,
            on_period=lambda done: bar.update(task, completed=done),
        )


def compare(calibrated: Calibrated, target_s: float, seed: int) -> list[WhatIf]:
    """Every scaler with its defaults, in several processes where it takes long."""
    from rich.console import Console
    from rich.progress import Progress

    from weir.controllers.simulator import AS_SET, RECORDED, scaler_names

    known = [RECORDED] * bool(calibrated.recorded) + [AS_SET] * bool(calibrated.policy)
    names = known + scaler_names()
    console = Console(stderr=True)
    with (
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
        inputs.workers(len(names) * calibrated.world.periods >= _LONG) as pool,
    ):
        task = bar.add_task("scalers", total=len(names))
        work: list[tuple[Any, ...]] = [(calibrated, name, {}, target_s, seed) for name in names]
        found = []
        for result in pool.map(_ask, work) if pool else map(_ask, work):
            found.append(result)
            bar.update(task, advance=1, description=result.summary.scaler)
    return found


def _ask(work: tuple[Any, ...]) -> WhatIf:
    from weir.controllers.simulator import what_if as ask

    calibrated, name, settings, target_s, seed = work
    return ask(calibrated, name, settings, target_latency_s=target_s, seed=seed)


def policy_of(calibrated: Calibrated) -> dict[str, Any] | None:
    """How the cluster was scaled, and the error of that policy if it decides again; None: unknown."""
    import msgspec

    if not calibrated.policy:
        return None
    plain = msgspec.to_builtins
    return {"settings": plain(calibrated.policy), "error": plain(calibrated.policy_errors)}


def as_json(found: WhatIf, calibrated: Calibrated | None = None) -> str:
    """The summary; on a run with its band, and the policy that was in force."""
    import msgspec

    plain = msgspec.to_builtins(found.summary)
    if found.band is not None:
        plain["error_band"] = msgspec.to_builtins(found.band)
    if calibrated is not None and calibrated.recorded is not None:
        plain["recorded_policy"] = policy_of(calibrated)
    return msgspec.json.format(msgspec.json.encode(plain), indent=2).decode()


def table_of(rows: list[SimulationSummary]) -> Any:
    """Summaries side by side, for a terminal."""
    from rich.table import Table

    table = Table()
    heads = ["scaler", "p50 s", "p95 s", "p99 s", "over target", "executors", "peak",
             "executor h", "actions", "settle", "served"]  # fmt: skip
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left", no_wrap=True)
    for s in rows:
        table.add_row(
            s.scaler, f"{s.latency_p50_s:.1f}", f"{s.latency_p95_s:.1f}", f"{s.latency_p99_s:.1f}",
            f"{s.share_over_target:.1%}", f"{s.executors_mean:.2f}", str(s.executors_peak),
            f"{s.executor_hours:.1f}", str(s.actions), str(s.settle_steps),
            f"{s.served_share:.1%}",
        )  # fmt: skip
    return table


def error_lines(found: list[WhatIf]) -> list[str]:
    """How far the figures are off, and by what that was judged; a trace has nothing to say."""
    done, scaler = found[0].band, found[-1].band  # what was done stands first, scalers last
    if done is None or scaler is None or done.latency is None:
        return []
    part = "held-out half" if done.held_out else "on what it was fitted on: the run is too short"
    lines = [f"Latencies are off by {done.latency:.0%} (median, {part})."]
    if scaler.executors is None:
        return [*lines, f"Executors of scalers have {scaler.no_executors}."]
    off = f"{scaler.executors:.0%} (median, the recorded policy deciding anew)"
    return [*lines, f"Executors of scalers are off by {off}."]


def _show(found: list[WhatIf], json: bool) -> None:
    from rich.console import Console

    if json:
        print("[" + ",\n".join(as_json(f) for f in found) + "]")
        return
    # A file or a pipe has no width of its own; the table is not to be cut off there.
    console = Console() if sys.stdout.isatty() else Console(width=140)
    console.print(table_of([f.summary for f in found]))
    for line in error_lines(found):
        console.print(line)
