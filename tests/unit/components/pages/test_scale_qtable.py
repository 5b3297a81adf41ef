"""The Q-table on the page equals the memory, whatever that is."""

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.scalers import learned, remembered
from tests.support.world import demo_world
from weir.components.pages.scale import qtable
from weir.components.pages.scale.qtable import heatmap, learner
from weir.controllers import service
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build
from weir.controllers.scaling.qlearning.memory import QMemory, fresh_memory
from weir.controllers.scaling.qlearning.settings import ExplorationPolicy, Initialisation, QSettings
from weir.controllers.scaling.qlearning.states import RISKS, Action, StateSpace, risk_text
from weir.controllers.service import Request
from weir.metrics.store.memory_store import MemoryStore

MEMORY = learned(60)


def world_with(memory=MEMORY, settings=None):
    world = demo_world()
    return replace(
        world,
        memories={"narrow": remembered(memory)} if memory else {},
        scale_settings={"scale:narrow:qlearning": settings or {}},
    )


def shown(memory=MEMORY, settings=None):
    return learner(world_with(memory, settings), "narrow")


def test_the_heatmap_is_the_memory():
    drawn = heatmap(shown())
    first = 2 * drawn["first"]
    here = slice(first, first + 10)  # the latency bins at the present level of risk
    assert first <= MEMORY.last.state < first + 10
    assert drawn["values"] == [[round(v, 4) for v in row] for row in MEMORY.table.values[here]]
    assert drawn["visits"] == [list(v) for v in MEMORY.table.visits[here]]
    assert drawn["priors"] == [
        [round(v, 4) for v in row] for row in fresh_memory(QSettings()).table.values[here]
    ]
    assert drawn["present"] == MEMORY.last.state
    assert (drawn["bins"][0], drawn["allBins"]) == ("0–15 s", 5 * RISKS)
    assert drawn["bins"][-1] == "over 60 s"
    assert len(drawn["trail"]) == qtable.TRAIL_SHOWN
    last = MEMORY.trail[-1]
    assert drawn["trail"][-1][1:3] == [last.state, last.action]
    assert drawn["trail"][-1][4] == last.following == drawn["present"], "the trail ends there"
    for row, best in zip(drawn["values"], drawn["best"], strict=True):
        assert row[best] == max(row)
    begun = sum(map(sum, fresh_memory(QSettings()).table.visits))
    assert sum(map(sum, MEMORY.table.visits)) == begun + len(MEMORY.rewards)


def test_the_last_decision_says_the_risk():
    assert risk_text(StateSpace.of(QSettings()).at(MEMORY.last.state).risk) in (
        qtable.last_decision(shown())
    )
    plain = QSettings(initialisation_mode=Initialisation.OPTIMISED)
    memory = learned(60, settings=plain)
    said = qtable.last_decision(shown(memory, {"initialisation_mode": "optimised"}))
    assert "jumps" not in said


def test_among_equals_nothing_is_done():
    zero = fresh_memory(QSettings(initialisation_mode=Initialisation.ZERO))
    assert set(heatmap(shown(zero, {"initialisation_mode": "zero"}))["best"]) == {int(Action.NONE)}


def test_a_memory_of_other_bins_or_none_counts_as_fresh():
    for found in (shown(None), shown(MEMORY, {"latency_granularity_s": 5})):
        assert not found.known
        assert heatmap(found)["present"] is None
        assert qtable.last_decision(found) == "Nothing was decided yet."
    broken = replace(world_with(), memories={"narrow": {"qlearning": b'{"table": 3}'}})
    assert not learner(broken, "narrow").known
    unusable = world_with(MEMORY, {"epsilon": 7})
    assert learner(unusable, "narrow").settings == QSettings()


def test_many_bins_are_shown_around_the_present_state():
    settings = {"latency_granularity_s": 0.5, "initialisation_mode": "optimised"}
    memory = fresh_memory(build(QSettings, settings))
    step = replace(MEMORY.last, state=150)
    drawn = heatmap(shown(replace(memory, last=step), settings))
    assert (drawn["allBins"], drawn["first"], len(drawn["bins"])) == (121, 45, qtable.MOST_BINS)
    assert len(drawn["values"]) == 2 * qtable.MOST_BINS
    top = heatmap(shown(replace(memory, last=replace(step, state=241)), settings))
    assert top["first"] + qtable.MOST_BINS == 121
    assert top["bins"][-1] == "over 60 s"


