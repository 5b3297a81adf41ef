"""Rolling up: every period once, also after the engine was away."""

from weir.controllers.engine.ports import Tier
from weir.controllers.engine.tiers import ends_due, roll_up
from weir.controllers.engine.window import SampleWindow
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.metrics.store.memory_store import MemoryStore


def fill(store: MemoryStore, first: int, last: int) -> None:
    for at in range(first, last + 1, 2):
        store.append(
            ClusterSample(
                at=float(at),
                period_s=2.0,
                cluster=Cluster(name="a"),
                operators=(OperatorSample(name="x", cluster="a", rows=1, load=float(at)),),
            )
        )


def test_nothing_is_due_before_a_period_is_over() -> None:
    assert ends_due(60.0, 119.0, Tier.MINUTE) == []
    assert ends_due(60.0, 120.0, Tier.MINUTE) == [120.0]


def test_a_minute_holds_the_samples_that_ended_in_it() -> None:
    store = MemoryStore()
    fill(store, 1_000_002, 1_000_130)  # 1,000,020 and 1,000,080 end a minute
    assert roll_up(store, 1_000_131.0) == 2
    minutes = store.samples("a", 0, 2e9, Tier.MINUTE)
    assert [(s.at, s.operators[0].rows) for s in minutes] == [(1_000_020.0, 10), (1_000_080.0, 30)]


def test_doing_it_again_changes_nothing_and_gaps_are_caught_up() -> None:
    store = MemoryStore()
    fill(store, 1_000_002, 1_000_084)
    assert roll_up(store, 1_000_086.0) == 2
    assert roll_up(store, 1_000_087.0) == 0
    fill(store, 1_000_086, 1_000_330)
    assert roll_up(store, 1_000_330.0) == 4


def test_quarters_come_from_minutes() -> None:
    store = MemoryStore()
    for start in range(999_900, 1_001_700, 300):
        fill(store, start + 2, start + 300)
        roll_up(store, start + 305.0)
    quarters = store.samples("a", 0, 2e9, Tier.QUARTER)
    assert [s.at for s in quarters] == [1_000_800.0, 1_001_700.0]
    assert [s.operators[0].rows for s in quarters] == [450, 450]


def test_who_keeps_the_ends_reads_nothing_until_the_next_period_is_over() -> None:
    class Counting(MemoryStore):
        reads = 0

        def samples(
            self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
        ) -> list[ClusterSample]:
            self.reads += 1
            return super().samples(cluster, since, until, tier)

    store, ends = Counting(), dict[tuple[str, Tier], float | None]()
    fill(store, 1_000_002, 1_000_084)
    assert roll_up(store, 1_000_086.0, ends=ends) == 2
    before = store.reads
    fill(store, 1_000_086, 1_000_134)
    assert roll_up(store, 1_000_130.0, ends=ends) == 0
    # Quarters and hours have not begun: only what has no end yet is looked for.
    assert ("a", Tier.MINUTE) in ends
    assert store.reads == before
    fill(store, 1_000_136, 1_000_150)
    assert roll_up(store, 1_000_150.0, ends=ends) == 1
    assert [s.at for s in store.samples("a", 0, 2e9, Tier.MINUTE)][-1] == 1_000_140.0


def test_what_is_in_memory_is_not_read_again() -> None:
    class Counting(MemoryStore):
        reads = 0

        def samples(
            self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
        ) -> list[ClusterSample]:
            self.reads += tier is Tier.FULL
            return super().samples(cluster, since, until, tier)

    store, plain, window = Counting(), MemoryStore(), SampleWindow()
    ends = dict[tuple[str, Tier], float | None]()
    for at in range(1_000_002, 1_000_400, 2):
        fill(store, at, at)
        fill(plain, at, at)
        window.refresh(store, store.latest(), at - 120.0)
        if at == 1_000_030:
            roll_up(store, at, ends=ends, recent=window)
            before = store.reads
        elif at > 1_000_030 and at % 10 == 0:
            roll_up(store, at, ends=ends, recent=window)
    assert store.reads == before
    roll_up(plain, 1_000_398.0)
    minutes = store.samples("a", 0, 2e9, Tier.MINUTE)
    assert minutes == plain.samples("a", 0, 2e9, Tier.MINUTE)
    assert len(minutes) > 5


def test_samples_that_came_together_are_all_read() -> None:
    store, window = MemoryStore(), SampleWindow()
    fill(store, 1_000_002, 1_000_010)
    window.refresh(store, store.latest(), 1_000_000.0)
    fill(store, 1_000_012, 1_000_020)
    seen = window.refresh(store, store.latest(), 1_000_000.0)["a"]
    assert [s.at for s in seen] == [float(at) for at in range(1_000_002, 1_000_021, 2)]
