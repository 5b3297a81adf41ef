"""`weir train-qtable`: make the Q-table that Q-learning starts from."""

from pathlib import Path
from typing import Annotated

import typer


def train_qtable(
    file: Annotated[Path, typer.Argument(help="JSON file to write the table to")],
    seed: Annotated[int, typer.Option(help="Seed of the inputs and of chance")] = 1,
    of_each_kind: Annotated[
        int, typer.Option(help="Inputs of each of the nine kinds", min=1, max=1000)
    ] = 5,
) -> None:
    """Train Q-learning on simulated input of many kinds; takes minutes.

    The package's own table is made by this, with the defaults, as
    controllers/scaling/qlearning/trained.json.
    """
    import msgspec

    from weir.controllers.scaling.qlearning.table import export_table
    from weir.controllers.simulator.training import EPSILONS, lessons, train

    def say(number: int) -> None:
        typer.echo(f"Round {number + 1} of {len(EPSILONS)} is over.", err=True)

    table = train(lessons(seed, of_each_kind), seed, on_round=say)
    plain = msgspec.json.encode(export_table(table))
    file.write_bytes(msgspec.json.format(plain, indent=1) + b"\n")
    typer.echo(f"{len(table.values)} states, {sum(map(any, table.visits))} of them seen: {file}")
