"""Every batch of a run is in its record, from the driver's report to the reader."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.examples import examples
from tests.unit.metrics.runs.history_world import T0, sample
from weir.controllers.model.sample import Cluster
from weir.metrics.agent.listener import Poll, Progress, Started
from weir.metrics.agent.sampler import Sampler
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs.library import run_info
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.writer import LiveRun

NAMES = ("count", "top_n", "_warm")
# A query, rows, whether there is a batch, whether the query's next run begins after it.
TRIGGERS = st.tuples(st.sampled_from(NAMES), st.integers(0, 500), st.booleans(), st.booleans())


def reported(periods):
    """What a sampler makes of these triggers, period by period."""
    sampler, runs = Sampler(), dict.fromkeys(NAMES, 0)
    for i, triggers in enumerate(periods):
        at, progress, started = T0 + 2.0 * (i + 1), [], []
        for number, (name, rows, has_batch, restarts) in enumerate(triggers):
            progress.append(
                Progress(
                    id=name, run_id=f"r{runs[name]}", name=name, batch_id=number,
                    timestamp=datetime.fromtimestamp(at - 1, UTC).isoformat(),
                    num_input_rows=rows if has_batch else 0,
                    duration_ms={"triggerExecution": 900} | ({"addBatch": 800} if has_batch else {}),
                )
            )  # fmt: skip
            if restarts:  # the poll tells of it before the batches of the run that ended
                runs[name] += 1
                started.append(Started(name, f"r{runs[name]}", name))
        since, until = round(at * 1000) - 2000, round(at * 1000)
        poll = Poll(at_ms=until, since_ms=since, progress=progress, started=started)
        yield sampler.sample(poll, Cluster(name="a"))


@given(st.lists(st.lists(TRIGGERS, max_size=6), min_size=1, max_size=8), st.integers(1, 8))
@settings(max_examples=examples(12))
def test_the_rows_of_the_batches_are_the_rows_of_the_operators(periods, chunk_samples):
    with TemporaryDirectory() as folder:
        run = LiveRun.create(Path(folder), T0, chunk_samples=chunk_samples)
        written = list(reported(periods))
        for one in written:
            run.add(one)
            run.flush()
            run = LiveRun.resume(run.folder, chunk_samples=chunk_samples)
        read = read_samples(run.folder)
        assert read == written
        assert RecordedRun(run.folder).samples("a", 0, float("inf")) == written
        for name in NAMES:
            rows = [o.rows for s in read for o in s.operators if o.name == name]
            batches = [b for s in read for b in s.batches if b.operator == name]
            assert sum(b.rows for b in batches) == sum(rows)
            assert bool(rows) or not batches
        told = sum(has_batch for p in periods for name, _, has_batch, _ in p if name != "_warm")
        assert run_info(run.folder).batches == sum(len(s.batches) for s in read) == told


def test_a_run_from_before_batches_were_recorded_goes_on(tmp_path):
    run = LiveRun.create(tmp_path, T0)
    old = [sample("a", T0 + 2 * i) for i in range(1, 6)]
    for one in old:
        run.add(one)
    run.flush()
    shutil.rmtree(run.folder / "batches")
    bare = [replace(s, batches=()) for s in old]
    assert read_samples(run.folder) == bare
    assert RecordedRun(run.folder).samples("a", 0, float("inf")) == bare
    run = LiveRun.resume(run.folder)
    run.add(new := replace(old[1], at=T0 + 20))
    run.flush()
    assert read_samples(run.folder) == [*bare, new]
    assert run_info(run.folder).batches == len(new.batches) > 0
