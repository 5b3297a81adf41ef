"""What can be changed from the Scale page: the number of executors, and settings."""

from math import inf
from typing import Any

import msgspec
import pytest
from dash._utils import to_json
from msgspec.structs import replace

from tests.support.world import demo_world
from weir.components.live.control import Control
from weir.components.live.world import world_of
from weir.components.pages.scale.hand import bounds_of, latency_words, preview, read_request
from weir.components.pages.scale.render_hand import hand_card, prediction
from weir.components.pages.scale.render_settings import form_body
from weir.components.pages.scale.settings import LIMITS, form, range_text, read
from weir.controllers import service
from weir.controllers.engine.groups import check_settings
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.ports import Part
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.scaling.drs.scaler import Drs, DrsSettings
from weir.controllers.scaling.facts import Scope
from weir.controllers.scaling.registry import scalers
from weir.controllers.service import Request
from weir.metrics.store.memory_store import MemoryStore


def measured_world():
    """The demo with costs, so that the queueing model can say something."""
    world = demo_world()
    series = {
        name: [
            replace(
                s,
                operators=tuple(
                    replace(o, cost_s_per_row=o.load / o.arrival_rows_per_s, batch_rows=2)
                    for o in s.operators
                ),
            )
            for s in samples
        ]
        for name, samples in world.series.items()
    }
    world = world_of(series, at=world.at)
    scaler = Drs(DrsSettings(), Scope(cluster="narrow"))
    memory = scaler.fresh()
    for i in range(3):
        _, memory = scaler.decide(world.snapshot, memory, world.at + i)
    return replace(world, memories={"narrow": {"drs": msgspec.json.encode(memory)}})


def test_the_prediction_comes_first():
    world = measured_world()
    shown = preview(world, "narrow", 4)
    assert shown.changes
    assert shown.load_before == pytest.approx(1.2)
    assert shown.load_after == pytest.approx(0.3)
    assert 0 < shown.latency_after_s < 6.0
    assert "was asked for 2 executors and has 1" in shown.words
    assert "30 %" in to_json(prediction(shown))
    more = preview(world, "narrow", 2).latency_after_s
    assert more > shown.latency_after_s, "fewer executors are slower"
    fewer = preview(world, "narrow", 1)
    assert fewer.latency_after_s == inf
    assert "would not keep up" in latency_words(fewer)


def test_without_the_model_the_latency_is_not_known():
    shown = preview(demo_world(), "narrow", 3)
    assert shown.latency_after_s is None
    assert "not known" in latency_words(shown)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (9, "9 executors are outside the limits 1 to 4"),
        (0, "whole number"),
        ("3", "whole number"),
        (True, "whole number"),
        (None, "whole number"),
        (2.5, "whole number"),
    ],
)
def test_numbers_that_cannot_be_had(number, words):
    with pytest.raises(InvalidInput, match=words):
        preview(demo_world(), "narrow", number)


def test_limits_that_were_set_hold_on_the_page_too():
    """narrow: 2 executors asked for, at most 4; wide has 3."""
    world = demo_world()
    few = replace(world, scale_settings={"scale:narrow": {"min_executors": 2, "max_executors": 3}})
    assert (bounds_of(few, "narrow").least, bounds_of(few, "narrow").most) == (2, 3)
    with pytest.raises(InvalidInput, match="4 executors are outside the limits 2 to 3"):
        preview(few, "narrow", 4)
    total = replace(world, control=Control(settings=EngineSettings(total_executors=6)))
    assert bounds_of(total, "narrow").most == 3
    with pytest.raises(InvalidInput, match="4 executors are outside the limits 1 to 3"):
        preview(total, "narrow", 4)
    assert preview(total, "narrow", 3).changes
    full = replace(world, control=Control(settings=EngineSettings(total_executors=1)))
    assert bounds_of(full, "narrow").most == 2, "what is there may stay"
    less = replace(world, scale_settings={"scale:narrow": {"max_executors": 1}})
    assert bounds_of(less, "narrow").refusal == "", "one may still be taken away"


