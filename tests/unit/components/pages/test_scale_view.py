"""The Scale page as data: what is shown is what the engine and the scalers know."""

import msgspec
import pytest
from dash._utils import to_json
from msgspec.structs import replace

from tests.support.scalers import learned, remembered
from tests.support.world import demo_world
from weir.components.live.control import Control
from weir.components.live.delta import cursor_of, delta, start
from weir.components.live.world import world_of
from weir.components.pages.registry import PAGES
from weir.components.pages.scale import chart as scale_chart
from weir.components.pages.scale import note as scale_note
from weir.components.pages.scale import render_answers
from weir.components.pages.scale import view as scale
from weir.components.pages.scale.reader import LOOKED_AT_S, ScaleReader
from weir.components.pages.scale.served import served, served_text
from weir.components.web.router import draw
from weir.controllers.engine.propose.scaling import ScaleOutlook, ScalerAnswer
from weir.controllers.engine.propose.scorecard import Score
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.decision import Grounds, NoChange, Prediction, Reason, Scale
from weir.metrics.store.memory_store import MemoryStore

WHY = Reason(
    text="The latency of 12.10 s is above 10 s.",
    rule="latency > t_max",
    numbers={"latency_s": 12.1, "t_max_s": 10.0, "arrival_rows_per_s": 1234.0, "recommended": 3.0},
)
OUT = Scale(
    cluster="narrow",
    executors=3,
    before=2,
    reason=WHY,
    prediction=Prediction(load={"narrow": 0.4}, latency_s=2.5),
)
STAY = NoChange(reason=Reason(text="Scaling is switched off.", rule="always"))
BROKEN = NoChange(
    reason=Reason(text="window: Expected `int` >= 1", rule="not usable", grounds=Grounds.UNUSABLE)
)


def outlook(at, **others):
    return ScaleOutlook(
        at=at,
        cluster="narrow",
        scaler="drs",
        answers=(
            ScalerAnswer(scaler="drs", title="DRS queueing model", decision=OUT, chosen=True),
            ScalerAnswer(scaler="no_op", title="No scaling", decision=STAY),
            ScalerAnswer(scaler="thresholds", title="Thresholds", decision=BROKEN),
        ),
        **others,
    )


def scale_world(*, age_s=1.0, wait="", sojourn=(), **others):
    world = demo_world()
    parts = {
        "scale_outlooks": {"narrow": outlook(world.at - age_s, wait=wait, sojourn=sojourn)},
        "scale_settings": {"scale:narrow": {"scaler": "drs", "max_executors": 3}},
    }
    return replace(world, **{**parts, **others})


def figures_of(world, name="narrow"):
    return scale.figures(world, world.snapshot.cluster(name))


def test_answers_stand_side_by_side():
    figures = figures_of(scale_world())
    assert figures["answer/drs/answer"].text == "2 → 3"
    assert figures["answer/drs/why"].text == "The latency of 12.10 s is above 10 s."
    assert figures["answer/drs/rule"].text == (
        "latency > t max: latency 12.1 s, t max 10 s, arrival 1,234 rows/s, recommended 3"
    )
    assert (figures["answer/drs/load"].text, figures["answer/drs/latency"].text) == (
        "40 %",
        "2.5 s",
    )
    assert figures["answer/no_op/answer"].text == "stay"
    assert figures["answer/no_op/load"].text == "–"
    assert figures["answer/thresholds/answer"].state == "bad"
    followed = {k.split("/")[1] for k, f in figures.items() if k.endswith("/followed") and f.text
                and k.startswith("answer/")}  # fmt: skip
    assert followed == {"drs"}
    assert figures["answer/qlearning/why"].text == "Not asked yet."


def test_wanted_granted_and_present_are_three_numbers():
    world = scale_world()
    assert figures_of(world)["scale/narrow/asked"].text == "2 wanted"
    cluster = replace(world.snapshot.cluster("narrow"), executors_granted=2)
    assert scale.executors_text(cluster) == "2 wanted, 2 granted, 1 present"
    chart = scale_chart.steps_chart("narrow", 5.0)
    sample = world.newest("narrow")
    assert [t.name for t in chart.traces[1:4]] == ["wanted", "granted", "present"]
    load, wanted, granted, present, latency = chart.values(sample)
    assert (wanted, granted, present, latency) == (2, None, 1, 6.0)
    assert load == pytest.approx(1.2)
    two_cores = replace(sample, cluster=replace(sample.cluster, cores_per_executor=2))
    assert chart.values(two_cores)[0] == pytest.approx(0.6), "in executors, not in cores"


