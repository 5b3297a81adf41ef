"""Operators and generators are told under the same rules as everything else."""

import pytest

from tests.support.people import set_rate, tell_operator
from weir.commands import control
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.ports import Workload
from weir.controllers.model.command import CommandResult, CommandStatus
from weir.controllers.model.errors import InvalidInput, Refused
from weir.controllers.model.placement import Placement
from weir.controllers.model.profile import Profile, profile_rate
from weir.controllers.service.operating import COMMAND_LIVES_S
from weir.metrics.store.memory_store import MemoryStore

RATE = Workload(name="tweets", rows_per_s=100.0)
WHO = {"by": "ada", "now": 5.0, "address": "10.0.0.7"}


@pytest.fixture
def store():
    found = MemoryStore()
    found.place(Placement(operator="top_n", cluster="narrow"))
    found.set_workload(RATE)
    return found


def stop(store, id="1", verb="stop", operator="top_n", **more):
    return tell_operator(store, verb, operator, id=id, **WHO, **more)


def test_it_is_said_with_what_is_done(store):
    command = stop(store, comment="too loud")
    assert store.open_commands("narrow") == [command]
    assert (command.by, command.expires_at, command.fence) == ("ada", 5.0 + COMMAND_LIVES_S, None)
    entry = store.audit(1)[0]
    assert (entry.by, entry.action, entry.subject) == ("ada", "operator.stop", "top_n")
    assert (entry.why, entry.address, entry.detail) == (
        "too loud", "10.0.0.7", "narrow: stop top_n",
    )  # fmt: skip


def test_the_same_id_is_one_command_and_nothing_else(store):
    assert stop(store) == stop(store)
    assert len(store.audit()) == len(store.open_commands("narrow")) == 1
    with pytest.raises(Refused, match="Something else was asked for under this id"):
        stop(store, verb="start")
    with pytest.raises(Refused, match="Something else"):
        stop(store, operator="extractor")


def test_a_comment_is_required_where_one_is(store):
    store.save_settings(ENGINE, {"comment_required": True})
    with pytest.raises(InvalidInput, match="Say why"):
        stop(store, comment="  ")
    with pytest.raises(InvalidInput, match="Say why"):
        set_rate(store, "tweets", paused=True, **WHO)
    assert store.open_commands("narrow") == []
    assert store.audit() == []
    assert list(store.workloads()) == [RATE]
    stop(store, comment="too loud")
    set_rate(store, "tweets", paused=True, comment="too loud", **WHO)
    assert [e.why for e in store.audit()] == ["too loud", "too loud"]


def test_with_four_eyes_nobody_tells_an_operator_alone(store):
    store.save_settings(ENGINE, {"four_eyes": True})
    with pytest.raises(Refused, match="nobody can stop an operator alone"):
        stop(store)
    assert store.open_commands("narrow") == []
    assert store.audit() == []


def test_a_rate_is_audited_with_what_it_was(store):
    set_rate(store, "tweets", 100.0, **WHO)
    assert store.audit() == []
    set_rate(store, "tweets", 250.0, **WHO)
    entry = store.audit(1)[0]
    assert (entry.action, entry.subject, entry.detail) == (
        "workload.changed", "tweets", "250 rows/s",
    )  # fmt: skip
    assert entry.before == {"rows_per_s": 100.0, "paused": False}
    assert store.workloads()[0].rows_per_s == 250.0


def test_a_skew_and_a_profile_are_audited_with_what_they_were(store):
    set_rate(store, "tweets", skew=1.5, profile={"kind": "step", "to_rows_per_s": 900}, **WHO)
    entry = store.audit(1)[0]
    assert entry.detail == "100 rows/s, a step to 900 rows/s after 60 s, skew 1.5"
    assert entry.before == {
        "rows_per_s": 100.0, "paused": False, "skew": None, "profile": "constant",
    }  # fmt: skip
    set_rate(store, "tweets", 250.0, **WHO)
    found = store.workloads()[0]
    assert (found.rows_per_s, found.profile, found.skew) == (250.0, Profile(), 1.5)


def test_a_trace_is_kept_as_its_shape(store):
    csv = "time,rate\n0,10\n60,30\n120,20\n"
    set_rate(store, "tweets", profile={"kind": "trace", "trace": csv, "speed_up": 60}, **WHO)
    profile = store.workloads()[0].profile
    assert (profile.points, profile.point_s) == ((0.5, 1.5, 1.0), 60.0)
    assert [profile_rate(100, profile, s) for s in (0.5, 1.5, 2.5, 3.5)] == [50, 150, 100, 50]
    long = "".join(f"{i},{1 + i % 2}\n" for i in range(4000))
    set_rate(store, "tweets", profile={"kind": "trace", "trace": "time,rate\n" + long}, **WHO)
    profile = store.workloads()[0].profile
    assert len(profile.points) == 1000
    assert profile.point_s == 4
    assert profile.points == pytest.approx([1.0] * 1000)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"skew": -1}, "from 0"),
        ({"profile": {"kind": "magic"}}, "kind"),
        ({"profile": {"kind": "burst", "over_s": 5, "lasts_s": 5}}, "shorter than its cycle"),
        ({"profile": {"kind": "trace"}}, "needs a CSV"),
        ({"profile": {"kind": "trace", "trace": "time,rate\n0,-1\n"}}, "rate of -1"),
        ({"profile": {"kind": "ramp", "trace": "x"}}, "for the profile 'trace'"),
        ({"profile": {"points": [1]}}, "the trace itself"),
    ],
)
def test_what_no_generator_can_do_is_refused(store, asked, said):
    with pytest.raises(InvalidInput, match=said):
        set_rate(store, "tweets", **asked, **WHO)
    assert list(store.workloads()) == [RATE]


# -- the same from the terminal


class Obeying(MemoryStore):
    """Every command is done as soon as it is given."""

    def submit(self, command, audit=None):
        super().submit(command, audit)
        self.report(CommandResult(id=command.id, status=CommandStatus.DONE, at=1.0))


def test_the_terminal_follows_the_same_rules():
    store = Obeying()
    store.place(Placement(operator="top_n", cluster="narrow"))
    store.set_workload(RATE)
    assert control.operator(store, "restart", "top_n").status is CommandStatus.DONE
    control.rate(store, 250.0, None, None)
    store.save_settings(ENGINE, {"comment_required": True})
    for act in (
        lambda **more: control.operator(store, "stop", "top_n", **more),
        lambda **more: control.rate(store, 300.0, None, None, **more),
    ):
        with pytest.raises(InvalidInput, match="Say why"):
            act()
        act(comment="too loud")
    said = [(e.action, e.why) for e in reversed(store.audit())]
    assert said == [
        ("operator.restart", ""), ("workload.changed", ""),
        ("operator.stop", "too loud"), ("workload.changed", "too loud"),
    ]  # fmt: skip
    assert all(e.by.startswith("command line: ") for e in store.audit())
    store.save_settings(ENGINE, {"four_eyes": True})
    with pytest.raises(Refused, match="nobody can start an operator alone"):
        control.operator(store, "start", "top_n", "because")
