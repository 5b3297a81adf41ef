"""`weir what-if-places`: a run's input with another planner, another mode, or the joint plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.commands import simulation as inputs

if TYPE_CHECKING:
    from weir.controllers.simulator.places import PlacesOutcome

ALL = "all"


def what_if_places(
    run: inputs.Run = None,
    planner: Annotated[
        str,
        typer.Option(
            help="Name of a planner, 'joint' for size and place together, 'recorded' for the "
            "places of then, or 'all'"
        ),
    ] = ALL,
    scaler: Annotated[str, typer.Option(help="Scaler of every cluster")] = "no_op",
    mode: Annotated[
        str, typer.Option(help="observe, recommend, approve or auto; what nobody does is not done")
    ] = "auto",
    approve_after: Annotated[
        float, typer.Option(help="Seconds that a person takes to approve", min=0.0)
    ] = 120.0,
    moves: Annotated[int, typer.Option(help="Most moves at once", min=1)] = 2,
    target_latency: inputs.Target = None,
    seed: inputs.Seed = 0,
    runs: inputs.Runs = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="A list instead of a table")] = False,
) -> None:
    """Ask where operators would have run under another policy, and what would have come of it."""

    def work() -> None:
        from weir.controllers.balancing.base import planners
        from weir.controllers.model.sample import Mode
        from weir.controllers.simulator.places import (
            JOINT,
            RECORDED,
            PlacePolicy,
            compare_places,
        )

        inputs.check_seed(seed)
        if run is None:
            raise inputs.invalid("name a run: a trace has only one operator", "run")
        if mode not in {m.value for m in Mode}:
            raise inputs.invalid(f"mode: there is no mode '{mode}'", "mode")
        names = [RECORDED, JOINT, *planners()] if planner == ALL else [planner]
        model = inputs.load(run, None, None, None, {}, runs).world
        policies = [
            PlacePolicy(
                planner=name, scaler=scaler, mode=Mode(mode), approve_after_s=approve_after,
                moves=moves,
            )
            for name in names
        ]  # fmt: skip
        target_s = inputs.target_of(target_latency, None)
        _show(compare_places(model, policies, target_latency_s=target_s, seed=seed), json)

    raise typer.Exit(inputs.run_guarded(work))


def _show(found: list[PlacesOutcome], json: bool) -> None:
    import msgspec

    if json:
        series = ("time", "latency_s", "executors", "fullest")
        plain = [
            {k: v for k, v in msgspec.to_builtins(one).items() if k not in series} for one in found
        ]
        print(msgspec.json.format(msgspec.json.encode(plain), indent=2).decode())
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Simulated")
    heads = ("planner", "p50 s", "p95 s", "over target", "executor h", "moves", "stood still s",
             "sizes changed", "rows left")  # fmt: skip
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left", no_wrap=True)
    for one in found:
        table.add_row(
            one.planner, f"{one.latency_p50_s:.1f}", f"{one.latency_p95_s:.1f}",
            f"{one.share_over_target:.1%}", f"{one.executor_hours:.2f}", str(len(one.moves)),
            f"{sum(m.paused_s for m in one.moves):.0f}", str(one.scalings),
            f"{one.queued_rows:,.0f}",
        )  # fmt: skip
    Console(width=120).print(table)
