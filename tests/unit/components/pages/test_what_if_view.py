"""What another policy would have done, as its page shows it."""

import pytest
from msgspec.structs import replace

from tests.unit.metrics.runs.history_world import T0, demo_run
from weir.components.pages.replay import child as replay_child
from weir.components.pages.what_if import child as history_child
from weir.components.pages.what_if.actions import policies_of, target_of
from weir.components.pages.what_if.child import Policy
from weir.components.pages.what_if.view import conclusion, plots, rows, trust
from weir.components.ui.text import share
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Mode
from weir.controllers.simulator import InForce
from weir.metrics.runs.library import list_runs


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return demo_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def answer(root):
    replay_child.begin(str(root))
    policies = (
        Policy(label="Fixed, own settings", scaler="fixed", settings={"executors": 2}),
        Policy(label="Nothing", scaler="no_op"),
    )
    return history_child.what_if_of(list_runs(root)[0].id, "wide", 5.0, policies)


def test_what_if_shows_trust_then_measured_then_simulated(answer):
    assert trust(answer).state in ("ok", "warn", "bad")
    assert [name for name, _ in trust(answer).figures] == [
        "Latency", "Queue", "Executors as asked for then",
    ]  # fmt: skip
    table = rows(answer)
    assert [(r.label, r.simulated) for r in table] == [
        ("What was done", False), ("What was done", True), ("Fixed, own settings", True),
        ("Nothing", True),
    ]  # fmt: skip
    assert all(r.note.startswith("simulated") for r in table[1:])
    measured = [
        s.cluster.executors
        for s in replay_child.run_of(list_runs(replay_child._library[0].root)[0].id).samples(
            "wide", 0, float("inf")
        )
    ]
    latency, executors = plots(answer)[:2]
    assert executors["lines"][0]["y"] == [float(n) for n in measured]
    assert executors["lines"][2]["y"][-1] == 2.0
    first = latency["lines"][1]
    assert first["low"] is not None
    assert all(lo <= y <= hi for lo, y, hi in zip(first["low"], first["y"], first["high"],
                                                  strict=True) if y is not None)  # fmt: skip


def test_a_policy_that_nobody_could_judge_has_no_band_of_executors(answer):
    _, done, fixed, nothing = rows(answer)
    assert "no band" not in done.note
    for row in (fixed, nothing):
        assert row.note.endswith("; executor-hours: no band")
    executors = plots(answer)[1]
    assert executors["lines"][1]["low"] is not None  # what was done, simulated
    assert executors["lines"][2]["low"] is None
    assert "were not recorded" in trust(answer).words
    assert trust(answer).words.endswith("executors of other policies have no band.")


def test_a_policy_is_trusted_as_far_as_the_recorded_one_deciding_anew(answer):
    off = replace(answer.errors, executors=0.25)
    policy = (InForce(since=T0, scaler="fixed", mode=Mode.AUTO, acts=True),)
    one = answer.others[0]
    hours = one.summary.executor_hours
    band = replace(one.band, executors=0.25, executor_hours=(hours * 0.75, hours * 1.25))
    judged = replace(answer, policy=policy, policy_errors=off, others=(replace(one, band=band),))
    assert "; executor-hours between " in rows(judged)[2].note
    assert trust(judged).figures[-1] == ("Executors, deciding anew", share(0.25))
    assert f"{share(0.25)} in executors, which is the band" in trust(judged).words


def test_a_fit_is_not_called_a_proof(answer):
    short = replace(answer, errors=None, fit_errors=replace(answer.errors, latency=0.01))
    found = trust(short)
    assert (found.state, "fitted on" in found.title) == ("warn", True)
    assert "too short to be split" in found.words
    assert "well" in trust(replace(answer, errors=replace(answer.errors, latency=0.01))).title


def test_a_median_that_fits_does_not_excuse_the_slow_end(answer):
    good = replace(answer, errors=replace(answer.errors, latency=0.01))
    assert trust(good).state == "ok"
    done = good.replayed.summary
    late = replace(done, latency_p95_s=2.0 * done.latency_p95_s)
    found = trust(replace(good, replayed=replace(good.replayed, summary=late)))
    assert found.state == "bad"
    assert "95th percentile of the latency was" in found.words
    over = replace(done, share_over_target=done.share_over_target + 0.18)
    assert trust(replace(good, replayed=replace(good.replayed, summary=over))).state == "bad"


def test_it_ends_with_an_answer_in_one_sentence(answer):
    said = conclusion(answer)
    assert said.endswith(".")
    assert share(answer.others[0].summary.share_over_target) in said
    assert conclusion(replace(answer, others=())) == "No other policy was asked about."


def test_a_policy_that_is_worse_is_no_answer(answer):
    done = answer.replayed.summary
    dear = replace(done, executor_hours=done.executor_hours + 1.0)
    worse = replace(answer.others[0], summary=dear)
    said = conclusion(replace(answer, others=(worse,)))
    assert said.startswith("No other policy would have done better")
    cheap = replace(done, executor_hours=done.executor_hours / 2)
    assert "instead of" in conclusion(replace(answer, others=(replace(worse, summary=cheap),)))


def test_policies_are_checked_before_anything_runs():
    assert [p.label for p in policies_of(["thresholds"], "", {})] == ["Thresholds"]
    own = policies_of([], "fixed", {"executors": 7})[0]
    assert (own.scaler, own.settings) == ("fixed", {"executors": 7})
    with pytest.raises(InvalidInput):
        policies_of([], "fixed", {"executors": "many"})
    with pytest.raises(InvalidInput):
        policies_of(["nobody"], "", {})
    for target in (0, -1, None, "x", 1e9):
        with pytest.raises(InvalidInput):
            target_of(target)
