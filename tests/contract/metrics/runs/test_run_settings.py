"""Settings are recorded alike from every store."""

from pathlib import Path

from tests.support.people import set_mode, set_settings
from weir.controllers.engine.ports import Store
from weir.controllers.model.sample import Cluster, ClusterSample, Mode
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.recorder import Recorder
from weir.metrics.runs.settings import SettingsLog

T0 = 1_700_000_000.0  # the store refuses what is dated ahead of its clock


def report(store: Store, at: float) -> None:
    store.append(ClusterSample(at=at, period_s=2.0, cluster=Cluster(name="a", executors=1)))


def test_settings_and_modes_with_their_times(store: Store, tmp_path: Path) -> None:
    report(store, T0)
    set_settings(store, "guards:a", {}, by="ada", now=T0 - 50)
    set_settings(store, "scale:a", {"scaler": "drs"}, by="ada", now=T0 - 50)
    recorder = Recorder(store, tmp_path)
    recorder.step(T0 + 1)
    report(store, T0 + 10)
    set_settings(store, "scale:a", {"scaler": "dodo"}, by="ada", now=T0 + 5)
    set_mode(store, "a", Mode.AUTO, by="ada", now=T0 + 6)
    recorder.close()
    (info,) = list_runs(tmp_path)
    log = SettingsLog.of_run(tmp_path / info.id)
    assert [(c.at - T0, c.group, c.values) for c in log.changes if not c.first] == [
        (5.0, "scale:a", {"scaler": "dodo"}),
        (10.0, "modes", {"a": "auto"}),  # the store keeps no time of it: when it was seen
    ]
    assert log.then(T0).scale("a").scaler == "drs"
    assert log.policy("a")[-1].acts
