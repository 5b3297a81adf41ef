"""A run that real clusters made is replayed as it was."""

from urllib.parse import urlencode

from tests.support.system import System
from tests.support.waiting import wait_until
from weir.components.live.charts import points
from weir.components.pages.registry import PAGES
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.view import WINDOW_S, world_at
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs.library import list_runs

PLACE = 6


def test_the_live_run_replays_as_it_was_recorded(system: System) -> None:
    """Every series that the replay's page asks for is the one in the recorded Parquet."""
    run = wait_until(
        lambda: next((r for r in list_runs(system.runs) if r.samples > 60), None), 90, "a recording"
    )
    at = int(run.last_at) - 10.0  # the run goes on meanwhile; up to here it stays as it is
    page = PAGES.page(world_at(Library(system.runs).run(run.id), at, 5.0), "/")
    query = urlencode({"path": "/", "at": round(at * 1000), "page": page.structure})
    replayed = system.get(f"/api/replay/{run.id}/moment?{query}")["charts"]
    recorded = read_samples(system.runs / run.id, at - WINDOW_S, at)
    assert recorded
    for chart in page.charts:
        own = [s for s in recorded if s.cluster.name == chart.cluster]
        assert replayed[chart.key] == points(chart, own), chart.key
    assert {s.cluster.name for s in recorded} <= {chart.cluster for chart in page.charts}