def test_a_cluster_without_an_agent_says_why():
    world = demo_world()
    series = {
        n: [replace(s, cluster=replace(s.cluster, can_scale=False)) for s in samples]
        for n, samples in world.series.items()
    }
    alone = world_of(series, at=world.at)
    assert "recommendations only" in bounds_of(alone, "narrow").refusal
    assert "scale-apply" not in to_json(hand_card("narrow", bounds_of(alone, "narrow")))
    with pytest.raises(InvalidInput, match="no agent"):
        preview(alone, "narrow", 2)
    with pytest.raises(NotFound):
        preview(alone, "moon", 2)
    assert bounds_of(demo_world(), "narrow").refusal == ""


def test_what_was_shown_is_what_is_asked_for():
    world = measured_world()
    asked = read_request({"id": "x", "cluster": "narrow", "executors": 4, "before": 2})
    store = MemoryStore()
    store.beat(Part(id="engine:1", kind="engine", name="leader", at=world.at))
    for name in world.series:
        store.append(world.newest(name))
    store.save_memories("narrow", world.memories["narrow"])
    request = Request(by="ada", at=world.at, id=asked.id)
    with pytest.raises(Refused, match="asked for 2 executors meanwhile"):
        service.scale(store, request, "narrow", 4, before=1)
    decision = service.scale(store, request, "narrow", 4, before=asked.before).decision
    assert (decision.before, decision.executors) == (2, 4)
    assert decision.prediction.latency_s == preview(world, "narrow", 4).latency_after_s
    for wrong in (None, {}, {"id": "x", "cluster": "narrow", "executors": "4", "before": 2}):
        with pytest.raises(InvalidInput):
            read_request(wrong)


@pytest.mark.parametrize("scaler", [*scalers(), LIMITS])
def test_every_scaler_has_a_form_whose_defaults_can_be_kept(scaler):
    shown = form(demo_world(), "narrow", scaler)
    assert to_json(form_body(shown))
    given = {f.key: f.value for f in shown.fields}
    changes = read(shown, given)
    assert set(changes) == {f.key for f in shown.fields}
    assert set(changes.values()) <= {None}, "defaults are not kept as a person's choice"
    assert all(f.help and range_text(f) for f in shown.fields)


def test_values_are_kept_as_their_group_takes_them():
    world = replace(demo_world(), scale_settings={"scale:narrow:drs": {"t_max_s": 20.0}})
    shown = form(world, "narrow", "drs")
    given = {f.key: f.value for f in shown.fields}
    assert given["t_max_s"] == 20.0
    changes = read(shown, {**given, "t_min_s": 1, "recommend_only": True, "smoothing": "alpha"})
    kept = {k: v for k, v in changes.items() if v is not None}
    assert kept == {"t_max_s": 20.0, "t_min_s": 1, "recommend_only": True, "smoothing": "alpha"}
    settings: Any = check_settings(shown.group, kept)
    assert settings.recommend_only
    assert read(shown, {**given, "t_max_s": ""})["t_max_s"] is None, "empty is the default"
    predictive = form(world, "narrow", "predictive")
    given = {f.key: f.value for f in predictive.fields} | {"inner_settings": '{"a": 1'}
    with pytest.raises(InvalidInput, match="Inner settings is written like"):
        read(predictive, given)


@pytest.mark.parametrize(
    ("scaler", "key", "value", "words"),
    [
        ("drs", "t_max_s", -1, "T max must be a number of at least 0.001 s."),
        ("drs", "window", 5000, "Window must be a whole number from 1 to 1000 periods."),
        ("drs", "t_min_s", 60, '"T min"'),
        ("qlearning", "latency_granularity_s", 99, '"Latency granularity" must not be'),
        ("qlearning", "epsilon", "much", "Epsilon must be a number from 0 to 1."),
        ("drs", "t_ra_s", inf, '"T ra": it must be a number of at most 1e+15.'),
        ("predictive", "inner", "magic", '"Inner": there is no scaler'),
        ("predictive", "inner_settings", '{"periods": 0}', '"Inner settings": periods: Expected'),
        (LIMITS, "min_executors", 7, '"Min executors" must not be above "Max executors".'),
    ],
)
def test_a_bad_value_names_its_field(scaler, key, value, words):
    shown = form(demo_world(), "narrow", scaler)
    given = {f.key: f.value for f in shown.fields} | {key: value}
    if scaler == LIMITS:
        given["max_executors"] = 4
    with pytest.raises(InvalidInput) as error:
        read(shown, given)
    assert words in str(error.value)
    assert error.value.field == key