def test_the_curve_has_every_reward_and_its_running_mean():
    curve = qtable.curve(shown())
    assert curve["rewards"] == [round(r, 3) for r in MEMORY.rewards]
    assert curve["mean"][0] == curve["rewards"][0]
    tail = MEMORY.rewards[-qtable.MEAN_OVER :]
    assert curve["mean"][-1] == pytest.approx(sum(tail) / len(tail), abs=1e-3)
    assert curve["before"] == 0
    cut = replace(MEMORY, rewards=MEMORY.rewards[-10:])
    assert qtable.curve(shown(cut))["before"] == len(MEMORY.rewards) - 10


def test_the_last_decision_names_its_numbers():
    """Those of the choice, whatever the table has learned of the state since."""
    row = (0.25, -0.5, 0.75)
    for last, words in (
        ({"action": Action.OUT}, "scaling out is worth most ("),
        ({"action": Action.NONE, "by_chance": True}, "no action was tried by chance ("),
        ({"action": Action.IN}, "scaling in is worth most of what is left: “scaling out” is ruled"),
    ):
        memory = replace(MEMORY, last=replace(MEMORY.last, row=row, **last))
        said = qtable.last_decision(shown(memory))
        assert words in said
        assert "(scaling in 0.25, no action −0.50, scaling out 0.75)" in said
    first = replace(MEMORY, last=replace(MEMORY.last, row=None))
    assert "so nothing was chosen" in qtable.last_decision(shown(first))
    assert MEMORY.last.row is not None, "a decision keeps the row that it was made by"


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (ExplorationPolicy.GREEDY, "chance chooses nothing"),
        (ExplorationPolicy.EPSILON, "Chance chooses 25 % of the actions."),
        (
            ExplorationPolicy.DECREASING_EPSILON,
            "12 % of the actions, 0.01 less after each decision",
        ),
    ],
)
def test_epsilon_is_explained(policy, words):
    memory = replace(MEMORY, epsilon=0.125, epsilon_set=0.25)
    found = shown(memory, {"policy": policy.value, "epsilon": 0.25})
    assert words in qtable.epsilon_text(found)


def importing(memory=None, settings=None):
    """A store whose cluster has learned that, and the verb that brings a file there."""
    store = MemoryStore()
    store.append(demo_world().newest("narrow"))
    store.save_settings("scale:narrow:qlearning", settings or {})
    if memory is not None:
        store.save_memories("narrow", remembered(memory))
    request = Request(by="ada", at=1.0)
    return store, lambda file: service.import_qtable(store, request, "narrow", file)


def test_a_file_comes_back_as_it_left():
    changed = fresh_memory(QSettings())
    store, bring = importing(changed)
    assert bring(qtable.export_learner(shown())) == MEMORY.table
    back = msgspec.json.decode(store.memories("narrow")["qlearning"], type=QMemory)
    assert back.table == MEMORY.table
    assert (back.trail, back.rewards, back.last, back.sampling_since) == ((), (), None, None)
    assert back.epsilon == changed.epsilon


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "cannot be read"),
        (qtable.export_learner(shown(None, {"latency_granularity_s": 5})), "1248 states of 5 s"),
        (b'{"width_s": 10, "values": [], "visits": []}', "0 states of 10 s"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(file, words):
    store, bring = importing(MEMORY)
    before = store.memories("narrow")
    with pytest.raises(InvalidInput, match=words):
        bring(file)
    assert (store.memories("narrow"), store.audit()) == (before, [])


def test_a_reset_says_what_is_lost():
    said = qtable.loss_text(shown(), "narrow")
    assert f"{len(MEMORY.rewards)} rewards" in said
    assert "cannot be undone" in said
    assert msgspec.json.decode(qtable.export_learner(shown()))["width_s"] == 15.0
    assert f"{len(MEMORY.rewards)} visits" in said, "those of the training are not lost"