def test_limits_are_the_narrower_ones():
    assert figures_of(scale_world())["scale/narrow/limits"].text == "1 to 3"
    wide = replace(scale_world(), scale_settings={"scale:narrow": {"max_executors": 99}})
    assert figures_of(wide)["scale/narrow/limits"].text == "1 to 4"
    broken = replace(wide, scale_settings={"scale:narrow": {"gone": 1}})
    assert scale.settings_of(broken, "narrow").scaler == "horizon", "unusable: the defaults"


def test_the_note_says_silent_holding_back_or_ready():
    ready = scale_note.note(scale_world(), "narrow")
    assert (ready.state, ready.answer, ready.rule) == ("ok", "2 → 3", "latency > t_max")
    assert ready.numbers[0] == scale.ReasonNumber(name="latency", value="12.1 s")
    waits = scale_note.note(scale_world(wait="the last change is to settle"), "narrow")
    assert (waits.state, waits.text) == (
        "warn", "The engine follows DRS queueing model. It holds back: the last change is to settle.",
    )  # fmt: skip
    silent = scale_note.note(scale_world(age_s=21.0), "narrow")
    assert silent.state == "bad"
    assert silent.answer == ""
    assert "has not asked the scalers" in scale_note.note(demo_world(), "narrow").text


def test_what_the_cluster_says_and_no_agent_are_in_the_note():
    world = scale_world()
    series = {
        **world.series,
        "narrow": [
            replace(s, cluster=replace(s.cluster, can_scale=False, message="1 executor is overdue"))
            for s in world.series["narrow"]
        ],
    }
    told = world_of(series, at=world.at, scale_outlooks=world.scale_outlooks)
    note = scale_note.note(told, "narrow")
    assert note.message == "1 executor is overdue"
    assert "recommendations only" in note.text
    assert note.state == "warn"


def test_the_last_decision_comes_with_its_numbers():
    found = Recommendation(
        id="r9", at=5.0, expires_at=9.0, decision=OUT, source="drs", clusters=("narrow",),
        status=Status.EFFECTIVE,
    )  # fmt: skip
    other = replace(found, id="r10", decision=replace(OUT, cluster="wide"), clusters=("wide",))
    world = scale_world(control=Control(recommendations=(other, found)))
    last = scale_note.note(world, "narrow").last
    assert (last.title, last.by, last.href) == (
        "2 → 3",
        "by DRS queueing model",
        "/recommendation/r9",
    )
    assert last.status.startswith("effective: it helped")
    assert last.numbers[1].value == "10 s"
    assert scale_note.note(scale_world(), "narrow").last is None


def test_the_model_is_compared_only_where_both_are_known():
    sojourn = (
        (1.0, None, 4.0),
        (2.0, 2.0, 4.0),
        (3.0, 3.0, 4.0),
        (4.0, 4.4, 4.0),
        (5.0, 3.0, None),
    )
    view = outlook(9.0, sojourn=sojourn)
    assert scale_chart.sojourn(view)["points"] == [
        [2000, 2.0, 4.0], [3000, 3.0, 4.0], [4000, 4.4, 4.0],
    ]  # fmt: skip
    assert scale_chart.error_share(view) == 0.25
    assert scale_chart.error_text(view) == (
        "Over the last 3 moments the model with its overhead is 25 % off what was measured "
        "(median); 67 % of the time it is too low."
    )
    assert "Only 2 moments" in scale_chart.error_text(replace(view, sojourn=sojourn[:3]))
    assert scale_chart.error_share(None) is None


def test_overhead_that_was_fitted_is_not_the_models_merit():
    memory = {"narrow": {"drs": b'{"overhead": [9.2, 9.0], "model_s": 0.25, "wanted": 2}'}}
    page = PAGES.page(scale_world(memories=memory), "/scale/narrow")
    assert (
        "9.0 s is overhead fitted to earlier measurements"
        in page.figures["scale/narrow/error"].text
    )
    assert scale_chart.fitted_text(None) == ""


def test_it_is_said_whose_target_is_which():
    aims = figures_of(scale_world())["scale/narrow/aims"].text
    assert aims == "target 5 s on the pages, 10 s for the scaler"
    set_alike = scale_world(
        scale_settings={"scale:narrow": {"scaler": "drs"}, "scale:narrow:drs": {"t_max_s": 5.0}}
    )
    aims = figures_of(set_alike)["scale/narrow/aims"].text
    assert aims == "target 5 s on the pages and for the scaler"
    without = scale_world(scale_settings={"scale:narrow": {"scaler": "no_op"}})
    assert figures_of(without)["scale/narrow/aims"].text.endswith("none for the scaler")


def test_the_last_decisions_words_are_said_to_be_of_then():
    last = scale_note.Last(
        at=5.0, title="2 → 3", status="effective", by="by DRS", why="It was late.", rule="",
        numbers=(), href="/",
    )  # fmt: skip
    shown = to_json(
        render_answers.scale_note(scale_note.ScalerNote(state="ok", text="", last=last))
    )
    assert '"data-since":5000' in shown.replace(" ", "")
    assert "Its reason then: It was late." in shown


