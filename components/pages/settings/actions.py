"""What the buttons of the settings page do. By HTTP, like all buttons."""

import asyncio
from typing import Any

import redis
from dash import ALL, Dash, Input, Output, State, ctx, no_update
from dash.development.base_component import Component

from weir.components.live.hub import Hub
from weir.components.pages.settings import ids as settings_ids
from weir.components.pages.settings import view
from weir.components.pages.settings.render import changed_text, hits, settings_body
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.clicks import AWAY, only_clicks
from weir.components.ui.dialog import toast
from weir.components.ui.path import SETTINGS
from weir.components.ui.states import missing
from weir.components.ui.text import plural, sentence
from weir.components.web.security import Role, current_user, require
from weir.controllers import service
from weir.controllers.engine.groups import groups
from weir.controllers.engine.ports import Store
from weir.controllers.model.errors import InvalidInput, NotFound, WeirError

_FAILURES = (redis.exceptions.RedisError, OSError)
TRAIL = 500


def register(app: Dash, hub: Hub) -> None:
    """Load, save, defaults and search."""
    _register_load(app, hub)
    _register_save(app, hub)
    _register_default(app, hub)


def _register_load(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(settings_ids.SETTINGS_BODY, "children"), Input(settings_ids.SETTINGS_SCOPE, "data")
    )
    @require(Role.VIEWER)
    async def load(cluster: Any) -> Component:
        try:
            known = await asyncio.to_thread(hub.store.clusters)
            if cluster and cluster not in known:
                return missing(
                    f"There is no cluster {cluster}", "Nobody reports it.", SETTINGS, "All settings"
                )
            return settings_body(await asyncio.to_thread(sections, hub.store, str(cluster or "")))
        except _FAILURES:
            return missing("Redis cannot be reached", AWAY, SETTINGS, "Try again")

    @app.callback(
        Output(settings_ids.SETTINGS_HITS, "children"),
        Input(settings_ids.SETTINGS_SEARCH, "value"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def search(words: Any) -> Any:
        text = str(words or "").strip()
        if not text:
            return None
        clusters = [c.name for c in hub.world().snapshot.clusters]
        return hits(await asyncio.to_thread(view.search, clusters, text))


def _register_save(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(settings_ids.setting(ALL, ALL), "error"),
        Output(settings_ids.settings_part("error", ALL), "children"),
        Output(settings_ids.settings_part("changed", ALL), "children"),
        Output(settings_ids.SETTINGS_SHOWN, "data"),
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(settings_ids.settings_save(ALL), "n_clicks"),
        State(settings_ids.setting(ALL, ALL), "value"),
        State(settings_ids.setting(ALL, ALL), "id"),
        State(settings_ids.setting_switch(ALL, ALL), "checked"),
        State(settings_ids.setting_switch(ALL, ALL), "id"),
        State(settings_ids.settings_part("error", ALL), "id"),
        State(settings_ids.SETTINGS_SHOWN, "data"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def save(
        _clicks: Any, values: list[Any], fields: list[dict[str, str]], checked: list[Any],
        switches: list[dict[str, str]], parts: list[dict[str, str]], shown: Any,
    ) -> Any:  # fmt: skip
        only_clicks()
        group = ctx.triggered_id["group"]
        given = {f["key"]: v for f, v in zip(fields, values, strict=True) if f["group"] == group}
        given |= {
            f["key"]: bool(v) for f, v in zip(switches, checked, strict=True) if f["group"] == group
        }

        def answer(field: str, error: str, changed: Any, kept: Any, note: Any) -> Any:
            at_field = [
                error
                if f == settings_ids.setting(field, group)
                else no_update
                if f["group"] != group
                else ""
                for f in fields
            ]
            beside = [error if p["group"] == group else no_update for p in parts]
            times = [changed if p["group"] == group else no_update for p in parts]
            return at_field, beside, times, kept, note

        try:
            done = await asyncio.to_thread(
                _save,
                hub.store,
                group,
                given,
                shown.get(group) if isinstance(shown, dict) else None,
            )
        except InvalidInput as error:
            said = sentence(str(error))
            return answer(error.field or "", said, no_update, no_update, toast(said, "bad"))
        except WeirError as error:
            said = sentence(str(error))
            return answer("", said, no_update, no_update, toast(said, "bad"))
        except _FAILURES:
            return answer("", AWAY, no_update, no_update, toast(AWAY, "bad"))
        section, count = done
        await hub.refresh()
        note = f"Saved {plural(count, 'change')}." if count else "Nothing was changed."
        return answer(
            "",
            "",
            changed_text(section.changed),
            {**(shown or {}), group: view.values(section)},
            toast(note),
        )


def _register_default(app: Dash, hub: Hub) -> None:
    del hub

    @app.callback(
        Output(settings_ids.setting(ALL, ALL), "value"),
        Output(settings_ids.setting_switch(ALL, ALL), "checked"),
        Input(settings_ids.setting_default(ALL, ALL), "n_clicks"),
        State(settings_ids.setting(ALL, ALL), "id"),
        State(settings_ids.setting_switch(ALL, ALL), "id"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def default(
        _clicks: Any, fields: list[dict[str, str]], switches: list[dict[str, str]]
    ) -> Any:
        """Into the field only; it holds once it is saved."""
        only_clicks()
        group, key = ctx.triggered_id["group"], ctx.triggered_id["key"]
        value = view.default_of(group, key)

        def put(names: list[dict[str, str]]) -> list[Any]:
            return [value if (n["group"], n["key"]) == (group, key) else no_update for n in names]

        return put(fields), put(switches)


def sections(store: Store, cluster: str) -> list[view.Section]:
    """The forms of one scope with the values that hold now."""
    own = [g.name for g in groups([cluster] if cluster else []) if g.cluster == cluster]
    changed = {name: last for name in own if (last := store.settings_changed(name))}
    found = view.sections(cluster, store.all_settings(), changed, store.audit(TRAIL))
    return found if current_user().may(Role.ADMIN) else [view.without_secrets(s) for s in found]


def _save(store: Store, group: str, given: dict[str, Any], shown: Any) -> tuple[view.Section, int]:
    """Keep what was changed; the section as it stands then, and how many changes there were."""
    cluster = next((g.cluster for g in groups(store.clusters()) if g.name == group), "")
    before = next((s for s in sections(store, cluster) if s.group == group), None)
    if before is None:
        raise NotFound(f"there are no settings {group}")
    try:
        changes = view.changes(before, given, shown or view.values(before))
        if changes:
            service.set_settings(store, request(), group, changes)
    except InvalidInput as error:
        raise view.explain_error(before, error) from None
    after = next(s for s in sections(store, cluster) if s.group == group)
    return after, len(changes)
