"""Reading: clusters, operators, samples, commands, workloads."""

import time
from typing import Annotated

from fastapi import APIRouter, Path, Query
from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from weir.components.web.api.guarded import GuardedRoute
from weir.components.web.api.reply import answers, json
from weir.components.web.security import Role, require
from weir.controllers.engine.ports import Store, Tier, Workload
from weir.controllers.engine.propose.rings import RingOutlook
from weir.controllers.model.command import Command, CommandResult
from weir.controllers.model.errors import NotFound
from weir.controllers.model.failover import Death
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.controllers.model.snapshot import Snapshot

Name = Annotated[str, Path(min_length=1, max_length=200)]
At = Annotated[float | None, Query(ge=0, le=4e9, allow_inf_nan=False)]
Limit = Annotated[int, Query(ge=1, le=1000)]
SAMPLES_MOST = 5000


class CommandState(Struct, frozen=True):
    """A command and what has become of it."""

    command: Command
    result: CommandResult


def routes(store: Store) -> APIRouter:
    """Everything that only looks."""
    router = APIRouter(prefix="/api/v1", route_class=GuardedRoute)
    _world(router, store)
    _past(router, store)
    return router


def _world(router: APIRouter, store: Store) -> None:
    @router.get("/snapshot", tags=["look"], **answers(Snapshot))
    @require(Role.VIEWER)
    def snapshot() -> Response:
        """All clusters, operators and edges, from the newest report of each cluster."""
        return json(_now(store))

    @router.get("/deaths", tags=["look"], **answers(list[Death]))
    @require(Role.VIEWER)
    def deaths() -> Response:
        """Clusters that are dead, what they lost, and why that is not rescued."""
        return json(store.deaths())

    @router.get("/clusters", tags=["look"], **answers(list[Cluster]))
    @require(Role.VIEWER)
    def clusters() -> Response:
        """Every cluster as last reported."""
        return json(_now(store).clusters)

    @router.get("/clusters/{cluster}", tags=["look"], **answers(Cluster, 404))
    @require(Role.VIEWER)
    def cluster(cluster: Name) -> Response:
        """One cluster as last reported."""
        return json(find_cluster(store, cluster))

    @router.get("/operators", tags=["look"], **answers(list[OperatorSample]))
    @require(Role.VIEWER)
    def operators() -> Response:
        """Every operator as last reported."""
        return json(_now(store).operators)

    @router.get("/operators/{operator}", tags=["look"], **answers(OperatorSample, 404))
    @require(Role.VIEWER)
    def operator(operator: Name) -> Response:
        """One operator as last reported."""
        found = _now(store).operator(operator)
        if found is None:
            raise NotFound(f"there is no operator '{operator}'")
        return json(found)

    @router.get("/operators/{operator}/ring", tags=["look"], **answers(RingOutlook, 404))
    @require(Role.VIEWER)
    def ring(operator: Name) -> Response:
        """Who owns which key groups of an operator, and what the ring planner says, as the
        engine saw it last."""
        outlook = store.outlook()
        found = outlook.ring(operator) if outlook else None
        if found is None:
            raise NotFound(f"'{operator}' is not sliced, or the engine has not looked yet")
        return json(found)

    @router.get("/workloads", tags=["look"], **answers(list[Workload]))
    @require(Role.VIEWER)
    def workloads() -> Response:
        """What every load generator is asked for."""
        return json(list(store.workloads()))


def _past(router: APIRouter, store: Store) -> None:
    @router.get("/clusters/{cluster}/samples", tags=["look"], **answers(list[ClusterSample], 404))
    @require(Role.VIEWER)
    def samples(
        cluster: Name,
        since: At = None,
        until: At = None,
        step_s: Annotated[Tier, Query(description="0: every report; else means")] = Tier.FULL,
    ) -> Response:
        """A cluster's reports, oldest first; the last five minutes unless told otherwise.

        Without their single batches: those are in the recorded run.
        """
        find_cluster(store, cluster)
        end = time.time() if until is None else until
        begin = end - 300 if since is None else since
        found = store.samples(cluster, begin, end, step_s)[-SAMPLES_MOST:]
        return json([replace(s, batches=()) for s in found])

    @router.get("/commands", tags=["look"], **answers(list[CommandState]))
    @require(Role.VIEWER)
    def commands(limit: Limit = 50) -> Response:
        """The newest commands to agents and what became of them, newest first."""
        return json([CommandState(*pair) for pair in store.recent_commands(limit)])

    @router.get("/commands/{id}", tags=["look"], **answers(CommandState, 404))
    @require(Role.VIEWER)
    def command(id: Name) -> Response:
        """One command and what became of it."""
        found = store.command(id)
        if found is None:
            raise NotFound(f"there is no command {id}")
        return json(CommandState(*found))


def find_cluster(store: Store, name: str) -> Cluster:
    """A cluster that has reported, or a sentence that there is none."""
    found = _now(store).cluster(name)
    if found is None:
        raise NotFound(f"there is no cluster '{name}'")
    return found


def _now(store: Store) -> Snapshot:
    dead = tuple(death.cluster for death in store.deaths())
    return replace(Snapshot.of(store.latest(), time.time()), dead=dead)
