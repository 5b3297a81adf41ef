"""The settings page as data: every group, in words, and what a person changed."""

import pytest
from dash._utils import to_json

from tests.support.people import set_settings
from tests.support.world import demo_world
from weir.components.pages.scale.settings import field_of, range_text, value_of
from weir.components.pages.settings import view
from weir.components.pages.settings.actions import sections
from weir.components.pages.settings.render import hits, settings_body
from weir.components.web.router import draw
from weir.components.web.security import NOBODY, Person, Role, acting_as
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.groups import check_settings, groups
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import describe
from weir.metrics.store.memory_store import MemoryStore


def section(group, kept=None, cluster="", **more):
    found = view.sections(cluster, {group: kept or {}}, **{"changed": {}, **more})
    return next(s for s in found if s.group == group)


def test_every_group_has_a_form_and_can_be_drawn():
    general = view.sections("", {}, {})
    own = view.sections("wide", {}, {})
    assert {s.group for s in (*general, *own)} == {g.name for g in groups(["wide"])}
    assert to_json(settings_body(general))
    assert to_json(settings_body(own))
    for path in ("/settings", "/settings/wide", "/audit"):
        assert to_json(draw(demo_world(), path))
    for one in (*general, *own):
        for field in one.fields:
            assert field.help, f"{one.group}.{field.key} says what it is for"


def test_only_the_scaler_that_is_followed_is_unfolded():
    own = view.sections("wide", {"scale:wide": {"scaler": "drs"}}, {})
    assert not next(s for s in own if s.group == "scale:wide:drs").folded
    assert next(s for s in own if s.group == "scale:wide:rate_based").folded
    assert not next(s for s in own if s.group == "guards:wide").folded


def test_names_are_chosen_and_pausing_has_its_own_switch():
    scaler = next(f for f in section("scale:wide", cluster="wide").fields if f.key == "scaler")
    assert scaler.kind == "choice"
    assert "drs" in scaler.choices
    assert "paused" not in {f.key for f in section("engine").fields}


def test_only_what_a_person_changed_is_kept():
    found = section("engine", {"ttl_s": 120.0})
    shown = view.values(found)
    assert view.changes(found, shown, shown) == {}
    given = {**shown, "ttl_s": 300.0, "settle_s": 90}
    assert view.changes(found, given, shown) == {"ttl_s": None, "settle_s": 90}


def test_what_somebody_else_changed_meanwhile_stays():
    drawn = view.values(section("engine"))
    now = section("engine", {"settle_s": 90.0})  # grace changed it after ada's page was drawn
    assert view.changes(now, {**drawn, "ttl_s": 60}, drawn) == {"ttl_s": 60}


def test_errors_name_the_field():
    found = section("engine")
    changes = view.changes(found, {"ttl_s": 2}, view.values(found))
    with pytest.raises(InvalidInput) as caught:
        check_settings("engine", changes)
    said = view.explain_error(found, caught.value)
    assert said.field == "ttl_s"
    assert str(said) == "Time to decide must be a number of at least 10 s."


def test_who_changed_what_last():
    trail = [
        AuditEntry(at=9.0, by="grace", action="settings.changed", subject="engine",
                   before={"ttl_s": 60}),
        AuditEntry(at=5.0, by="ada", action="settings.changed", subject="engine",
                   before={"ttl_s": 300, "settle_s": 60}),
        AuditEntry(at=4.0, by="eve", action="mode.changed", subject="engine", before={"x": 1}),
    ]  # fmt: skip
    found = section("engine", changed={"engine": ("grace", 9.0)}, trail=trail)
    assert (found.changes["ttl_s"].by, found.changes["settle_s"].by) == ("grace", "ada")
    assert found.changed.by == "grace"
    assert "last changed by grace" in to_json(settings_body([found]))


def test_values_that_no_longer_fit_are_said():
    found = section("engine", {"ttl_s": -5})
    assert "does not fit" in found.error
    assert "does not fit" in to_json(settings_body([found]))


def test_only_who_may_change_a_secret_sees_it():
    url = "https://hook.example/key-1234"
    store = MemoryStore()
    set_settings(store, "engine", {"webhook_url": url}, by="ada", now=1.0)
    try:
        for role in Role:
            acting_as(Person(name=role, role=role))
            drawn = to_json(settings_body(sections(store, "")))
            assert ("key-1234" in drawn) is (role is Role.ADMIN)
            assert "does not fit" not in drawn
        acting_as(Person(name="viewer", role=Role.VIEWER))
        field = next(f for s in sections(store, "") for f in s.fields if f.key == "webhook_url")
        assert field.value == "set"
    finally:
        acting_as(NOBODY)
    assert "key-1234" not in str(store.audit())


def test_search_looks_at_names_help_groups_and_clusters():
    found = view.search(["wide", "narrow"], "hours narrow")
    assert found
    assert {h.cluster for h in found} == {"narrow"}
    assert {h.key for h in found} >= {"hours", "excluded_hours"}
    assert view.search(["wide"], "  ") == []
    assert "No setting has these words" in to_json(hits(view.search(["wide"], "xyzzy")))
    assert to_json(hits(view.search(["wide"], "e")))


def test_defaults_come_as_their_control_shows_them():
    assert view.default_of("engine", "ttl_s") == 300.0
    assert view.default_of("criteria:wide", "scale_out") is True


def test_a_load_is_shown_in_per_cent_as_on_all_pages_and_kept_as_it_was():
    info = next(i for i in describe(EngineSettings) if i.key == "drift_load")
    field = field_of(info, {"drift_load": 0.57})
    assert (field.value, field.default, field.unit) == (57.0, 100 * info.default, "%")
    assert value_of(field, 57.0) == 0.57
    assert value_of(field, "") == info.default
    assert "load per core" not in field.help + range_text(field)