def test_pages_for_no_one_and_unknown_clusters():
    world = scale_world()
    choice = PAGES.page(world, "/scale")
    assert choice.kind == "scale_choice"
    assert choice.figures["scale/narrow/says"].text == "2 → 3"
    assert choice.figures["scale/wide/says"].text == "–"
    said = choice.figures["scale/summary"]
    assert (
        said.text
        == "1 of 2 clusters wants another size: narrow 2 → 3. Of 1 cluster there is no fresh answer."
    )
    assert [c.cluster for c in choice.charts] == ["narrow", "wide"]
    assert choice.figures["scale/narrow/why"].text.startswith("DRS queueing model: ")
    unknown = to_json(draw(world, "/scale/moon"))
    assert "There is no cluster moon" in unknown
    assert "\\u002fscale\\u002fnarrow" in unknown
    assert PAGES.page(world_of({}, at=5.0), "/scale").kind == "empty"
    assert PAGES.page(world, "/scale/a/b").kind == "lost"


def test_the_choice_says_whether_any_scaler_wants_another_size():
    calm = ScalerAnswer(scaler="drs", title="DRS queueing model", decision=STAY, chosen=True)
    quiet = replace(outlook(4.0), answers=(calm,))
    world = scale_world()
    at = {n: replace(quiet, at=world.at, cluster=n) for n in ("narrow", "wide")}
    followed = {f"scale:{n}": {"scaler": "drs"} for n in at}
    even = replace(world, scale_outlooks=at, scale_settings=followed)
    assert scale.summary(even).text == (
        "No scaler that is followed asks for another size. Every cluster stays as it is."
    )
    silent = scale.summary(replace(world, scale_outlooks={}))
    assert (silent.state, "not at work" in silent.text) == ("bad", True)


def test_the_page_and_its_delta_can_be_sent():
    world = scale_world(memories={"narrow": remembered(learned(40))})
    assert to_json(draw(world, "/scale/narrow"))
    data, _ = start(PAGES, world, "/scale/narrow")
    assert len(data["charts"][0]["x"]) == 5
    assert data["charts"][0]["traces"][4]["right"] is True
    assert data["scale"]["curve"]["rewards"]
    message, after = delta(PAGES, world, cursor_of(data["cursor"]))
    assert to_json(message)
    again, _ = delta(PAGES, world, after)
    assert set(again) == {"now", "path", "cursor"}, "what is drawn is not sent again"
    relearned = replace(world, memories={"narrow": remembered(learned(41))})
    message, _ = delta(PAGES, relearned, after)
    assert len(message["scale"]["curve"]["rewards"]) == 40
    assert "points" not in message


def test_only_what_is_looked_at_is_read():
    store, reader = MemoryStore(), ScaleReader()
    store.save_scale_outlook(outlook(1.0))
    store.save_memories("narrow", {"drs": msgspec.json.encode({})})
    store.save_settings("scale:narrow", {"scaler": "drs"})
    store.save_settings("balance", {"moves": 3})
    assert PAGES.readers().keys() == {"scale", "cluster"}, "the tabs of no other page have it read"
    assert reader.read(store, 0.0) == {}
    assert reader.look("narrow", 2.0)
    found = reader.read(store, 2.0)
    assert set(found["scale_outlooks"]) == {"narrow"}
    assert found["memories"] == {"narrow": {"drs": b"{}"}}
    assert found["scale_settings"] == {"scale:narrow": {"scaler": "drs"}}
    assert not reader.look("narrow", 3.0), "it is there"
    assert reader.read(store, 4.0 + LOOKED_AT_S) == {}
    assert reader.look("narrow", 5.0 + LOOKED_AT_S)


def test_it_is_said_which_scaler_would_have_served_best():
    def said(*scores: Score, followed: str = "drs") -> str:
        return served_text(scores, followed)

    drs = Score(scaler="drs", judged=20, right=12)
    dodo = Score(scaler="dodo", judged=20, right=18, saved_executor_s=7200.0)
    assert said(drs, dodo) == (
        "DoDo provisioning would have served this cluster best so far: 18 of 20 times its number "
        "of executors was enough and at most one too many, with 2 executor-hours fewer than there "
        "were; DRS queueing model, which the engine follows: 12 of 20 times."
    )
    assert said(drs, dodo, followed="dodo").endswith("It is the one that the engine follows.")
    even = replace(dodo, right=12)
    assert "as often as DRS queueing model" in said(drs, even), "cheaper breaks the tie"
    few = replace(dodo, judged=4)
    assert "is not known yet" in said(few)
    assert "takes 5 comparisons to say anything; there are 4 so far" in said(few)
    assert "there are none so far" in served(demo_world(), "narrow")
